-- A whole-store import that a person approved may bring any state; the import itself says who did.
CREATE OR REPLACE FUNCTION remembrancer_fact_birth() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    approver uuid;
BEGIN
    PERFORM public.remembrancer_check_reviewer(NEW.owner_id, NEW.reviewer_id);
    SELECT approved_by_id INTO approver FROM public.conversations_import
    WHERE id = NEW.imported_by_id AND owner_id = NEW.owner_id;
    IF approver IS NOT NULL THEN
        PERFORM public.remembrancer_check_reviewer(NEW.owner_id, approver);
        PERFORM public.remembrancer_end_of_chain(NEW.superseded_by_id, NEW.id);
    ELSIF NEW.state NOT IN ('pending', 'active') THEN
        RAISE EXCEPTION 'A fact is born pending or active, not %.', NEW.state
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
