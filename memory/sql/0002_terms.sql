-- The terms of facts. Only active facts have any, since recall reads no others.

-- How often a text speaks of a time. English words, and digits in any language.
CREATE FUNCTION remembrancer_times(body text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT regexp_count(body, '\m(yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekends?|'
        'months?|years?|january|february|march|april|may|june|july|august|september|october|'
        'november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|since|'
        'recently)\M|\d', 1, 'i')
$$;

-- Makes the rows of these facts anew. Quotes tell what a short statement leaves out, at half the
-- weight; 1,000 characters of each.
CREATE FUNCTION remembrancer_index_facts(facts uuid[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    DELETE FROM public.memory_factterm WHERE fact_id = ANY(facts);
    WITH chosen AS (
        SELECT f.id, f.owner_id, f.agent_id, f.language, f.statement, f.observed_at, f.valid_from,
            s.time_zone, q.quotes
        FROM public.memory_fact f
        LEFT JOIN public.agents_ownersettings s ON s.owner_id = f.owner_id
        CROSS JOIN LATERAL (
            SELECT coalesce(string_agg(left(e.quote, 1000), E'\n'), '') AS quotes
            FROM public.memory_evidence e WHERE e.fact_id = f.id
        ) q
        WHERE f.id = ANY(facts) AND f.state = 'active'
    ), said AS (
        SELECT id, term, tf, true AS stated
        FROM chosen, public.remembrancer_terms(language, statement)
        UNION ALL
        SELECT id, term, tf / 2, false FROM chosen, public.remembrancer_terms(language, quotes)
        UNION ALL
        SELECT id, term, 1, false
        FROM chosen, unnest(ARRAY[observed_at, valid_from]) AS moment,
            unnest(public.remembrancer_date_terms(moment, time_zone)) AS term
        WHERE moment IS NOT NULL
    ), terms AS (
        SELECT id, term, CASE WHEN term LIKE '@%' THEN 1 ELSE sum(tf) END AS tf,
            bool_or(stated) AS stated
        FROM said WHERE term <> '@' GROUP BY id, term
    ), sizes AS (
        SELECT chosen.id, round(coalesce(sum(tf), 0)) AS length,
            count(*) FILTER (WHERE stated) AS words
        FROM chosen LEFT JOIN terms ON terms.id = chosen.id GROUP BY chosen.id
    )
    INSERT INTO public.memory_factterm
        (owner_id, term, fact_id, agent_id, tf, stated, length, words)
    SELECT owner_id, term, id, agent_id, tf, stated, length, words
    FROM chosen JOIN terms USING (id) JOIN sizes USING (id)
    UNION ALL
    SELECT owner_id, '@', id, agent_id,
        least(2, public.remembrancer_times(statement || E'\n' || quotes)), false, length, words
    FROM chosen JOIN sizes USING (id)
    ON CONFLICT DO NOTHING
$$;

CREATE FUNCTION remembrancer_facts_born() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.remembrancer_index_facts(ARRAY(SELECT id FROM born WHERE state = 'active'));
    RETURN NULL;
END
$$;

CREATE FUNCTION remembrancer_fact_reindexed() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.remembrancer_index_facts(ARRAY[NEW.id]);
    RETURN NULL;
END
$$;

CREATE FUNCTION remembrancer_evidence_came() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.remembrancer_index_facts(ARRAY(
        SELECT DISTINCT f.id FROM came JOIN public.memory_fact f ON f.id = came.fact_id
        WHERE f.state = 'active'));
    RETURN NULL;
END
$$;

-- Only a purge does this.
CREATE FUNCTION remembrancer_evidence_purged() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.remembrancer_index_facts(ARRAY[OLD.fact_id]);
    RETURN NULL;
END
$$;
