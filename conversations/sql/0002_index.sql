-- The index of the raw record: a passage has rows in it while its message is on the branch and
-- nothing of it is purged. All of it is derived, and may be dropped and made again.

-- A day as three terms, on that clock; an unknown zone is UTC.
CREATE FUNCTION remembrancer_date_terms(moment timestamptz, zone text) RETURNS text[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    day timestamp := moment AT TIME ZONE 'UTC';
BEGIN
    BEGIN
        day := moment AT TIME ZONE coalesce(zone, 'UTC');
    EXCEPTION WHEN invalid_parameter_value THEN
        NULL;
    END;
    RETURN string_to_array(to_char(day, '"@y"YYYY "@m"MM "@d"DD'), ' ');
END
$$;

CREATE FUNCTION remembrancer_index_passages(passages uuid[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    WITH chosen AS (
        SELECT p.*, coalesce(m.speaker, '') AS speaker, s.time_zone
        FROM public.conversations_passage p
        LEFT JOIN public.conversations_message m ON m.id = p.message_id
        LEFT JOIN public.agents_ownersettings s ON s.owner_id = p.owner_id
        WHERE p.id = ANY(passages) AND p.text <> '[purged]' AND m.on_branch IS NOT FALSE
    ), found AS (
        SELECT id, term, sum(tf) AS tf
        FROM chosen, LATERAL (
            SELECT term, tf FROM public.remembrancer_terms(language, text)
            UNION ALL
            SELECT term, tf FROM public.remembrancer_terms('simple', speaker)
            UNION ALL
            SELECT term, 1
            FROM unnest(public.remembrancer_date_terms(said_at, time_zone)) AS date (term)
        ) AS said
        GROUP BY id, term
    ), sizes AS (
        SELECT id, sum(tf) AS length, count(*) AS words FROM found GROUP BY id
    ), entered AS (
        INSERT INTO public.conversations_indexedpassage
            (passage_id, owner_id, conversation_id, stretch, place, language, length, words)
        SELECT id, owner_id, conversation_id, stretch, place, language, length, words
        FROM chosen JOIN sizes USING (id)
        ON CONFLICT DO NOTHING
    )
    INSERT INTO public.conversations_passageterm
        (owner_id, term, passage_id, conversation_id, stretch, place, tf, length)
    SELECT owner_id, term, id, conversation_id, stretch, place, tf, length
    FROM chosen JOIN found USING (id) JOIN sizes USING (id)
    ON CONFLICT DO NOTHING
$$;

CREATE FUNCTION remembrancer_unindex_passages(passages uuid[]) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    DELETE FROM public.conversations_passageterm WHERE passage_id = ANY(passages);
    DELETE FROM public.conversations_indexedpassage WHERE passage_id = ANY(passages);
    DELETE FROM public.conversations_passageembedding WHERE passage_id = ANY(passages);
$$;

CREATE FUNCTION remembrancer_passages_came() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.remembrancer_index_passages(ARRAY(SELECT id FROM came));
    RETURN NULL;
END
$$;

CREATE FUNCTION remembrancer_passage_purged() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM public.remembrancer_unindex_passages(ARRAY[NEW.id]);
    PERFORM public.remembrancer_index_passages(ARRAY[NEW.id]);
    RETURN NULL;
END
$$;

-- Off the branch or back on it. A purged text is also in the vector of what was said next.
CREATE FUNCTION remembrancer_message_moved() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    own uuid[] := ARRAY(SELECT id FROM public.conversations_passage WHERE message_id = NEW.id);
BEGIN
    IF NEW.content <> OLD.content THEN
        DELETE FROM public.conversations_passageembedding v
        USING public.conversations_passage p, public.conversations_message m
        WHERE v.passage_id = p.id AND p.message_id = m.id AND NEW.id IN (m.id, m.parent_id);
    ELSIF NEW.on_branch THEN
        PERFORM public.remembrancer_index_passages(own);
    ELSE
        PERFORM public.remembrancer_unindex_passages(own);
    END IF;
    RETURN NULL;
END
$$;
