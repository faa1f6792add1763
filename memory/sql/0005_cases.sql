-- The rules of a case's life: those of a fact, without successors. What one row shows by itself is a
-- check constraint of the table.

CREATE FUNCTION remembrancer_case_birth() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.remembrancer_check_reviewer(NEW.owner_id, NEW.reviewer_id);
    -- A whole-store import that a person approved may bring any state.
    IF NEW.state <> 'pending' AND (NEW.origin <> 'import' OR NEW.reviewer_id IS NULL) THEN
        RAISE EXCEPTION 'A case is born pending, not %.', NEW.state
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION remembrancer_case_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.owner_id, OLD.agent_id, OLD.conversation_id, OLD.goal, OLD.context,
        OLD.approach, OLD.outcome, OLD.quality, OLD.lessons, OLD.actors, OLD.tags, OLD.text_hash,
        OLD.language, OLD.origin, OLD.prompt_version, OLD.created_at, OLD.happened_at)
       IS DISTINCT FROM
       (NEW.id, NEW.owner_id, NEW.agent_id, NEW.conversation_id, NEW.goal, NEW.context,
        NEW.approach, NEW.outcome, NEW.quality, NEW.lessons, NEW.actors, NEW.tags, NEW.text_hash,
        NEW.language, NEW.origin, NEW.prompt_version, NEW.created_at, NEW.happened_at)
       AND NOT public.remembrancer_is_purging(TG_RELID) THEN
        RAISE EXCEPTION 'A case is never edited.' USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.reviewer_id IS DISTINCT FROM OLD.reviewer_id THEN
        PERFORM public.remembrancer_check_reviewer(NEW.owner_id, NEW.reviewer_id);
    END IF;

    IF NEW.state = OLD.state THEN
        IF (NEW.archived_from, NEW.archived_reason, NEW.revision)
           IS DISTINCT FROM (OLD.archived_from, OLD.archived_reason, OLD.revision) THEN
            RAISE EXCEPTION 'Reason and revision of a case are set only by a change of its state.'
                USING ERRCODE = 'restrict_violation';
        END IF;
        RETURN NEW;
    END IF;

    IF NEW.revision <> OLD.revision + 1 THEN
        RAISE EXCEPTION 'A change of state is over the revision that was seen.'
            USING ERRCODE = 'check_violation';
    END IF;
    IF (OLD.state, NEW.state) NOT IN (
            ('pending', 'active'), ('pending', 'rejected'), ('pending', 'archived'),
            ('active', 'archived'), ('active', 'pending'), ('rejected', 'pending'))
       AND NOT (OLD.state = 'archived' AND NEW.state = OLD.archived_from) THEN
        RAISE EXCEPTION 'A case cannot go from % to %.', OLD.state, NEW.state
            USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.state = 'archived' AND NEW.archived_from <> OLD.state THEN
        RAISE EXCEPTION 'An archived case keeps the state it came from.'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
