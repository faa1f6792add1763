-- Purge: the only way to erase. remembrancer_purge runs as the tables' owner and says so by a
-- setting (remembrancer_is_purging); the application's role may call it and do nothing else of the
-- kind. What hangs on facts or messages and holds text has a function of its own, named
-- remembrancer_purges_…(whose uuid, facts uuid[], messages uuid[], talks uuid[], others uuid[]):
-- each of them is called, so that a new table needs no change here.

-- A purged fact is a shell: it keeps its place in its chain, and never comes back.
CREATE OR REPLACE FUNCTION remembrancer_fact_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF public.remembrancer_is_purging(TG_RELID) THEN
        RETURN NEW;
    END IF;
    IF OLD.archived_reason = 'purged' AND NEW IS DISTINCT FROM OLD THEN
        RAISE EXCEPTION 'Nothing is left of a purged fact.' USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.archived_reason = 'purged' AND OLD.archived_reason <> 'purged' THEN
        RAISE EXCEPTION 'Only the purge function purges.' USING ERRCODE = 'restrict_violation';
    END IF;
    IF (OLD.id, OLD.owner_id, OLD.agent_id, OLD.kind, OLD.statement, OLD.text_hash, OLD.language,
        OLD.origin, OLD.created_at, OLD.observed_at, OLD.conversation_id, OLD.run_id,
        OLD.prompt_version, OLD.imported_by_id, OLD.client_id, OLD.similar_to_id)
       IS DISTINCT FROM
       (NEW.id, NEW.owner_id, NEW.agent_id, NEW.kind, NEW.statement, NEW.text_hash, NEW.language,
        NEW.origin, NEW.created_at, NEW.observed_at, NEW.conversation_id, NEW.run_id,
        NEW.prompt_version, NEW.imported_by_id, NEW.client_id, NEW.similar_to_id) THEN
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

-- The facts that a purge of `asked` takes: those, equal texts, and what they had replaced; and,
-- marked as derived, what was made from any of it: merges, insights, and a person's edits of these.
CREATE FUNCTION remembrancer_purge_reach(whose uuid, asked uuid[])
RETURNS TABLE (fact_id uuid, derived boolean)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    direct uuid[] := ARRAY(
        SELECT id FROM public.memory_fact
        WHERE owner_id = whose AND id = ANY(asked) AND archived_reason <> 'purged');
    made uuid[] := '{}';
    more uuid[];
BEGIN
    LOOP
        more := ARRAY(
            (SELECT id FROM public.memory_fact
             WHERE superseded_by_id = ANY(direct) AND archived_reason <> 'purged'
             UNION
             SELECT twin.id FROM public.memory_fact one
             JOIN public.memory_fact twin
                 ON twin.owner_id = whose AND twin.text_hash = one.text_hash
             WHERE one.id = ANY(direct))
            EXCEPT SELECT unnest(direct));
        EXIT WHEN more = '{}';
        direct := direct || more;
    END LOOP;
    LOOP
        more := ARRAY(
            (SELECT d.fact_id FROM public.memory_derivation d
             JOIN public.memory_fact f ON f.id = d.fact_id
             WHERE d.source_id = ANY(direct || made) AND f.archived_reason <> 'purged'
             UNION
             SELECT f.id FROM public.memory_correctiontarget t
             JOIN public.memory_fact f ON f.id = t.fact_id
             WHERE t.target_id = ANY(direct || made) AND f.origin IN ('merge', 'reflection')
                 AND f.archived_reason <> 'purged'
             UNION
             SELECT f.id FROM public.memory_fact old
             JOIN public.memory_fact f ON f.id = old.superseded_by_id
             WHERE old.id = ANY(direct || made) AND f.archived_reason <> 'purged'
                 AND (f.origin = 'merge' OR f.origin = 'manual' AND old.id = ANY(made))
             UNION
             SELECT twin.id FROM public.memory_fact one
             JOIN public.memory_fact twin
                 ON twin.owner_id = whose AND twin.text_hash = one.text_hash
             WHERE one.id = ANY(made))
            EXCEPT SELECT unnest(direct || made));
        EXIT WHEN more = '{}';
        made := made || more;
    END LOOP;
    RETURN QUERY SELECT unnest(direct), false UNION ALL SELECT unnest(made), true;
