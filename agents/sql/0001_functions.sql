-- True while the tables' owner is at work: in migrations, and inside the purge function, which is
-- SECURITY DEFINER. The application's role can become neither.
CREATE FUNCTION remembrancer_is_purging(relation oid) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
    SELECT current_user = pg_get_userbyid(relowner) FROM pg_class WHERE oid = relation
$$;

-- Stemmed lexemes of the text's language beside its plain ones. Immutable, for generated columns;
-- an unknown language counts as 'simple'.
CREATE FUNCTION remembrancer_tsvector(language text, body text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
    SELECT to_tsvector('simple'::regconfig, body) || CASE
        WHEN language = 'simple' OR language NOT IN (
            'arabic', 'armenian', 'basque', 'catalan', 'danish', 'dutch', 'english', 'estonian',
            'finnish', 'french', 'german', 'greek', 'hindi', 'hungarian', 'indonesian', 'irish',
            'italian', 'lithuanian', 'nepali', 'norwegian', 'portuguese', 'romanian', 'russian',
            'serbian', 'spanish', 'swedish', 'tamil', 'turkish', 'yiddish')
        THEN ''::tsvector
        ELSE to_tsvector(language::regconfig, body)
    END
$$;

-- The audit trail. It runs as the tables' owner, whatever the role at work.
CREATE FUNCTION remembrancer_audit() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE
    -- Derived columns, counters and digests say nothing about what was decided.
    hidden constant text[] := ARRAY['search', 'last_used_at', 'digest'];
    old_row jsonb := to_jsonb(OLD) - hidden;
    new_row jsonb := to_jsonb(NEW) - hidden;
    whole jsonb := coalesce(new_row, old_row);
BEGIN
    IF TG_OP = 'UPDATE' THEN
        SELECT jsonb_object_agg(key, o.value), jsonb_object_agg(key, n.value)
        INTO old_row, new_row
        FROM jsonb_each(old_row) AS o JOIN jsonb_each(new_row) AS n USING (key)
        WHERE o.value IS DISTINCT FROM n.value;
        IF new_row IS NULL THEN
            RETURN NULL;
        END IF;
    END IF;
    INSERT INTO agents_auditevent
        (at, owner_id, "table", row_id, action, actor, reason, context, before, after)
    VALUES (
        clock_timestamp(),
        (whole ->> 'owner_id')::uuid,
        TG_TABLE_NAME,
        coalesce(whole ->> 'id', whole ->> 'owner_id'),
        lower(TG_OP),
        left(coalesce(nullif(current_setting('remembrancer.actor', true), ''),
                      'db:' || session_user), 120),
        left(coalesce(current_setting('remembrancer.reason', true), ''), 300),
        left(coalesce(current_setting('remembrancer.context', true), ''), 120),
        old_row, new_row);
    RETURN NULL;
END
$$;
