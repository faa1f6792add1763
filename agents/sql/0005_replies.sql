-- Any of an owner's replies may hold what is purged, so none keeps its body; one that is being made
-- is marked. Claims wait meanwhile (agents/replies.py), so that none slips in beside the purge.
CREATE FUNCTION remembrancer_purges_replies(
    whose uuid, facts uuid[], messages uuid[], talks uuid[], others uuid[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('replies of ' || whose, 0));
    UPDATE public.agents_storedreply SET body = '', kept = false, purged = true
    WHERE owner_id = whose AND NOT purged;
END
$$;