END
$$;

-- The messages that go with these facts: what they quote, other versions of that, the same words
-- said again, and the summaries written since; and the same around the chosen ones.
CREATE FUNCTION remembrancer_purge_messages(whose uuid, facts uuid[], chosen uuid[])
RETURNS SETOF uuid
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    WITH RECURSIVE versions AS (
        SELECT id, replaces_id FROM public.conversations_message
        WHERE owner_id = whose AND id IN (
            SELECT unnest(chosen)
            UNION SELECT message_id FROM public.memory_evidence
                WHERE owner_id = whose AND fact_id = ANY(facts))
        UNION
        SELECT other.id, other.replaces_id FROM versions v, LATERAL (
            SELECT id, replaces_id FROM public.conversations_message WHERE id = v.replaces_id
            UNION ALL
            SELECT id, replaces_id FROM public.conversations_message WHERE replaces_id = v.id
        ) AS other
    ), said AS (
        SELECT m.* FROM public.conversations_message m JOIN versions v ON v.id = m.id
    ), found AS (
        SELECT id FROM said
        UNION
        SELECT other.id FROM said JOIN public.conversations_message other
            ON other.conversation_id = said.conversation_id AND other.content = said.content
        WHERE length(said.content) >= 20
        UNION
        SELECT other.id FROM (
            SELECT conversation_id, min(seq) AS seq FROM said GROUP BY conversation_id
        ) AS first JOIN public.conversations_message other
            ON other.conversation_id = first.conversation_id AND other.seq > first.seq
        WHERE other.kind = 'summary'
    )
    SELECT m.id FROM public.conversations_message m JOIN found ON found.id = m.id
    WHERE m.owner_id = whose AND m.content <> '[purged]'
$$;

