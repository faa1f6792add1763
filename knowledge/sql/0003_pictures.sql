-- As in 0001_functions.sql, and what a model said of their pictures goes.
CREATE OR REPLACE FUNCTION remembrancer_purges_knowledge(
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
    DELETE FROM public.knowledge_picturereading WHERE document_id = ANY(documents);
    DELETE FROM public.knowledge_document WHERE id = ANY(documents);
    DELETE FROM public.knowledge_collection WHERE id = ANY(gone);
    PERFORM public.remembrancer_purge_trail('knowledge_document', documents, since);
    PERFORM public.remembrancer_purge_trail('knowledge_collection', gone, since);
    UPDATE public.django_admin_log SET object_repr = '[purged]', change_message = ''
    WHERE object_id = ANY((gone || documents)::text[]);
END
$$;
