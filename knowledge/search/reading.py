"""`read_kb`: what follows a passage in its document. Only reads."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.db.models import F
from django.http import Http404

from agents.gate import MemoryOff, memory_on
from agents.models import Agent
from knowledge import marks
from knowledge.models import DocumentPassage, DocumentText
from knowledge.scope import documents_readable_by
from memory.recall.clean import clean_lines
from memory.sensitive import redact
from memory.tokens import count

# One passage always fits.
LEAST, MOST = 600, 8000
# Passages looked at for one call: a short table of contents has many small ones.
_AT_MOST = 200


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
    markdown = _markdown(start)
    kept, left = _fitting(_from(start, again), markdown, begin, max(LEAST, min(tokens, MOST)))
    end = kept[-1].end if kept else begin
    after = kept[-1].pk if kept and left else None
    return Read(kept, _cut(told(markdown[begin:end]), max(LEAST, tokens)), after)


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


def _markdown(passage: DocumentPassage) -> str:
    rows = DocumentText.objects.filter(
        owner=passage.owner_id, document=passage.document_id, generation=passage.generation
    )
    text = rows.values_list("markdown", flat=True).first()
    if text is None:
        raise Http404("There is no such passage; search again.")
    return text


def _from(start: DocumentPassage, again: bool) -> Iterator[DocumentPassage]:
    rows = DocumentPassage.objects.filter(
        owner=start.owner_id,
        document=start.document_id,
        generation=start.generation,
        ordinal__gte=start.ordinal + (not again),
    )
    rows = rows.select_related("document__collection__agent").order_by("ordinal")
    return iter(rows[: _AT_MOST + 1])


def _fitting(
    passages: Iterator[DocumentPassage], markdown: str, begin: int, room: int
) -> tuple[list[DocumentPassage], bool]:
    """Those that fit, and whether any is left."""
    kept: list[DocumentPassage] = []
    for passage in passages:
        room -= count(told(markdown[begin : passage.end]))
        if (kept and room < 0) or len(kept) == _AT_MOST:
            return kept, True
        kept.append(passage)
        begin = max(begin, passage.end)
    return kept, False