-- What a line of the trail may still say: ids, states and times.
CREATE FUNCTION remembrancer_without_text(line jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_object_agg(key, value) FROM jsonb_each(line)
    WHERE key = ANY(ARRAY[
        'id', 'owner_id', 'agent_id', 'conversation_id', 'run_id', 'client_id', 'imported_by_id',
        'state', 'kind', 'origin', 'pinned', 'archived_reason', 'archived_from',
        'superseded_by_id', 'reviewer_id', 'reviewed_at', 'created_at', 'last_confirmed_at',
        'decayed_at', 'snoozed_until', 'confidence', 'revision'])
$$;

CREATE FUNCTION remembrancer_purge_trail(named text, ids uuid[], since bigint) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE public.agents_auditevent
    SET before = public.remembrancer_without_text(before),
        after = public.remembrancer_without_text(after),
        reason = CASE WHEN id <= since THEN '' ELSE reason END
    WHERE "table" = named AND row_id = ANY(ids::text[])
$$;

-- What consolidation, reflection and cases made of it.

CREATE FUNCTION remembrancer_purges_conclusions(
    whose uuid, facts uuid[], messages uuid[], talks uuid[], others uuid[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    DELETE FROM public.memory_derivation WHERE fact_id = ANY(facts) OR source_id = ANY(facts);
$$;

CREATE FUNCTION remembrancer_purges_profiles(
    whose uuid, facts uuid[], messages uuid[], talks uuid[], others uuid[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    sentences uuid[] := ARRAY(
        SELECT sentence_id FROM public.memory_profilecitation WHERE fact_id = ANY(facts)
        UNION SELECT id FROM public.memory_profilesentence
            WHERE owner_id = whose AND id = ANY(others));
BEGIN
    -- A digest of all that it was written from.
    UPDATE public.memory_profile SET digest = '' WHERE id IN (
        SELECT profile_id FROM public.memory_profilesentence WHERE id = ANY(sentences));
    DELETE FROM public.memory_profilecitation WHERE sentence_id = ANY(sentences);
    DELETE FROM public.memory_profilesentence WHERE id = ANY(sentences);
END
$$;

CREATE FUNCTION remembrancer_purges_cases(
    whose uuid, facts uuid[], messages uuid[], talks uuid[], others uuid[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    since bigint := (SELECT coalesce(max(id), 0) FROM public.agents_auditevent
                     WHERE owner_id = whose);
    cases uuid[] := ARRAY(
        SELECT case_id FROM public.memory_casesource WHERE message_id = ANY(messages)
        UNION SELECT id FROM public.memory_case
            WHERE owner_id = whose AND (conversation_id = ANY(talks) OR id = ANY(others)));
BEGIN
    DELETE FROM public.memory_caseembedding WHERE case_id = ANY(cases);
    DELETE FROM public.memory_casesource WHERE case_id = ANY(cases);
    DELETE FROM public.memory_case WHERE id = ANY(cases);
    PERFORM public.remembrancer_purge_trail('memory_case', cases, since);
END
$$;

-- Names that nothing else names. Of what is still named, the names that only these facts said.
CREATE FUNCTION remembrancer_purge_names(whose uuid, facts uuid[], others uuid[]) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    touched uuid[] := ARRAY(
        SELECT DISTINCT entity_id FROM public.memory_factentity WHERE fact_id = ANY(facts));
    unnamed uuid[];
    said bigint[];
BEGIN
    DELETE FROM public.memory_factentity WHERE fact_id = ANY(facts);
    unnamed := ARRAY(
        SELECT id FROM public.memory_entity e
        WHERE owner_id = whose AND (id = ANY(others) OR id = ANY(touched)
            AND NOT EXISTS (SELECT FROM public.memory_factentity WHERE entity_id = e.id)));
    DELETE FROM public.memory_factentity WHERE entity_id = ANY(unnamed);
    DELETE FROM public.memory_entityalias WHERE entity_id = ANY(unnamed);
    DELETE FROM public.memory_entity WHERE id = ANY(unnamed);

    said := ARRAY(
        SELECT a.id FROM public.memory_entityalias a
        WHERE a.entity_id = ANY(touched) AND EXISTS (
            SELECT FROM public.memory_factentity l
            JOIN public.memory_fact f ON f.id = l.fact_id
            LEFT JOIN public.memory_evidence q ON q.fact_id = f.id
            WHERE l.entity_id = a.entity_id AND position(
                lower(a.name) IN lower(f.statement || ' ' || coalesce(q.quote, ''))) > 0));
    UPDATE public.memory_entity e SET name = a.name, normal_name = a.normal_name
    FROM (
        SELECT DISTINCT ON (entity_id) * FROM public.memory_entityalias
        WHERE id = ANY(said) ORDER BY entity_id, length(name) DESC, id
    ) AS a
    WHERE e.id = a.entity_id
        AND NOT EXISTS (
            SELECT FROM public.memory_entityalias own
            WHERE own.entity_id = e.id AND own.normal_name = e.normal_name AND own.id = ANY(said))
        AND NOT EXISTS (
            SELECT FROM public.memory_entity rival WHERE rival.owner_id = whose
                AND rival.type = e.type AND rival.normal_name = a.normal_name);
    DELETE FROM public.memory_entityalias a USING public.memory_entity e
    WHERE a.entity_id = e.id AND e.id = ANY(touched) AND a.id <> ALL(said)
        AND a.normal_name <> e.normal_name;
    RETURN cardinality(unnamed);
END
$$;

-- Titles that hold a word of what is purged, stop words aside.
CREATE FUNCTION remembrancer_purge_titles(facts uuid[], messages uuid[]) RETURNS SETOF uuid
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    WITH titled AS (
        SELECT id, title FROM public.conversations_conversation
        WHERE title NOT IN ('', '[purged]') AND id IN (
            SELECT conversation_id FROM public.conversations_message WHERE id = ANY(messages))
    ), told AS (
        SELECT t.term FROM public.memory_fact f,
            public.remembrancer_terms(f.language, f.statement) AS t
        WHERE f.id = ANY(facts)
        UNION
        SELECT t.term FROM public.conversations_passage p,
            public.remembrancer_terms(p.language, p.text) AS t
        WHERE p.message_id = ANY(messages)
    )
    SELECT id FROM titled WHERE EXISTS (
        SELECT t.term FROM public.remembrancer_terms('simple', title) AS t
        JOIN told ON told.term = t.term WHERE t.term <> 'user')
$$;

-- Facts become shells: their ids, states and times stay.
CREATE FUNCTION remembrancer_purge_facts(whose uuid, facts uuid[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    since bigint := (SELECT coalesce(max(id), 0) FROM public.agents_auditevent
                     WHERE owner_id = whose);
BEGIN
    DELETE FROM public.memory_correctiontarget
    WHERE fact_id = ANY(facts) OR target_id = ANY(facts);
    UPDATE public.memory_fact SET
        statement = '[purged]',
        text_hash = encode(sha256(convert_to('purged ' || id, 'UTF8')), 'hex'),
        language = 'simple', tags = '{}', pinned = false, valid_from = NULL, valid_until = NULL,
        valid_precision = 'day', withheld_for = '{}', withheld_detail = '', snoozed_until = NULL,
        decayed_at = NULL, similar_to_id = NULL,
        state = 'archived', archived_reason = 'purged', archived_from = ''
    WHERE id = ANY(facts);
    UPDATE public.memory_fact SET similar_to_id = NULL WHERE similar_to_id = ANY(facts);
    DELETE FROM public.memory_evidence WHERE fact_id = ANY(facts);
    DELETE FROM public.memory_factembedding WHERE fact_id = ANY(facts);
    DELETE FROM public.memory_factusage WHERE fact_id = ANY(facts);
    DELETE FROM public.memory_recalledfact WHERE fact_id = ANY(facts);
    DELETE FROM public.memory_recalledahead WHERE fact_id = ANY(facts);
    DELETE FROM public.memory_forgotten WHERE fact_id = ANY(facts);
    DELETE FROM public.memory_forgetrequest WHERE fact_id = ANY(facts);
    PERFORM public.remembrancer_purge_trail('memory_fact', facts, since);
END
$$;

-- Messages stay as shells, so that a client that sends them again brings nothing back.
CREATE FUNCTION remembrancer_purge_record(whose uuid, messages uuid[], talks uuid[], titled uuid[])
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    touched uuid[] := ARRAY(
        SELECT DISTINCT conversation_id FROM public.conversations_message
        WHERE id = ANY(messages));
BEGIN
    UPDATE public.memory_evidence SET quote = '[purged]'
    WHERE message_id = ANY(messages) AND quote <> '[purged]';
    UPDATE public.conversations_message SET content = '[purged]', speaker = ''
    WHERE id = ANY(messages);
    UPDATE public.conversations_passage SET
        text = '[purged]', language = 'simple',
        text_hash = encode(sha256(convert_to('purged ' || id, 'UTF8')), 'hex')
    WHERE (message_id = ANY(messages) OR message_id IS NULL AND conversation_id = ANY(talks))
        AND text <> '[purged]';
    UPDATE public.conversations_conversation SET title = '[purged]'
    WHERE id = ANY(titled) AND title NOT IN ('', '[purged]');
    UPDATE public.conversations_conversation SET last_error = ''
    WHERE id = ANY(touched || talks) AND last_error <> '';
    UPDATE public.django_admin_log SET object_repr = '[purged]', change_message = ''
    WHERE object_id = ANY((touched || talks || messages)::text[]);
    INSERT INTO public.agents_auditevent
        (at, owner_id, "table", row_id, action, actor, reason, context, after)
    SELECT clock_timestamp(), whose, 'conversations_conversation', conversation_id, 'update',
        left(current_setting('remembrancer.actor', true), 120),
        left(coalesce(current_setting('remembrancer.reason', true), ''), 300),
        left(coalesce(current_setting('remembrancer.context', true), ''), 120),
        jsonb_build_object('purged_messages', count(*))
    FROM public.conversations_message WHERE id = ANY(messages) GROUP BY conversation_id;
END
$$;

-- What extraction left of these messages and facts: each run that read one, with the four messages
-- that it was shown before its window and those that nobody reads in between.
CREATE FUNCTION remembrancer_purge_runs(
    whose uuid, facts uuid[], texts text[], messages uuid[], others uuid[]) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    runs uuid[] := ARRAY(
        SELECT DISTINCT r.id FROM public.conversations_message m
        JOIN public.memory_extractionrun r ON r.conversation_id = m.conversation_id
            AND m.seq BETWEEN r.first_seq - 20 AND r.last_seq
        WHERE m.id = ANY(messages));
    erased integer;
BEGIN
    UPDATE public.memory_extractionrun SET error = '[purged]'
    WHERE id = ANY(runs) AND error <> '';
    UPDATE public.memory_droppedcandidate SET statement = '[purged]', quote = '', detail = ''
    WHERE owner_id = whose
        AND (run_id = ANY(runs) OR message_id = ANY(messages) OR fact_id = ANY(facts)
             OR id = ANY(others) OR lower(statement) = ANY(texts))
        AND (statement, quote, detail) IS DISTINCT FROM ('[purged]', '', '');
    GET DIAGNOSTICS erased = ROW_COUNT;
    RETURN erased;
END
$$;

-- `asked` facts with all that remembrancer_purge_reach finds, `chosen` messages with what they draw
-- along; `talks`: conversations that go whole, with their titles; `others`: further rows by their
-- ids (dropped candidates, entities, cases, sentences). `digests` are the keyed hashes of the
-- statements. Answers with what it erased. All or nothing, serialised with the owner's transitions.
CREATE FUNCTION remembrancer_purge(
    whose uuid, asked uuid[], chosen uuid[], talks uuid[], others uuid[], digests text[], who text)
RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said_who text := coalesce(current_setting('remembrancer.actor', true), '');
    facts uuid[];
    quoted uuid[];
    texts text[];
    messages uuid[];
    titled uuid[];
    erased jsonb;
    hook regproc;
BEGIN
    IF coalesce(who, '') = '' OR whose IS NULL THEN
        RAISE EXCEPTION 'A purge names its owner and who asked for it.'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF EXISTS (SELECT unnest(asked)
               EXCEPT SELECT id FROM public.memory_fact WHERE owner_id = whose)
       OR EXISTS (SELECT unnest(chosen)
               EXCEPT SELECT id FROM public.conversations_message
               WHERE owner_id = whose AND id = ANY(chosen))
       OR EXISTS (SELECT unnest(talks)
               EXCEPT SELECT id FROM public.conversations_conversation
               WHERE owner_id = whose AND id = ANY(talks)) THEN
        RAISE EXCEPTION 'Only what belongs to this owner can be purged.'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('lifecycle ' || whose, 0));
    PERFORM set_config('remembrancer.purging', 'on', true),
        set_config('remembrancer.actor', who, true);

    SELECT coalesce(array_agg(r.fact_id), '{}'),
        coalesce(array_agg(r.fact_id) FILTER (WHERE NOT r.derived), '{}')
    INTO facts, quoted FROM public.remembrancer_purge_reach(whose, asked) AS r;
    texts := ARRAY(SELECT DISTINCT lower(statement) FROM public.memory_fact WHERE id = ANY(facts));
    messages := ARRAY(SELECT public.remembrancer_purge_messages(whose, quoted, chosen));
    titled := talks || ARRAY(SELECT public.remembrancer_purge_titles(facts, messages));

    INSERT INTO public.memory_tombstone (owner_id, digest, created_at)
    SELECT DISTINCT whose, digest, statement_timestamp() FROM unnest(digests) AS digest
    ON CONFLICT DO NOTHING;
    erased := jsonb_build_object(
        'facts', cardinality(facts), 'messages', cardinality(messages),
        'titles', (SELECT count(*) FROM public.conversations_conversation
                   WHERE id = ANY(titled) AND title NOT IN ('', '[purged]')),
        'candidates', public.remembrancer_purge_runs(whose, facts, texts, messages, others));
    FOR hook IN
        SELECT oid::regproc FROM pg_catalog.pg_proc
        WHERE pronamespace = 'public'::regnamespace AND proname LIKE 'remembrancer\_purges\_%'
        ORDER BY proname
    LOOP
        EXECUTE format('SELECT %s($1, $2, $3, $4, $5)', hook)
        USING whose, facts, messages, talks, others;
    END LOOP;
    PERFORM public.remembrancer_purge_facts(whose, facts);
    erased := erased || jsonb_build_object(
        'entities', public.remembrancer_purge_names(whose, facts, others));
    PERFORM public.remembrancer_purge_record(whose, messages, talks, titled);

    PERFORM set_config('remembrancer.purging', '', true),
        set_config('remembrancer.actor', said_who, true);
    RETURN erased;
END
$$;
REVOKE ALL ON FUNCTION remembrancer_purge FROM PUBLIC;
