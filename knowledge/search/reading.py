"""`read_kb`: what follows a passage in its document. Only reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Substr
from django.http import Http404

from agents.gate import MemoryOff, memory_on
from agents.models import Agent
from knowledge import marks
from knowledge.models import Document, DocumentPassage, DocumentText
from knowledge.scope import documents_readable_by
from memory.recall.clean import clean_lines
from memory.sensitive import redact
from memory.sensitive.credentials import REDACTED, credentials
from memory.tokens import count

# One passage always fits.
LEAST, MOST = 600, 8000
# Passages looked at for one call: a short table of contents has many small ones.
_AT_MOST = 200
# Characters on either side of a stretch, by which a part of a secret is known for one.
_AROUND = 8000


@dataclass(frozen=True)
class Read:
    """`passages` are those whose text it is, in order; nothing is said twice. `text` is safe in a
    fence but for its nonce, and has pages as `[Page 12]`. `after` is the passage to read on from;
    None: the document ends here."""

    passages: list[DocumentPassage]
    text: str
    after: UUID | None


def read_kb(agent: Agent, passage: UUID, tokens: int = 1500, *, again: bool = False) -> Read:
    """From where the passage ends, or with `again` from where it begins, as many whole passages as
    `tokens` of o200k hold.

    Raises MemoryOff, and Http404 for a passage that the agent may not read or that is not there any
    more since its document was read anew.
    """
    if not memory_on(agent.owner):
        raise MemoryOff("Memory is off for this owner.")
    start = passage_for(agent, passage)
    begin = start.start if again else start.end
    rows = _from(start, again)
    markdown = _markdown(start, begin, rows[-1].end if rows else begin)
    kept, left = _fitting(rows, markdown, begin, max(LEAST, min(tokens, MOST)))
    end = kept[-1].end - begin if kept else 0
    after = kept[-1].pk if kept and left else None
    return Read(kept, _cut(told(markdown[:end]), max(LEAST, tokens)), after)


def passage_for(agent: Agent, passage: UUID) -> DocumentPassage:
    """One that answers, with its document. Raises Http404."""
    rows = DocumentPassage.objects.filter(
        owner=agent.owner,
        pk=passage,
        generation=F("document__generation"),
        document__in=documents_readable_by(agent).order_by().values("pk"),
    )
    row = rows.select_related("document__collection__agent").first()
    if row is None:
        raise Http404("There is no such passage; search again.")
    return row


def stretch(document: Document, offset: int, length: int) -> tuple[str, bool]:
    """So many characters of what a document says now, and whether more follow. A secret is taken
    out however it is cut."""
    first = max(offset - _AROUND, 0)
    rows = DocumentText.objects.filter(
        owner=document.owner_id, document=document, generation=F("document__generation")
    )
    around = Substr("markdown", first + 1, offset - first + length + _AROUND)
    text = rows.values_list(around, flat=True).first() or ""
    begin, end = offset - first, offset - first + length
    return shown(_without_secrets(text, begin, end)), len(text) > end


def _without_secrets(text: str, begin: int, end: int) -> str:
    """That part of it."""
    kept, at = [], begin
    for start, stop in credentials(text):
        if stop > at and start < end:
            kept += [text[at : max(start, at)], REDACTED]
            at = stop
    return "".join([*kept, text[at:end]])


def shown(markdown: str) -> str:
    """For whoever reads it: pages by their numbers, no marks."""
    numbered = marks.MARK.sub(
        lambda mark: f"[Page {mark['page']}]\n" if mark["page"] else "", markdown
    )
    return numbered.strip("\n")


def told(markdown: str) -> str:
    """For a prompt."""
    return clean_lines(redact(shown(markdown)))


def _cut(text: str, room: int) -> str:
    """Only of a passage that grew: what would be taken for a fence is longer when it is defused."""
    while (size := count(text)) > room:
        text = text[: min(len(text) * room // size, len(text) - 1)].rstrip()
    return text


def _markdown(passage: DocumentPassage, begin: int, end: int) -> str:
    rows = DocumentText.objects.filter(
        owner=passage.owner_id, document=passage.document_id, generation=passage.generation
    )
    part = Substr("markdown", begin + 1, max(end - begin, 0))
    text: str | None = rows.values_list(part, flat=True).first()
    if text is None:
        raise Http404("There is no such passage; search again.")
    return text


def _from(start: DocumentPassage, again: bool) -> list[DocumentPassage]:
    rows = DocumentPassage.objects.filter(
        owner=start.owner_id,
        document=start.document_id,
        generation=start.generation,
        ordinal__gte=start.ordinal + (not again),
    )
    rows = rows.select_related("document__collection__agent").defer("text").order_by("ordinal")
    return list(rows[: _AT_MOST + 1])


def _fitting(
    passages: Sequence[DocumentPassage], markdown: str, begin: int, room: int
) -> tuple[list[DocumentPassage], bool]:
    """Those that fit, and whether any is left. `markdown` begins at `begin`."""
    kept: list[DocumentPassage] = []
    at = 0
    for passage in passages:
        end = passage.end - begin
        room -= count(told(markdown[at:end]))
        if (kept and room < 0) or len(kept) == _AT_MOST:
            return kept, True
        kept.append(passage)
        at = max(at, end)
    return kept, False
