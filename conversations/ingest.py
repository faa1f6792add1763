"""Conversations come in: whole batches or nothing, and sending one twice changes nothing.

Everything here raises MemoryOff while the owner's memory is off, and then nothing is stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from agents.gate import require_on
from agents.models import Agent, ApiKey
from conversations import breadcrumbs, hints, record
from conversations.models import Conversation, Message
from conversations.passages import digest
from conversations.record import BadMessage, Incoming, Into, Refused

__all__ = [
    "BadMessage",
    "Excerpt",
    "Incoming",
    "Into",
    "NoSuchConversation",
    "Refused",
    "Stored",
    "compact",
    "excerpts",
    "exclude",
    "outcome",
    "request_extraction",
    "store_messages",
]

OUTCOME = "outcome"
DOCUMENT = "document"
# What makes a conversation due at once (memory.vocabulary.Trigger).
DUE_COMPACTION, DUE_OUTCOME, DUE_REQUEST = "compaction", "outcome", "request"


class NoSuchConversation(Exception):
    """Missing, another agent's or somebody else's: all alike."""

    def __init__(self) -> None:
        super().__init__("There is no such conversation.")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A passage of a document. `place` says where it stands there: title, heading, page."""

    id: str
    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Stored:
    """`known` messages were there already, word for word."""

    conversation: Conversation
    new: int
    known: int


def store_messages(*, into: Into, messages: Sequence[Incoming]) -> Stored:
    """Raises BadMessage for a batch that makes no sense, Refused for one that contradicts."""
    batch = _once_each(messages)
    with transaction.atomic():
        require_on(into.agent.owner)
        conversation = record.opened(into)
        _take_title(conversation, into.title)
        new, known = _store(conversation, batch)
    return Stored(conversation, new=new, known=known + len(messages) - len(batch))


def outcome(
    *,
    agent: Agent,
    outcome_id: str,
    header: str,
    discoveries: str,
    sent_at: datetime,
    zone: str = "",
    sensitive: bool | None = None,
    client: ApiKey | None = None,
) -> Stored:
    """The digest of a mission or agent run, a conversation of its own that is due at once.

    Its text is the header, a blank line, then the discoveries. Raises Refused.
    """
    message = Incoming(
        client_id=outcome_id,
        role=Message.Role.TOOL,
        kind=Message.Kind.OUTCOME,
        content=f"{header}\n\n{discoveries}",
        sent_at=sent_at,
        zone=zone,
    )
    into = Into(
        agent=agent,
        source=OUTCOME,
        external_id=f"{agent.slug}:{outcome_id}",
        title=header,
        sensitive=sensitive,
        client=client,
    )
    with transaction.atomic():
        require_on(agent.owner)
        conversation = record.opened(into)
        new, known = _store(conversation, [("", message)])
        if new:
            _make_due(conversation, DUE_OUTCOME)
    return Stored(conversation, new=new, known=known)


def excerpts(
    *,
    agent: Agent,
    external_id: str,
    title: str,
    passages: Sequence[Excerpt],
    added_at: datetime,
) -> Stored:
    """What the owner wants read of a document, as a conversation of its own that is due at once.

    Nobody says it: it is a tool's message, whose quotes let nothing become active. A passage that
    was read before is not read again. Raises Refused.
    """
    batch = [
        Incoming(
            client_id=passage.id,
            role=Message.Role.TOOL,
            kind=Message.Kind.DOCUMENT,
            speaker=passage.place[:120],
            content=passage.text,
            sent_at=added_at,
        )
        for passage in passages
    ]
    into = Into(agent=agent, source=DOCUMENT, external_id=external_id, title=title)
    with transaction.atomic():
        stored = store_messages(into=into, messages=batch)
        _make_due(stored.conversation, DUE_REQUEST)
    return stored


def compact(
    *, agent: Agent, source: str, external_id: str, up_to: str, summary: str = ""
) -> Conversation:
    """The client is about to summarise away everything up to a message. What a summary loses stays
    as breadcrumbs.

    Raises NoSuchConversation, BadMessage.
    """
    with transaction.atomic():
        require_on(agent.owner)
        conversation = _locked(agent, source, external_id)
        last = Message.objects.filter(conversation=conversation, client_id=up_to).first()
        if last is None:
            raise BadMessage("up_to", "names no message of this conversation")
        kept = _keep_summary(conversation, last, summary) if summary else None
        _leave_breadcrumbs(conversation, last, kept)
        if last.seq > conversation.compacted_seq:
            conversation.compacted_seq = last.seq
            conversation.save(update_fields=["compacted_seq"])
        _make_due(conversation, DUE_COMPACTION)
    return conversation


