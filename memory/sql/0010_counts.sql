-- How many active facts an owner has and how long they are, by agent, kept as sums of small rows: a
-- transaction only ever adds rows of its own, so that none waits for another. The worker folds them.

CREATE FUNCTION remembrancer_terms_came() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO public.memory_factcount (owner_id, agent_id, facts, length)
    SELECT owner_id, agent_id, count(*), sum(length)
    FROM came WHERE term = '@' GROUP BY owner_id, agent_id;
    RETURN NULL;
END
$$;

CREATE FUNCTION remembrancer_terms_went() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO public.memory_factcount (owner_id, agent_id, facts, length)
    SELECT owner_id, agent_id, -count(*), -sum(length)
    FROM went WHERE term = '@' GROUP BY owner_id, agent_id;
    RETURN NULL;
END
$$;

-- Counts everything anew, while nobody writes.
CREATE FUNCTION remembrancer_count_facts() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    LOCK TABLE public.memory_factcount IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM public.memory_factcount;
    INSERT INTO public.memory_factcount (owner_id, agent_id, facts, length)
    SELECT owner_id, agent_id, count(*), sum(length)
    FROM public.memory_factterm WHERE term = '@' GROUP BY owner_id, agent_id;
END
$$;

-- The number of rows that became one with others. One at a time; a second caller does nothing.
CREATE FUNCTION remembrancer_fold_counts(above integer) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    folded integer;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('remembrancer fold counts', 0)) THEN
        RETURN 0;
    END IF;
    WITH many AS (
        SELECT owner_id FROM public.memory_factcount
        GROUP BY owner_id, agent_id HAVING count(*) > above
    ), gone AS (
        DELETE FROM public.memory_factcount WHERE owner_id IN (SELECT owner_id FROM many)
        RETURNING owner_id, agent_id, facts, length
    ), kept AS (
        INSERT INTO public.memory_factcount (owner_id, agent_id, facts, length)
        SELECT owner_id, agent_id, sum(facts), sum(length) FROM gone GROUP BY owner_id, agent_id
        RETURNING 1
    )
    SELECT (SELECT count(*) FROM gone) - (SELECT count(*) FROM kept) INTO folded;
    RETURN folded;
END
$$;
