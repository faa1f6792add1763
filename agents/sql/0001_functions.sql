-- Each function names the schemas it reads, temporary tables last. Left to itself Postgres looks
-- among a session's temporary tables first, before its own catalog, so that any session could put
-- one in the place of what a rule reads or of the audit trail.

-- True only in the purge function: it runs as the tables' owner, which the application's role can't
-- become, and says so by a setting, which a migration doesn't.
CREATE FUNCTION remembrancer_is_purging(relation oid) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(current_setting('remembrancer.purging', true), '') = 'on'
        AND current_user = pg_get_userbyid(relowner)
    FROM pg_catalog.pg_class WHERE oid = relation
$$;

-- Stemmed lexemes of the text's language beside its plain ones. Immutable, for generated columns;
-- an unknown language counts as 'simple'.
CREATE FUNCTION remembrancer_tsvector(language text, body text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
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
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
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
    INSERT INTO public.agents_auditevent
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

CREATE FUNCTION remembrancer_give_settings() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO public.agents_ownersettings (owner_id, time_zone) VALUES (NEW.id, 'UTC')
    ON CONFLICT (owner_id) DO NOTHING;
    RETURN NULL;
END
$$;
