-- Passages from before the index: their stretches as passages.py cuts them, then their terms.
WITH ordered AS (
    SELECT p.id, p.conversation_id, row_number() OVER talk AS number,
        coalesce(
            abs(extract(epoch FROM p.said_at - lag(p.said_at) OVER talk)) > 6 * 3600, false
        )::int AS pause
    FROM conversations_passage p JOIN conversations_message m ON m.id = p.message_id
    WINDOW talk AS (PARTITION BY p.conversation_id ORDER BY m.seq, p.piece)
), parts AS (
    SELECT *, sum(pause) OVER (PARTITION BY conversation_id ORDER BY number) AS part FROM ordered
), counted AS (
    SELECT *, row_number() OVER (PARTITION BY conversation_id, part ORDER BY number) - 1 AS place
    FROM parts
), placed AS (
    SELECT id, place % 60 AS place,
        dense_rank() OVER (PARTITION BY conversation_id ORDER BY part, place / 60) AS stretch
    FROM counted
)
UPDATE conversations_passage p SET stretch = placed.stretch, place = placed.place
FROM placed WHERE p.id = placed.id;

DO $$
DECLARE
    talk uuid;
BEGIN
    FOR talk IN SELECT id FROM public.conversations_conversation LOOP
        PERFORM public.remembrancer_index_passages(
            ARRAY(SELECT id FROM public.conversations_passage WHERE conversation_id = talk));
    END LOOP;
END
$$;
