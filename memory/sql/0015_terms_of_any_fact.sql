-- The terms of any facts, whatever their state, with the evidence that they had at a moment. Quotes
-- tell what a short statement leaves out, at half the weight; 1,000 characters of each. The index of
-- active facts is made of it, and recall as of an earlier day reads it.
CREATE FUNCTION remembrancer_terms_of_facts(facts uuid[], moment timestamptz)
RETURNS TABLE (owner_id uuid, term text, fact_id uuid, agent_id uuid, tf double precision,
               stated boolean, length integer, words integer)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    WITH chosen AS (
        SELECT f.id, f.owner_id, f.agent_id, f.language, f.statement, f.observed_at, f.valid_from,
            s.time_zone, q.quotes
        FROM public.memory_fact f
        LEFT JOIN public.agents_ownersettings s ON s.owner_id = f.owner_id
        CROSS JOIN LATERAL (
            SELECT coalesce(string_agg(left(e.quote, 1000), E'\n'), '') AS quotes
            FROM public.memory_evidence e WHERE e.fact_id = f.id AND e.created_at <= moment
        ) q
        WHERE f.id = ANY(facts)
    ), said AS (
        SELECT id, t.term, t.tf, true AS stated
        FROM chosen, public.remembrancer_terms(language, statement) AS t
        UNION ALL
        SELECT id, t.term, t.tf / 2, false
        FROM chosen, public.remembrancer_terms(language, quotes) AS t
        UNION ALL
        SELECT id, date_term, 1, false
        FROM chosen, unnest(ARRAY[observed_at, valid_from]) AS day,
            unnest(public.remembrancer_date_terms(day, time_zone)) AS date_term
        WHERE day IS NOT NULL
    ), terms AS (
        SELECT id, said.term, CASE WHEN said.term LIKE '@%' THEN 1 ELSE sum(said.tf) END AS tf,
            bool_or(said.stated) AS stated
        FROM said WHERE said.term <> '@' GROUP BY id, said.term
    ), sizes AS (
        SELECT chosen.id, round(coalesce(sum(terms.tf), 0))::integer AS length,
            (count(*) FILTER (WHERE terms.stated))::integer AS words
        FROM chosen LEFT JOIN terms ON terms.id = chosen.id GROUP BY chosen.id
    )
    SELECT chosen.owner_id, terms.term, chosen.id, chosen.agent_id, terms.tf, terms.stated,
        sizes.length, sizes.words
    FROM chosen JOIN terms USING (id) JOIN sizes USING (id)
    UNION ALL
    SELECT chosen.owner_id, '@', chosen.id, chosen.agent_id,
        least(2, public.remembrancer_times(statement || E'\n' || quotes)), false,
        sizes.length, sizes.words
    FROM chosen JOIN sizes USING (id)
$$;

CREATE OR REPLACE FUNCTION remembrancer_index_facts(facts uuid[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    DELETE FROM public.memory_factterm WHERE fact_id = ANY(facts);
    INSERT INTO public.memory_factterm
        (owner_id, term, fact_id, agent_id, tf, stated, length, words)
    SELECT owner_id, term, fact_id, agent_id, tf, stated, length, words
    FROM public.remembrancer_terms_of_facts(
        ARRAY(SELECT id FROM public.memory_fact WHERE id = ANY(facts) AND state = 'active'),
        'infinity')
    ON CONFLICT DO NOTHING
$$;
