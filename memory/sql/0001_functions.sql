-- The rules of a fact's life. vocabulary.State draws the picture; what one row shows by itself is a
-- check constraint of the table. Successors and targets are read FOR SHARE: a transaction that would
-- change them waits, and one that works on an older snapshot fails, so that two sessions can't do
-- together what neither may do alone.

-- A review is the owner's, or an administrator's who repairs.
CREATE FUNCTION remembrancer_check_reviewer(owner uuid, reviewer uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF reviewer <> owner
       AND NOT EXISTS (SELECT FROM public.agents_user WHERE id = reviewer AND is_superuser) THEN
        RAISE EXCEPTION 'A fact is reviewed by its owner.' USING ERRCODE = 'check_violation';
    END IF;
END
$$;

-- The state of the fact at the end of a chain of successors. Raises when the chain leads to `born`.
CREATE FUNCTION remembrancer_end_of_chain(step uuid, born uuid DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    found record;
BEGIN
    LOOP
        IF step = born THEN
            RAISE EXCEPTION 'A fact cannot be its own successor.' USING ERRCODE = 'check_violation';
        END IF;
        SELECT state, superseded_by_id INTO found
        FROM public.memory_fact WHERE id = step FOR SHARE;
        IF found.superseded_by_id IS NULL THEN
            RETURN found.state;
        END IF;
        step := found.superseded_by_id;
    END LOOP;
END
$$;

CREATE FUNCTION remembrancer_fact_birth() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.remembrancer_check_reviewer(NEW.owner_id, NEW.reviewer_id);
    IF NEW.origin = 'import' AND NEW.reviewer_id IS NOT NULL THEN
        -- A whole-store import that a person approved may bring any state.
        PERFORM public.remembrancer_end_of_chain(NEW.superseded_by_id, NEW.id);
    ELSIF NEW.state NOT IN ('pending', 'active') THEN
        RAISE EXCEPTION 'A fact is born pending or active, not %.', NEW.state
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION remembrancer_fact_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.owner_id, OLD.agent_id, OLD.kind, OLD.statement, OLD.text_hash, OLD.language,
        OLD.origin, OLD.created_at, OLD.observed_at, OLD.conversation_id, OLD.run_id,
        OLD.prompt_version, OLD.imported_by_id, OLD.client_id, OLD.similar_to_id)
       IS DISTINCT FROM
       (NEW.id, NEW.owner_id, NEW.agent_id, NEW.kind, NEW.statement, NEW.text_hash, NEW.language,
        NEW.origin, NEW.created_at, NEW.observed_at, NEW.conversation_id, NEW.run_id,
        NEW.prompt_version, NEW.imported_by_id, NEW.client_id, NEW.similar_to_id)
       AND NOT public.remembrancer_is_purging(TG_RELID) THEN
        RAISE EXCEPTION 'A fact is never edited, only superseded.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.reviewer_id IS DISTINCT FROM OLD.reviewer_id THEN
        PERFORM public.remembrancer_check_reviewer(NEW.owner_id, NEW.reviewer_id);
    END IF;

    IF NEW.state = OLD.state THEN
        IF (NEW.superseded_by_id, NEW.archived_from, NEW.archived_reason)
           IS DISTINCT FROM (OLD.superseded_by_id, OLD.archived_from, OLD.archived_reason) THEN
            RAISE EXCEPTION 'Reason and successor are set only by the step that archives a fact.'
                USING ERRCODE = 'restrict_violation';
        END IF;
        RETURN NEW;
    END IF;

    IF (OLD.state, NEW.state) NOT IN (
            ('pending', 'active'), ('pending', 'rejected'), ('pending', 'archived'),
            ('active', 'archived'), ('active', 'pending'), ('rejected', 'pending'))
       AND NOT (OLD.state = 'archived' AND NEW.state = OLD.archived_from) THEN
        RAISE EXCEPTION 'A fact cannot go from % to %.', OLD.state, NEW.state
            USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.state = 'archived' AND NEW.archived_from <> OLD.state THEN
        RAISE EXCEPTION 'An archived fact keeps the state it came from.'
            USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.superseded_by_id IS NOT NULL THEN
        -- An active fact has no successor, so no chain closes here.
        PERFORM FROM public.memory_fact
        WHERE id = NEW.superseded_by_id AND id <> NEW.id AND state = 'active' FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'A successor is another fact, and active.'
                USING ERRCODE = 'check_violation';
        END IF;
    END IF;
    IF NEW.state = 'active' AND OLD.superseded_by_id IS NOT NULL
       AND public.remembrancer_end_of_chain(OLD.superseded_by_id) = 'active' THEN
        RAISE EXCEPTION 'An active fact has taken the place of this one.'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;

-- Nobody sets whether a target is open: it is while its correction waits and it is active itself.
CREATE FUNCTION remembrancer_target() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    correction record;
    target record;
BEGIN
    SELECT state, agent_id INTO correction
    FROM public.memory_fact WHERE id = NEW.fact_id FOR SHARE;
    SELECT state, agent_id INTO target
    FROM public.memory_fact WHERE id = NEW.target_id FOR SHARE;
    IF correction.agent_id IS DISTINCT FROM target.agent_id THEN
        RAISE EXCEPTION 'A correction keeps the scope of its target.'
            USING ERRCODE = 'check_violation';
    END IF;
    NEW.open := coalesce(correction.state = 'pending' AND target.state = 'active', false);
    RETURN NEW;
END
$$;

CREATE FUNCTION remembrancer_fact_moved() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE public.memory_correctiontarget SET open = open
    WHERE fact_id = NEW.id OR target_id = NEW.id;
    RETURN NULL;
END
$$;

-- At the end of the transaction: what a correction replaced is not active beside it.
CREATE FUNCTION remembrancer_fact_settled() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM public.memory_correctiontarget pair
    JOIN public.memory_fact correction ON correction.id = pair.fact_id
    JOIN public.memory_fact target ON target.id = pair.target_id
    WHERE NEW.id IN (pair.fact_id, pair.target_id)
        AND correction.state = 'active' AND target.state = 'active'
    FOR SHARE OF correction, target;
    IF FOUND THEN
        RAISE EXCEPTION 'A correction and the fact that it replaces cannot both be active.'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END
$$;
