-- The words of a text, once each, for an index over an array of them.
CREATE FUNCTION remembrancer_terms_in(language text, body text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT ARRAY(SELECT term FROM public.remembrancer_terms(language, body) ORDER BY term)
$$;

-- What goes with a purge: the notes of the conversations that it touches, since they were made of
-- what was said there, and notes anywhere that repeat a purged statement or quotation.
CREATE FUNCTION remembrancer_purges_sketches(
    whose uuid, facts uuid[], messages uuid[], talks uuid[], others uuid[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    purged uuid[];
BEGIN
    purged := ARRAY(
        SELECT s.id FROM public.conversations_sketch s
        WHERE s.owner_id = whose AND (
            s.id = ANY(others) OR s.conversation_id = ANY(talks)
            OR s.conversation_id IN (
                SELECT conversation_id FROM public.conversations_message
                WHERE id = ANY(messages))
            OR EXISTS (
                SELECT FROM (
                    SELECT statement AS said FROM public.memory_fact WHERE id = ANY(facts)
                    UNION
                    SELECT quote FROM public.memory_evidence WHERE fact_id = ANY(facts)
                ) AS texts
                WHERE length(said) >= 10 AND position(lower(said) IN lower(s.text)) > 0)));
    DELETE FROM public.conversations_sketch WHERE id = ANY(purged);
    UPDATE public.django_admin_log SET object_repr = '[purged]', change_message = ''
    WHERE object_id = ANY(purged::text[]);
END
$$;
