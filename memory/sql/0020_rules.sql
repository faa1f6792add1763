-- The rules that an owner wrote. Nobody but a person writes one: the actor of the transaction must be
-- a person or a command of the server, never a key, a task or a model's policy. What one row shows by
-- itself is a check constraint of the table.

CREATE FUNCTION remembrancer_check_rule_writer(owner uuid, author uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    who text := coalesce(current_setting('remembrancer.actor', true), '');
BEGIN
    IF who <> 'person:' || author AND who NOT LIKE 'command:%' THEN
        RAISE EXCEPTION 'Only a person writes or changes a rule.'
            USING ERRCODE = 'check_violation';
    END IF;
    PERFORM public.remembrancer_check_reviewer(owner, author);
END
$$;

CREATE FUNCTION remembrancer_rule_birth() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.remembrancer_check_rule_writer(NEW.owner_id, NEW.author_id);
    -- A whole-store import brings what was replaced elsewhere, each after its successor.
    IF (NEW.superseded_by_id IS NOT NULL OR NEW.retired_at IS NOT NULL)
       AND NEW.imported_by_id IS NULL THEN
        RAISE EXCEPTION 'A rule is born standing.' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION remembrancer_rule_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    who text := coalesce(current_setting('remembrancer.actor', true), '');
BEGIN
    IF public.remembrancer_is_purging(TG_RELID) THEN
        RETURN NEW;
    END IF;
    IF (OLD.id, OLD.owner_id, OLD.agent_id, OLD.text, OLD.text_hash, OLD.origin, OLD.author_id,
        OLD.candidate_id, OLD.imported_by_id, OLD.created_at)
       IS DISTINCT FROM
       (NEW.id, NEW.owner_id, NEW.agent_id, NEW.text, NEW.text_hash, NEW.origin, NEW.author_id,
        NEW.candidate_id, NEW.imported_by_id, NEW.created_at) THEN
        RAISE EXCEPTION 'A rule is never edited, only superseded.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    IF who LIKE 'person:%' THEN
        PERFORM public.remembrancer_check_rule_writer(NEW.owner_id, substr(who, 8)::uuid);
    ELSE
        PERFORM public.remembrancer_check_rule_writer(NEW.owner_id, NEW.owner_id);
    END IF;
    IF OLD.superseded_by_id IS NOT NULL THEN
        RAISE EXCEPTION 'A rule that was replaced stays as it was.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.retired_at IS NOT NULL
       AND (NEW.retired_at IS NOT NULL OR NEW.superseded_by_id IS NOT NULL) THEN
        RAISE EXCEPTION 'A rule that was taken out is first put back.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.superseded_by_id IS NOT NULL THEN
        -- A rule that stands has no successor, so no chain closes here.
        PERFORM FROM public.memory_rule
        WHERE id = NEW.superseded_by_id AND id <> NEW.id
            AND superseded_by_id IS NULL AND retired_at IS NULL FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'The successor of a rule is another one that stands.'
                USING ERRCODE = 'check_violation';
        END IF;
    END IF;
    RETURN NEW;
END
$$;

-- Rules that were made of these facts or say the same, those that were chosen, and all wordings
-- before and after them.
CREATE FUNCTION remembrancer_purges_rules(
    whose uuid, facts uuid[], messages uuid[], talks uuid[], others uuid[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    since bigint := (SELECT coalesce(max(id), 0) FROM public.agents_auditevent
                     WHERE owner_id = whose);
    gone uuid[] := ARRAY(
        WITH RECURSIVE chain AS (
            SELECT id, superseded_by_id FROM public.memory_rule
            WHERE owner_id = whose AND (
                candidate_id = ANY(facts) OR id = ANY(others)
                OR lower(text) IN (SELECT lower(statement) FROM public.memory_fact
                                   WHERE id = ANY(facts)))
            UNION
            SELECT other.id, other.superseded_by_id
            FROM chain JOIN public.memory_rule other
                ON other.id = chain.superseded_by_id OR other.superseded_by_id = chain.id
            WHERE other.owner_id = whose
        )
        SELECT id FROM chain);
BEGIN
    -- One statement: the keys between wordings are looked at when it ends.
    DELETE FROM public.memory_rule WHERE id = ANY(gone);
    PERFORM public.remembrancer_purge_trail('memory_rule', gone, since);
END
$$;
