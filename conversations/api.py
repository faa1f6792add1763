"""Conversations over HTTP. Thin: the rules are in ingest.py and schemas.py."""

from ninja import Query, Router, Status

from agents.auth import KeyRequest, agent_for, require_scope
from agents.gate import MemoryOff, memory_on
from agents.models import Agent, ApiKey
from conversations import ingest, reading
from conversations.models import Conversation, Message
from conversations.schemas import (
    BatchIn,
    CompactIn,
    CompactOut,
    ConversationAsked,
    ConversationOut,
    ConversationPage,
    ConversationsAsked,
    DueOut,
    ExcludedOut,
    ExcludeIn,
    ExtractIn,
    Id,
    MessageOut,
    MessagePage,
    MessagesAsked,
    OutcomeIn,
    Slug,
    StoredOut,
)

router = Router()

INGEST = require_scope(ApiKey.Scope.INGEST)
SEARCH = require_scope(ApiKey.Scope.SEARCH)
OFF = "Memory is off for this owner, so nothing was kept."


@router.post(
    "/conversations/{external_id}/messages",
    auth=INGEST,
    response=StoredOut,
    operation_id="store_messages",
    summary="Store a batch of messages",
)
def store_messages(request: KeyRequest, external_id: Id, batch: BatchIn) -> StoredOut:
    """All or nothing, and idempotent by message id. Makes the conversation if it is new."""
    into = ingest.Into(
        agent=agent_for(request.auth, batch.agent),
        source=batch.source,
        external_id=external_id,
        title=batch.title,
        read_only=batch.read_only,
        sensitive=batch.sensitive,
        client=request.auth,
    )
    try:
        stored = ingest.store_messages(
            into=into, messages=[message.incoming() for message in batch.messages]
        )
    except MemoryOff:
        return StoredOut(stored=False, conversation=external_id, why=OFF)
    return StoredOut(stored=True, conversation=external_id, new=stored.new, known=stored.known)


@router.post(
    "/conversations/{external_id}/compact",
    auth=INGEST,
    response=CompactOut,
    operation_id="compact_conversation",
    summary="Say that messages are about to be summarised away",
)
def compact(request: KeyRequest, external_id: Id, told: CompactIn) -> CompactOut:
    """Everything up to `up_to` is read for candidates now, before it leaves the context."""
    try:
        conversation = ingest.compact(
            agent=agent_for(request.auth, told.agent),
            source=told.source,
            external_id=external_id,
            up_to=told.up_to,
            summary=told.summary,
        )
    except MemoryOff:
        return CompactOut(stored=False, conversation=external_id, why=OFF)
    return CompactOut(stored=True, conversation=external_id, due=bool(conversation.due_trigger))


@router.post(
    "/conversations/{external_id}/extract",
    auth=INGEST,
    response={202: DueOut},
    operation_id="extract_conversation",
    summary="Read what is unread now",
)
def extract(request: KeyRequest, external_id: Id, asked: ExtractIn | None = None) -> Status[DueOut]:
    asked = asked or ExtractIn()
    conversation = ingest.request_extraction(
        agent=agent_for(request.auth, asked.agent), source=asked.source, external_id=external_id
    )
    due = bool(conversation.due_trigger)
    told = DueOut(conversation=external_id, due=due, unread=_unread(conversation))
    return Status(202, told)


@router.post(
    "/conversations/{external_id}/exclude",
    auth=INGEST,
    response=ExcludedOut,
    operation_id="exclude_conversation",
    summary="Learn nothing more from a conversation, for good",
)
def exclude(request: KeyRequest, external_id: Id, asked: ExcludeIn | None = None) -> ExcludedOut:
    """It is read-only from then on: searched and recalled into, never read for facts. What was
    learned from it before stays; forget that apart. There is no way back."""
    asked = asked or ExcludeIn()
    row = ingest.exclude(
        agent=agent_for(request.auth, asked.agent), source=asked.source, external_id=external_id
    )
    return ExcludedOut(conversation=external_id, excluded=True, passed_over=_unread(row))


