"""Writes conversations and messages, under the conversation's lock. Callers check the gate first.

Order of locks: the owner's switch (gate.require_on), the conversation, then facts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from agents.models import Agent, ApiKey, OwnerSettings
from conversations import branches, passages, rules
from conversations.models import Conversation, Import, Message


class BadMessage(Exception):
    """What is wrong with the input, and where: `messages[3].parent`."""

    def __init__(self, at: str, why: str) -> None:
        super().__init__(f"{at}: {why}")
        self.at = at


class Refused(Exception):
    """The input contradicts what is stored. Nothing was stored."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message on its way in, already held against conversations/rules.py.

    `parent` and `replaces` are client ids. Without a parent it follows what it replaces followed,
    or else the newest message on the branch. `from_owner` None: the owner speaks as `user`.
    """

    client_id: str
    role: Message.Role
    content: str
    sent_at: datetime
    zone: str = ""
    speaker: str = ""
    from_owner: bool | None = None
    parent: str | None = None
    replaces: str | None = None
    on_branch: bool = True
    kind: Message.Kind = Message.Kind.SAID


@dataclass(frozen=True, slots=True)
class Into:
    """The conversation to write to. None: not said, so the promise stays what it is, or no."""

    agent: Agent
    source: str
    external_id: str
    title: str = ""
    read_only: bool | None = None
    sensitive: bool | None = None
    client: ApiKey | None = None
    imported_by: Import | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A stored message, as far as a new one may refer to it."""

    id: UUID
    parent: UUID | None
    role: str = ""
    content: str = ""

    def says(self, message: Incoming) -> bool:
        """A purged message is never told apart from its original, and never comes back."""
        if self.content == Message.PURGED:
            return True
        return (self.role, self.content) == (message.role, message.content)


def opened(into: Into) -> Conversation:
    """The conversation, locked, made if it is new. Raises Refused where a promise differs."""
    Conversation.objects.bulk_create(
        [
            Conversation(
                owner=into.agent.owner,
                agent=into.agent,
                source=into.source,
                external_id=into.external_id,
                title=into.title[:300],
                read_only=bool(into.read_only),
                sensitive=bool(into.sensitive),
                client=into.client,
                imported_by=into.imported_by,
            )
        ],
        ignore_conflicts=True,
    )
    conversation = Conversation.objects.select_for_update(no_key=True).get(
        owner=into.agent.owner, source=into.source, external_id=into.external_id
    )
    conversation.owner = into.agent.owner
    _check_promises(conversation, into)
    return conversation


def _check_promises(conversation: Conversation, into: Into) -> None:
    if conversation.agent_id != into.agent.pk:
        raise Refused("This conversation belongs to another agent; that was fixed when it began.")
    for promise in ("read_only", "sensitive"):
        said, kept = getattr(into, promise), getattr(conversation, promise)
        if said is not None and said != kept:
            raise Refused(f"{promise} is {str(kept).lower()}; that was fixed when it began.")


def known(conversation: Conversation, client_ids: Iterable[str | None]) -> dict[str, Known]:
    named = {client_id for client_id in client_ids if client_id is not None}
    rows = Message.objects.filter(conversation=conversation, client_id__in=named)
    return {
        row.client_id: Known(row.pk, row.parent_id, row.role, row.content)
        for row in rows.only("client_id", "parent", "role", "content")
    }


def append(
    conversation: Conversation,
    messages: Sequence[tuple[str, Incoming]],
    stored: Mapping[str, Known],
    *,
    activity_at: datetime | None = None,
) -> list[Message]:
    """Writes new messages behind the others, each with the place that an error would name.

    `stored` holds every stored message that they refer to. Raises BadMessage.
    """
    if not messages:
        return []
    rows = _rows(conversation, messages, dict(stored))
    Message.objects.bulk_create(rows, batch_size=500)
    left = _replacements_made(conversation, rows)
    passages.store(rows)
    _note_arrival(conversation, rows, activity_at or timezone.now())
    branches.tell(conversation=conversation, left=left)
    return rows


def _rows(
    conversation: Conversation, messages: Sequence[tuple[str, Incoming]], ids: dict[str, Known]
) -> list[Message]:
    clock = OwnerSettings.objects.values_list("time_zone", flat=True).get(owner=conversation.owner)
    tip = _tip(conversation)
    rows = []
    for seq, (place, message) in enumerate(messages, start=conversation.last_seq + 1):
        replaced = _found(ids, message.replaces, f"{place}.replaces")
        parent = _found(ids, message.parent, f"{place}.parent")
        if replaced is not None and parent == replaced:
            raise BadMessage(f"{place}.parent", "is the message that this one replaces")
        after = parent.id if parent else replaced.parent if replaced else tip
        row = _row(conversation, seq, message, clock)
        row.parent_id, row.replaces_id = after, replaced.id if replaced else None
        tip = row.pk if message.on_branch else tip
        ids[message.client_id] = Known(row.pk, after)
        rows.append(row)
    return rows


def _found(ids: Mapping[str, Known], client_id: str | None, place: str) -> Known | None:
    if client_id is None:
        return None
    if client_id not in ids:
        raise BadMessage(place, "names no message that is stored or comes earlier in this batch")
    return ids[client_id]


def _tip(conversation: Conversation) -> UUID | None:
    said = Message.objects.filter(conversation=conversation, on_branch=True)
    newest = said.exclude(kind=Message.Kind.SUMMARY).order_by("-seq")
    return newest.values_list("pk", flat=True).first()


def _row(conversation: Conversation, seq: int, message: Incoming, clock: str) -> Message:
    owner_speaks = message.role == Message.Role.USER
    if message.from_owner is not None:
        owner_speaks = message.from_owner
    return Message(
        owner_id=conversation.owner_id,
        conversation=conversation,
        seq=seq,
        client_id=message.client_id,
        role=message.role,
        kind=message.kind,
        speaker=message.speaker,
        from_owner=owner_speaks,
        content=message.content,
        sent_at=message.sent_at,
        zone=message.zone or _zone(message.sent_at, clock),
        on_branch=message.on_branch,
    )


def _zone(sent_at: datetime, clock: str) -> str:
    """UTC in a time is how programs write it, not where the person was: then the owner's counts."""
    return rules.offset(sent_at) if sent_at.utcoffset() else clock


def _replacements_made(conversation: Conversation, rows: Sequence[Message]) -> set[UUID]:
    left: set[UUID] = set()
    for row in rows:
        if row.replaces_id is not None:
            left |= branches.replace(
                conversation=conversation, replaced=row.replaces_id, before=row.seq
            )
    for row in rows:
        row.on_branch = row.on_branch and row.pk not in left
    return left


def _note_arrival(conversation: Conversation, rows: Sequence[Message], arrived: datetime) -> None:
    times = [row.sent_at for row in rows]
    first, last = conversation.first_message_at, conversation.last_message_at
    conversation.first_message_at = min([*times, first] if first else times)
    conversation.last_message_at = max([*times, last] if last else times)
    began_now = conversation.last_seq == 0
    conversation.last_activity_at = (
        arrived if began_now else max(conversation.last_activity_at, arrived)
    )
    conversation.last_seq = rows[-1].seq
    conversation.save(
        update_fields=["first_message_at", "last_message_at", "last_activity_at", "last_seq"]
    )