def request_extraction(*, agent: Agent, source: str, external_id: str) -> Conversation:
    """Extract now. Raises NoSuchConversation, Refused."""
    with transaction.atomic():
        require_on(agent.owner)
        conversation = _locked(agent, source, external_id)
        if conversation.read_only:
            raise Refused("This conversation is read-only: nothing is learned from it.")
        _try_afresh(conversation)
        _make_due(conversation, DUE_REQUEST)
    return conversation


def exclude(*, agent: Agent, source: str, external_id: str) -> Conversation:
    """Nothing more is learned from it, for good: what is unread is passed over, what is being read
    just now is not applied. What was learned before stays. Also while memory is off.

    Raises NoSuchConversation.
    """
    with transaction.atomic():
        conversation = _locked(agent, source, external_id)
        conversation.read_only = True
        conversation.due_trigger, conversation.last_error = "", ""
        conversation.attempts, conversation.next_attempt_at, conversation.stuck_at = 0, None, None
        conversation.save(
            update_fields=[
                "read_only", "due_trigger", "last_error", "attempts", "next_attempt_at", "stuck_at"
            ]
        )  # fmt: skip
    return conversation


def _once_each(messages: Sequence[Incoming]) -> list[tuple[str, Incoming]]:
    """Each message with its place in the batch; a repetition, word for word, is left out."""
    seen: dict[str, Incoming] = {}
    batch = []
    for number, message in enumerate(messages):
        first = seen.setdefault(message.client_id, message)
        if (first.role, first.content) != (message.role, message.content):
            raise BadMessage(f"messages[{number}].id", "comes twice, with different text")
        if first is message:
            batch.append((f"messages[{number}]", message))
    return batch


def _store(conversation: Conversation, batch: Sequence[tuple[str, Incoming]]) -> tuple[int, int]:
    named = {name for _, m in batch for name in (m.client_id, m.parent, m.replaces)}
    stored = record.known(conversation, named)
    new = [(place, m) for place, m in batch if m.client_id not in stored]
    for place, message in batch:
        if message.client_id in stored and not stored[message.client_id].says(message):
            raise Refused(
                f"{place}.id: a message with this id and other text is stored. "
                "Send the new text under an id of its own that says which message it replaces."
            )
    record.append(conversation, new, stored)
    return len(new), len(batch) - len(new)


def _locked(agent: Agent, source: str, external_id: str) -> Conversation:
    conversation = (
        Conversation.objects.select_for_update(no_key=True)
        .filter(owner=agent.owner, agent=agent, source=source, external_id=external_id)
        .first()
    )
    if conversation is None:
        raise NoSuchConversation
    return conversation


def _take_title(conversation: Conversation, title: str) -> None:
    if conversation.title == Message.PURGED:
        return  # a client that sends it with each message brings nothing back
    if title and title[:300] != conversation.title:
        conversation.title = title[:300]
        conversation.save(update_fields=["title"])


def _keep_summary(conversation: Conversation, last: Message, summary: str) -> Message:
    """Under an id made of its text, so that sending it twice stores it once."""
    message = Incoming(
        client_id=f"summary:{last.seq}:{digest(summary)[:16]}",
        role=Message.Role.SYSTEM,
        kind=Message.Kind.SUMMARY,
        content=summary,
        sent_at=last.sent_at,
        zone=last.zone,
        parent=last.client_id,
    )
    _store(conversation, [("summary", message)])
    return Message.objects.get(conversation=conversation, client_id=message.client_id)


def _leave_breadcrumbs(conversation: Conversation, last: Message, kept: Message | None) -> None:
    """Of what was said since the last summary; an earlier one has left its own."""
    since = Message.objects.filter(
        conversation=conversation,
        on_branch=True,
        kind=Message.Kind.SAID,
        seq__gt=conversation.compacted_seq,
        seq__lte=last.seq,
    )
    breadcrumbs.store(conversation, list(since.order_by("seq")), kept)


def _try_afresh(conversation: Conversation) -> None:
    """Whoever asks wants an answer: a conversation that got stuck gets all its attempts again."""
    conversation.attempts, conversation.stuck_at = 0, None
    conversation.save(update_fields=["attempts", "stuck_at"])


def _make_due(conversation: Conversation, trigger: str) -> None:
    """Where there is something to read. A retry that was put off need not wait any longer."""
    if conversation.read_only or conversation.cursor_seq >= conversation.last_seq:
        return
    conversation.due_trigger = trigger
    conversation.next_attempt_at = None
    conversation.save(update_fields=["due_trigger", "next_attempt_at"])
    hints.extract_after_commit(conversation.pk)
