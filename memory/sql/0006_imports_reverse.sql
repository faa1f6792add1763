CREATE OR REPLACE FUNCTION remembrancer_fact_birth() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.remembrancer_check_reviewer(NEW.owner_id, NEW.reviewer_id);
    IF NEW.origin = 'import' AND NEW.reviewer_id IS NOT NULL THEN
        PERFORM public.remembrancer_end_of_chain(NEW.superseded_by_id, NEW.id);
    ELSIF NEW.state NOT IN ('pending', 'active') THEN
        RAISE EXCEPTION 'A fact is born pending or active, not %.', NEW.state
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
