"""The rules of a fact's life, as the database enforces them. vocabulary.State draws the picture."""

FACT_BIRTH = """
    IF NEW.origin = 'import' AND NEW.reviewer_id IS NOT NULL THEN
        -- A whole-store import that a person approved may bring any state.
        IF NEW.superseded_by_id IS NOT NULL THEN
            PERFORM remembrancer_refuse_cycle(NEW.owner_id, NEW.id, NEW.superseded_by_id);
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.state NOT IN ('pending', 'active') THEN
        RAISE EXCEPTION 'A fact is born pending or active, not %.', NEW.state
            USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.state = 'active' AND NEW.reviewer_id IS NULL
        AND NEW.origin NOT IN ('extraction', 'remember') THEN
        RAISE EXCEPTION 'A fact of origin % is born active only by a person.', NEW.origin
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
"""

FACT_CHANGE = """
    IF (OLD.id, OLD.owner_id, OLD.agent_id, OLD.kind, OLD.statement, OLD.text_hash, OLD.language,
        OLD.origin, OLD.created_at, OLD.observed_at, OLD.conversation_id, OLD.run_id,
        OLD.prompt_version, OLD.imported_by_id, OLD.client_id)
       IS DISTINCT FROM
       (NEW.id, NEW.owner_id, NEW.agent_id, NEW.kind, NEW.statement, NEW.text_hash, NEW.language,
        NEW.origin, NEW.created_at, NEW.observed_at, NEW.conversation_id, NEW.run_id,
        NEW.prompt_version, NEW.imported_by_id, NEW.client_id)
       AND NOT remembrancer_is_purging(TG_RELID) THEN
        RAISE EXCEPTION 'A fact is never edited, only superseded.'
            USING ERRCODE = 'restrict_violation';
    END IF;

    IF NEW.state = OLD.state THEN
        IF NEW.superseded_by_id IS DISTINCT FROM OLD.superseded_by_id
           OR NEW.archived_from <> OLD.archived_from THEN
            RAISE EXCEPTION 'A successor is set only by the step that archives a fact.'
                USING ERRCODE = 'restrict_violation';
        END IF;
        RETURN NEW;
    END IF;

    IF NOT (
        (OLD.state, NEW.state) IN (
            ('pending', 'active'), ('pending', 'rejected'), ('pending', 'archived'),
            ('active', 'archived'), ('active', 'pending'), ('rejected', 'pending'))
        OR (OLD.state = 'archived' AND NEW.state = OLD.archived_from)
    ) THEN
        RAISE EXCEPTION 'A fact cannot go from % to %.', OLD.state, NEW.state
            USING ERRCODE = 'check_violation';
    END IF;

    IF NEW.state = 'archived' THEN
        IF NEW.archived_from <> OLD.state THEN
            RAISE EXCEPTION 'An archived fact keeps the state it came from.'
                USING ERRCODE = 'check_violation';
        END IF;
        IF NOT (
            (OLD.state = 'pending' AND NEW.archived_reason IN
                ('duplicate', 'aged_out', 'replaced', 'merged', 'forgotten'))
            OR (OLD.state = 'active' AND NEW.archived_reason IN
                ('superseded', 'merged', 'stale', 'forgotten', 'undone'))
        ) THEN
            RAISE EXCEPTION 'A % fact is not archived as %.', OLD.state, NEW.archived_reason
                USING ERRCODE = 'check_violation';
        END IF;
        IF (NEW.superseded_by_id IS NOT NULL) <> (
            NEW.archived_reason = 'superseded'
            OR (NEW.archived_reason = 'merged' AND OLD.state = 'active')
        ) THEN
            RAISE EXCEPTION 'A superseded or merged fact, and no other, names its successor.'
                USING ERRCODE = 'check_violation';
        END IF;
        IF NEW.superseded_by_id IS NOT NULL THEN
            PERFORM remembrancer_refuse_cycle(NEW.owner_id, NEW.id, NEW.superseded_by_id);
            IF NOT EXISTS (
                SELECT 1 FROM memory_fact WHERE id = NEW.superseded_by_id AND state = 'active'
            ) THEN
                RAISE EXCEPTION 'A successor must be active.' USING ERRCODE = 'check_violation';
            END IF;
        END IF;
    END IF;
    RETURN NEW;
"""

# An open correction is a pending one; the flag carries the "one open correction per target" rule.
FACT_SYNC = """
    UPDATE memory_correctiontarget SET open = (NEW.state = 'pending')
    WHERE fact_id = NEW.id AND open <> (NEW.state = 'pending');
    RETURN NULL;
"""
