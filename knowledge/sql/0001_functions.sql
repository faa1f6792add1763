-- The terms of passages that came: of the text, and of the breadcrumb of title and headings.
CREATE FUNCTION remembrancer_document_passages_came() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO public.knowledge_documentterm
        (owner_id, term, passage_id, document_id, generation, tf, length)
    WITH found AS (
        SELECT p.id, t.term, sum(t.tf)::integer AS tf
        FROM came p JOIN public.knowledge_document d ON d.id = p.document_id,
        LATERAL (
            SELECT term, tf FROM public.remembrancer_terms(p.language, p.text)
            UNION ALL
            SELECT term, tf FROM public.remembrancer_terms(
                p.language, d.title || E'\n' || array_to_string(p.headings, E'\n'))
        ) AS t
        GROUP BY p.id, t.term
    ), sizes AS (
        SELECT id, sum(tf) AS length FROM found GROUP BY id
    )
    SELECT p.owner_id, term, p.id, p.document_id, p.generation, tf, length
    FROM came p JOIN found USING (id) JOIN sizes USING (id);
    RETURN NULL;
END
$$;

-- Documents and collections that are purged, by their ids among `others`: originals, text,
-- recognised text, passages, terms and vectors go.
CREATE FUNCTION remembrancer_purges_knowledge(
    whose uuid, facts uuid[], messages uuid[], talks uuid[], others uuid[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    since bigint := (SELECT coalesce(max(id), 0) FROM public.agents_auditevent
                     WHERE owner_id = whose);
    gone uuid[] := ARRAY(
        SELECT id FROM public.knowledge_collection WHERE owner_id = whose AND id = ANY(others));
    -- Locked before anything goes: a job that lets new passages answer locks its document first.
    documents uuid[] := ARRAY(
        SELECT id FROM public.knowledge_document
        WHERE owner_id = whose AND (id = ANY(others) OR collection_id = ANY(gone))
        ORDER BY id FOR UPDATE);
BEGIN
    IF gone = '{}' AND documents = '{}' THEN
        RETURN;
    END IF;
    DELETE FROM public.knowledge_documentterm WHERE owner_id = whose AND passage_id IN (
        SELECT id FROM public.knowledge_documentpassage WHERE document_id = ANY(documents));
    DELETE FROM public.knowledge_documentembedding WHERE owner_id = whose AND passage_id IN (
        SELECT id FROM public.knowledge_documentpassage WHERE document_id = ANY(documents));
    DELETE FROM public.knowledge_documentpassage WHERE document_id = ANY(documents);
    DELETE FROM public.knowledge_documenttext WHERE document_id = ANY(documents);
    DELETE FROM public.knowledge_documentfile WHERE document_id = ANY(documents);
    DELETE FROM public.knowledge_document WHERE id = ANY(documents);
    DELETE FROM public.knowledge_collection WHERE id = ANY(gone);
    PERFORM public.remembrancer_purge_trail('knowledge_document', documents, since);
    PERFORM public.remembrancer_purge_trail('knowledge_collection', gone, since);
    UPDATE public.django_admin_log SET object_repr = '[purged]', change_message = ''
    WHERE object_id = ANY((gone || documents)::text[]);
END
$$;
