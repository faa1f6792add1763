"""What an owner has proposed to memory out of a document, and what goes when the document goes.

A document says nothing to memory by itself. Asked for, its passages become a conversation that
nobody speaks in (conversations.ingest.excerpts), so that extraction, quotes and purge know them;
and all that is found waits for the owner.
"""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Lower
from django.http import Http404

from agents.models import Agent, User
from conversations import ingest
from conversations.ingest import DOCUMENT, Excerpt, Stored
from conversations.models import Conversation, Message
from conversations.passages import digest
from knowledge.models import Document, DocumentPassage
from knowledge.search.service import pages_of
from memory import llm
from memory.extraction.windows import MESSAGES
from memory.models import Evidence, Fact, Rule
from memory.purge.further import Hanging
from memory.scope import facts_of
from memory.vocabulary import ArchivedReason, State

# Of one document at a time: some twenty questions to the model.
MOST = 20 * MESSAGES


class NotNow(Exception):
    """The message is for people."""


def can_read() -> bool:
    """The built-in rules read what the owner says; what a document says takes a model."""
    return llm.configured(llm.GENERAL) is not None


def answering(document: Document) -> QuerySet[DocumentPassage]:
    """The passages that answer now, in order."""
    rows = DocumentPassage.objects.filter(owner=document.owner_id, document=document)
    if document.generation is None:
        return rows.none()
    return rows.filter(generation=document.generation).order_by("ordinal")


def propose(*, document: Document, agent: Agent, passages: Iterable[UUID] | None = None) -> Stored:
    """Has these passages read, or all of them; what is found waits in the review of `agent`.

    A passage that was read before is not read again. Raises NotNow, MemoryOff, Http404.
    """
    if not can_read():
        raise NotNow("No language model is set up, and only one can read documents.")
    rows = answering(document)
    if passages is not None:
        rows = rows.filter(pk__in=list(passages))
    found = list(rows[: MOST + 1])
    if not found:
        raise NotNow("There are no passages to read yet.")
    if len(found) > MOST:
        raise NotNow(
            f"It has more than {MOST} passages, which would be very many questions to the model."
            " Choose the passages that speak of you."
        )
    with transaction.atomic():
        _hold(document)
        return ingest.excerpts(
            agent=agent,
            external_id=_talk_id(document.pk, agent.pk),
            title=document.title,
            passages=_excerpts(document, found),
            added_at=document.created_at,
        )


def _hold(document: Document) -> None:
    """Until its passages are stored as messages, so that a deletion finds these. Raises Http404: it
    was deleted since they were read."""
    rows = Document.objects.select_for_update(no_key=True)
    if rows.filter(pk=document.pk, owner=document.owner_id).values_list("pk").first() is None:
        raise Http404("There is no such document.")


def _excerpts(document: Document, rows: Sequence[DocumentPassage]) -> list[Excerpt]:
    """Known by what they say, so that reading a document anew repeats none; a text that comes twice
    is read once."""
    by_text = {digest(row.text): row for row in rows}
    return [
        Excerpt(id=name, place=place_of(document, row), text=row.text)
        for name, row in by_text.items()
    ]


def place_of(document: Document, passage: DocumentPassage) -> str:
    """Where it stands, in words: "Lease › Rent, page 3"."""
    path = " › ".join([document.title, *passage.headings])
    pages = pages_of(passage)
    room = 120 - len(pages) - 2
    path = path if len(path) <= room else f"{path[: room - 1]}…"
    return f"{path}, {pages}" if pages else path


def hanging(owner: User, documents: Iterable[UUID]) -> Hanging:
    """What goes with them: candidates that rest on nothing else, whatever became of them, but for
    those that the owner confirmed or made a rule of; the messages that hold passages, and their
    conversations."""
    ids = list(talks_of(owner, documents).values_list("pk", flat=True))
    said = Message.objects.filter(owner=owner, conversation__in=ids).exclude(content=Message.PURGED)
    return Hanging(
        facts=tuple(sorted(_alone(born_in(owner, ids), ids))),
        messages=tuple(said.values_list("pk", flat=True)),
        talks=tuple(ids),
    )


def born_in(owner: User, talks: Iterable[UUID]) -> QuerySet[Fact]:
    """All that was ever found there, but for shells."""
    rows = facts_of(owner).filter(conversation__in=list(talks))
    return rows.exclude(archived_reason=ArchivedReason.PURGED)


def talks_of(owner: User, documents: Iterable[UUID]) -> QuerySet[Conversation]:
    agents = list(Agent.objects.filter(owner=owner).values_list("pk", flat=True))
    names = [_talk_id(document, agent) for document in documents for agent in agents]
    return Conversation.objects.filter(owner=owner, source=DOCUMENT, external_id__in=names)


def document_in(conversation: Conversation) -> UUID | None:
    """The document whose passages a conversation holds."""
    if conversation.source != DOCUMENT:
        return None
    try:
        return UUID(conversation.external_id.partition(":")[0])
    except ValueError:
        return None


def _alone(born: QuerySet[Fact], talks: list[UUID]) -> set[UUID]:
    """Never let in, and their purge touches nothing but these conversations."""
    never_in = ~Q(state=State.ACTIVE) & ~Q(state=State.ARCHIVED, archived_from=State.ACTIVE)
    elsewhere = Evidence.objects.filter(fact=OuterRef("pk")).exclude(
        message__conversation__in=talks
    )
    rules = Rule.objects.filter(owner=OuterRef("owner")).annotate(said=Lower("text"))
    rules = rules.filter(Q(candidate=OuterRef("pk")) | Q(said=Lower(OuterRef("statement"))))
    rows = born.filter(never_in, ~Exists(elsewhere), ~Exists(rules))
    going = set(rows.values_list("pk", flat=True))
    while going and (bound := _bound(born, going)):
        going -= bound
    return going


def _bound(born: QuerySet[Fact], going: set[UUID]) -> set[UUID]:
    """Those whose purge would take a fact that stays: of the same text, or an earlier wording."""
    others = Fact.objects.exclude(pk__in=going).exclude(archived_reason=ArchivedReason.PURGED)
    twins = others.filter(owner=OuterRef("owner"), text_hash=OuterRef("text_hash"))
    earlier = others.filter(superseded_by=OuterRef("pk"))
    rows = born.filter(Exists(twins) | Exists(earlier), pk__in=going)
    return set(rows.values_list("pk", flat=True))


def _talk_id(document: UUID, agent: UUID) -> str:
    return f"{document}:{agent}"
