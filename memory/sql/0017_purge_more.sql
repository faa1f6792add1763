-- What a bulk repair of these facts was said to be for.
CREATE FUNCTION remembrancer_purges_repairs(
    whose uuid, facts uuid[], messages uuid[], talks uuid[], others uuid[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE public.memory_bulkjob SET reason = '[purged]' WHERE reason NOT IN ('', '[purged]')
        AND id IN (SELECT job_id FROM public.memory_bulkitem WHERE fact_id = ANY(facts));
$$;

-- The names of agents and keys in the trail, when their account is closed.
CREATE FUNCTION remembrancer_purges_accounts(
    whose uuid, facts uuid[], messages uuid[], talks uuid[], others uuid[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE public.agents_auditevent
    SET before = public.remembrancer_without_text(before),
        after = public.remembrancer_without_text(after)
    WHERE owner_id = whose AND "table" IN ('agents_agent', 'agents_apikey')
        AND row_id = ANY(others::text[]);
$$;
