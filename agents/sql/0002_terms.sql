-- The configuration of a text's language; an unknown one counts as 'simple'.
CREATE FUNCTION remembrancer_configuration(language text) RETURNS regconfig
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN language IN (
        'arabic', 'armenian', 'basque', 'catalan', 'danish', 'dutch', 'english', 'estonian',
        'finnish', 'french', 'german', 'greek', 'hindi', 'hungarian', 'indonesian', 'irish',
        'italian', 'lithuanian', 'nepali', 'norwegian', 'portuguese', 'romanian', 'russian',
        'serbian', 'spanish', 'swedish', 'tamil', 'turkish', 'yiddish')
    THEN language::regconfig ELSE 'simple'::regconfig END
$$;

-- The words that a text can be found by, and how often it has each: stemmed, and as they stand
-- where that differs. Stop words of the language are left out. Where a script puts no spaces
-- between words (Han, kana, Thai, Lao, Khmer, Burmese), every two neighbouring characters are a
-- word; Korean, which glues particles to words, is read both ways. Rows and questions go through
-- this same function, so that both are cut alike.
CREATE FUNCTION remembrancer_terms(language text, body text) RETURNS TABLE (term text, tf real)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH scripts AS (
        SELECT '\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff'
            '\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f'
            '\U00020000-\U0003ffff' AS unspaced,
            '\u1100-\u11ff\uac00-\ud7a3' AS korean
    ), spaced AS (
        SELECT regexp_replace(body, '[' || unspaced || ']+', ' ', 'g') AS words FROM scripts
    ), stems AS (
        SELECT lexeme, place FROM spaced,
            unnest(to_tsvector(public.remembrancer_configuration(language), words)),
            unnest(positions) AS place
    ), plain AS (
        SELECT lexeme, place
        FROM spaced, unnest(to_tsvector('simple'::regconfig, words)), unnest(positions) AS place
    ), runs AS (
        SELECT run[1] AS run, number
        FROM scripts, regexp_matches(body, '[' || unspaced || ']+|[' || korean || ']{3,}', 'g')
            WITH ORDINALITY AS found (run, number)
    ), found AS (
        SELECT lexeme, place::bigint AS place, 0 AS start FROM stems
        -- A word without a stem is a stop word.
        UNION SELECT lexeme, place, 0 FROM plain WHERE place IN (SELECT place FROM stems)
        UNION SELECT substr(run, start, 2), number, start
        FROM runs, generate_series(1, greatest(length(run) - 1, 1)) AS start
    )
    -- A longer one is no word; cut, it fits an index.
    SELECT left(lexeme, 60), count(*)::real FROM found GROUP BY left(lexeme, 60)
$$;