@router.post(
    "/agents/{slug}/outcomes",
    auth=INGEST,
    response=StoredOut,
    operation_id="store_outcome",
    summary="Store the digest of a mission or agent run",
)
def store_outcome(request: KeyRequest, slug: Slug, told: OutcomeIn) -> StoredOut:
    """Discoveries only: what a later run must know. The header itself is never learned."""
    agent = agent_for(request.auth, slug)
    try:
        stored = ingest.outcome(
            agent=agent,
            outcome_id=told.id,
            header=told.header,
            discoveries=told.text(),
            sent_at=told.sent_at,
            zone=told.zone or "",
            sensitive=told.sensitive,
            client=request.auth,
        )
    except MemoryOff:
        return StoredOut(stored=False, conversation=told.id, why=OFF)
    conversation = stored.conversation.external_id
    return StoredOut(stored=True, conversation=conversation, new=stored.new, known=stored.known)


@router.get(
    "/conversations",
    auth=SEARCH,
    response=ConversationPage,
    operation_id="list_conversations",
    summary="List an agent's conversations, latest first",
)
def list_conversations(request: KeyRequest, asked: Query[ConversationsAsked]) -> ConversationPage:
    rows, following = reading.page_of_conversations(
        agent=_reader(request, asked.agent),
        source=asked.source,
        after=asked.after,
        limit=asked.limit,
    )
    return ConversationPage(items=[_conversation(row) for row in rows], next=following)


@router.get(
    "/conversations/{external_id}",
    auth=SEARCH,
    response=ConversationOut,
    operation_id="read_conversation",
    summary="Read one conversation's particulars",
)
def read_conversation(
    request: KeyRequest, external_id: Id, asked: Query[ConversationAsked]
) -> ConversationOut:
    agent = _reader(request, asked.agent)
    return _conversation(reading.conversation(agent, asked.source, external_id))


@router.get(
    "/conversations/{external_id}/messages",
    auth=SEARCH,
    response=MessagePage,
    operation_id="read_messages",
    summary="Read what was said, in order of arrival",
)
def read_messages(request: KeyRequest, external_id: Id, asked: Query[MessagesAsked]) -> MessagePage:
    agent = _reader(request, asked.agent)
    conversation = reading.conversation(agent, asked.source, external_id)
    rows, following = reading.page_of_messages(
        conversation=conversation, after=asked.after, limit=asked.limit
    )
    return MessagePage(items=[_message(row) for row in rows], next=following)


def _reader(request: KeyRequest, slug: str | None) -> Agent:
    """While memory is off, an assistant reads nothing of what was said."""
    agent = agent_for(request.auth, slug)
    if not memory_on(agent.owner):
        raise MemoryOff("Memory is off for this owner.")
    return agent


def _unread(conversation: Conversation) -> int:
    return conversation.last_seq - conversation.cursor_seq


def _conversation(row: Conversation) -> ConversationOut:
    return ConversationOut(
        external_id=row.external_id,
        source=row.source,
        agent=row.agent.slug,
        title=row.title,
        read_only=row.read_only,
        sensitive=row.sensitive,
        messages=row.last_seq,
        unread=_unread(row),
        first_message_at=row.first_message_at,
        last_message_at=row.last_message_at,
    )


def _message(row: Message) -> MessageOut:
    return MessageOut(
        id=row.client_id,
        seq=row.seq,
        role=row.role,
        kind=row.kind,
        speaker=row.speaker,
        from_owner=row.from_owner,
        content=row.content,
        sent_at=row.sent_at,
        zone=row.zone,
        parent=row.parent.client_id if row.parent else None,
        replaces=row.replaces.client_id if row.replaces else None,
        on_branch=row.on_branch,
    )
