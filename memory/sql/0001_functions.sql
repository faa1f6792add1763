-- Refuse a successor that leads back to the fact. Supersedes of one owner are taken one at a time,
-- so that two of them can't close a circle that neither sees.
CREATE FUNCTION remembrancer_refuse_cycle(owner uuid, fact uuid, successor uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    step uuid := successor;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('supersede ' || owner::text, 0));
    WHILE step IS NOT NULL LOOP
        IF step = fact THEN
            RAISE EXCEPTION 'A fact cannot be its own successor.' USING ERRCODE = 'check_violation';
        END IF;
        SELECT superseded_by_id INTO step FROM memory_fact WHERE id = step;
    END LOOP;
END
$$;
