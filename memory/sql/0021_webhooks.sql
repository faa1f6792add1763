-- Tells the owner's webhooks of what happened to a fact, in the transaction in which it did. A hook
-- that is bound to an agent hears only of what that agent may read.

-- As Python makes them: milliseconds, then what is left of the time, then chance. Postgres has its
-- own only from 18 on.
CREATE FUNCTION remembrancer_uuid7() RETURNS uuid
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT (lpad(to_hex(floor(ms)::bigint), 12, '0') || '7'
        || lpad(to_hex(floor((ms - floor(ms)) * 4096)::integer), 3, '0')
        || replace(substr(gen_random_uuid()::text, 20), '-', ''))::uuid
    FROM (SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms) AS now
$$;

CREATE FUNCTION remembrancer_reads(reads text, reader uuid, whose_fact uuid) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT reads = 'all' OR whose_fact = reader
        OR (whose_fact IS NULL AND reads = 'own_and_global')
$$;

CREATE FUNCTION remembrancer_tell_webhooks(
    whose uuid, about uuid, agent uuid, what text, following uuid) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    INSERT INTO public.memory_webhookdelivery
        (id, owner_id, webhook_id, event, fact_id, successor_id, created_at, state, attempts,
         next_attempt_at, failure)
    SELECT public.remembrancer_uuid7(), whose, w.id, what, about,
        CASE WHEN w.agent_id IS NULL
            OR public.remembrancer_reads(a.reads, a.id, n.agent_id) THEN n.id END,
        clock_timestamp(), 'waiting', 0, clock_timestamp(), ''
    FROM public.memory_webhook w
    LEFT JOIN public.agents_agent a ON a.id = w.agent_id
    LEFT JOIN public.memory_fact n ON n.id = following
    WHERE w.owner_id = whose AND w.enabled AND what = ANY(w.events)
        AND (w.agent_id IS NULL
            OR a.retired_at IS NULL AND public.remembrancer_reads(a.reads, a.id, agent))
$$;

CREATE FUNCTION remembrancer_webhook_event(state text, reason text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN state = 'pending' THEN 'candidate.waiting'
        WHEN state = 'active' THEN 'fact.activated'
        WHEN reason IN ('superseded', 'merged') THEN 'fact.superseded'
        WHEN reason = 'purged' THEN 'fact.purged' END
$$;

CREATE FUNCTION remembrancer_fact_told() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    -- First of all, because nearly nobody has one.
    IF EXISTS (SELECT FROM public.memory_webhook WHERE owner_id = NEW.owner_id AND enabled) THEN
        PERFORM public.remembrancer_tell_webhooks(
            NEW.owner_id, NEW.id, NEW.agent_id,
            public.remembrancer_webhook_event(NEW.state, NEW.archived_reason),
            NEW.superseded_by_id);
    END IF;
    RETURN NULL;
END
$$;

-- When an account is closed its hooks are deleted; what the trail tells of them goes too.
CREATE FUNCTION remembrancer_purges_webhooks(
    whose uuid, facts uuid[], messages uuid[], talks uuid[], others uuid[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE public.agents_auditevent
    SET before = public.remembrancer_without_text(before),
        after = public.remembrancer_without_text(after)
    WHERE owner_id = whose AND "table" = 'memory_webhook' AND row_id = ANY(others::text[]);
$$;
