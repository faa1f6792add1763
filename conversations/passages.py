"""The raw record, cut into the pieces that search reads."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID

from conversations.models import Message, Passage

PIECE = 4_000  # characters
CAP = 12_000  # characters of one message; the middle of a longer one is left out
GAP = "\n[… {} characters left out …]\n"
# Talk is one stretch until a pause this long, or until it has this many passages.
PAUSE = timedelta(hours=6)
STRETCH = 60
# A piece ends at the last of these in its final quarter.
_BREAKS = ("\n\n", "\n", ". ", "。", " ")
_ELSEWHERE = (Message.Kind.SUMMARY, Message.Kind.DOCUMENT)


def unknown_language(text: str) -> str:
    return "simple"


# Names the Postgres text search configuration of a text, "simple" where it can't tell. The app
# that knows languages sets it when it is ready, since imports run the other way.
language_of: Callable[[str], str] = unknown_language


@dataclass(frozen=True, slots=True)
class At:
    """Where a passage stands in its conversation."""

    stretch: int
    place: int
    said_at: datetime


def store(messages: Sequence[Message]) -> None:
    """The passages of these messages of one conversation, which the caller has locked, once each by
    content.

    Those off the branch have none: search must not find what was taken back. Nor have summaries, a
    model's words for what is there verbatim, and a document's passages, which are searched there.
    """
    said = [m for m in messages if m.on_branch and m.kind not in _ELSEWHERE]
    whole = language_of("\n".join(message.content for message in said)[:PIECE])
    rows = [row for message in said for row in _passages(message, whole)]
    if not rows:
        return
    _tell_apart(rows)
    _put_in_place(rows)
    Passage.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)


def pieces(text: str) -> list[str]:
    """At most 4,000 characters each, cut between paragraphs, sentences or words if they can be."""
    return [piece for piece in _cut(shortened(text)) if piece]


def shortened(text: str) -> str:
    if len(text) <= CAP:
        return text
    gap = GAP.format(len(text))
    head = (CAP - len(gap)) // 2
    tail = CAP - len(gap) - head
    return text[:head] + GAP.format(len(text) - head - tail) + text[-tail:]


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _cut(text: str) -> Iterator[str]:
    while len(text) > PIECE:
        end = _end_of_piece(text)
        yield text[:end].strip()
        text = text[end:]
    yield text.strip()


def _end_of_piece(text: str) -> int:
    for mark in _BREAKS:
        at = text.rfind(mark, 3 * PIECE // 4, PIECE)
        if at >= 0:
            return at + len(mark)
    return PIECE


def _passages(message: Message, language: str) -> Iterator[Passage]:
    """A short message ("Yes, both.") tells no language; then that of its batch counts."""
    own = language_of(message.content)
    for number, text in enumerate(pieces(message.content)):
        yield Passage(
            owner_id=message.owner_id,
            conversation_id=message.conversation_id,
            message=message,
            piece=number,
            text=text,
            text_hash=digest(text),
            language=language if own == "simple" else own,
            said_at=message.sent_at,
        )


def _tell_apart(rows: Sequence[Passage]) -> None:
    """Text that was taken back and then said again needs a passage that search may find."""
    taken_back = set(
        Passage.objects.filter(
            owner_id=rows[0].owner_id,
            conversation_id=rows[0].conversation_id,
            text_hash__in=[row.text_hash for row in rows],
            message__on_branch=False,
        ).values_list("text_hash", flat=True)
    )
    for row in rows:
        if row.text_hash in taken_back:
            row.text_hash = digest(f"{row.message_id}\0{row.text}")


def _put_in_place(rows: Sequence[Passage]) -> None:
    at = _last(rows[0].conversation_id)
    for row in rows:
        at = _next(at, row)
        row.stretch, row.place = at.stretch, at.place


def _last(conversation_id: UUID) -> At | None:
    rows = Passage.objects.filter(conversation_id=conversation_id, stretch__gt=0)
    newest = rows.order_by("-stretch", "-place").values_list("stretch", "place", "said_at").first()
    return At(*newest) if newest else None


def _next(last: At | None, row: Passage) -> At:
    if last is None:
        return At(1, 0, row.said_at)
    paused = abs(row.said_at - last.said_at) > PAUSE
    if paused or last.place + 1 >= STRETCH:
        return At(last.stretch + 1, 0, row.said_at)
    return At(last.stretch, last.place + 1, row.said_at)
