"""Conversations of a memory file on their way in, message for message as they were."""

from dataclasses import dataclass, field
from uuid import UUID

from agents.models import Agent, User
from conversations import passages
from conversations.breadcrumbs import STRETCH
from conversations.models import Conversation, Import, Message, Passage, Sketch
from memory.models import CaseReading
from memory.transfer.lines import (
    BreadcrumbLine,
    ConversationLine,
    ConversationName,
    MessageLine,
    SketchLine,
)
from memory.transfer.rows import Numbered, create

AT_ONCE = 500


@dataclass
class Record:
    """Takes the lines in their order. A conversation that is here already stays as it is."""

    owner: User
    imported: Import
    agents: dict[str, Agent]
    ids: dict[ConversationName, UUID] = field(default_factory=dict)
    new: set[UUID] = field(default_factory=set)
    conversations: int = 0
    messages: int = 0
    known: int = 0
    _open: Conversation | None = None
    _line: ConversationLine | None = None
    _known_ids: dict[str, UUID] = field(default_factory=dict)
    _waiting: list[Numbered[Message]] = field(default_factory=list)

    def conversation(self, number: int, line: ConversationLine) -> None:
        self.close()
        name = (line.source, line.id)
        row = Conversation.objects.filter(owner=self.owner, source=line.source, external_id=line.id)
        here = row.values_list("pk", flat=True).first()
        if here is not None:
            self.ids[name] = here
            self.known += 1
            return
        self._open, self._line = self._new(line), line
        create(Conversation, [(number, self._open)])
        self.ids[name] = self._open.pk
        self.new.add(self._open.pk)
        self.conversations += 1

    def _new(self, line: ConversationLine) -> Conversation:
        return Conversation(
            owner=self.owner,
            agent=self.agents[line.agent],
            source=line.source,
            external_id=line.id,
            title=line.title,
            read_only=line.read_only,
            sensitive=line.sensitive,
            imported_by=self.imported,
            created_at=line.created_at,
            last_activity_at=line.last_activity_at,
        )

    def message(self, number: int, line: MessageLine) -> None:
        if self._open is None:
            return
        row = Message(
            owner=self.owner,
            conversation=self._open,
            seq=line.seq,
            client_id=line.id,
            role=line.role,
            kind=line.kind,
            speaker=line.speaker,
            from_owner=line.from_owner,
            content=line.content,
            sent_at=line.sent_at,
            zone=line.zone,
            parent_id=self._id(line.parent),
            replaces_id=self._id(line.replaces),
            on_branch=line.on_branch,
            created_at=line.created_at,
        )
        self._known_ids[line.id] = row.pk
        self._waiting.append((number, row))
        self._note(self._open, row)
        if len(self._waiting) == AT_ONCE:
            self._store()

    def breadcrumb(self, number: int, line: BreadcrumbLine) -> None:
        if self._open is None:
            return
        self._store()
        row = Passage(
            owner=self.owner,
            conversation=self._open,
            message_id=self._id(line.message),
            kind=Passage.Kind.BREADCRUMB,
            text=line.text,
            text_hash=passages.digest(line.text),
            language=line.language,
            said_at=line.said_at,
            stretch=STRETCH,
            place=line.place,
        )
        Passage.objects.bulk_create([row], ignore_conflicts=True)

    def sketch(self, number: int, line: SketchLine) -> None:
        if self._open is None:
            return
        row = Sketch(
            owner=self.owner,
            conversation=self._open,
            key=line.key,
            text=line.text,
            kept=True,
            language=line.language,
            created_at=line.created_at,
            updated_at=line.updated_at,
        )
        create(Sketch, [(number, row)])

    def close(self) -> None:
        """How far it was read is known only when its messages are there."""
        if self._open is None or self._line is None:
            return
        self._store()
        self._open.cursor_seq = self._line.cursor_seq
        self._open.compacted_seq = self._line.compacted_seq
        marks = "last_seq", "first_message_at", "last_message_at", "cursor_seq", "compacted_seq"
        self._open.save(update_fields=marks)
        if self._line.case_seq:
            CaseReading.objects.create(
                owner=self.owner, conversation=self._open, seq=self._line.case_seq
            )
        self._open, self._line, self._known_ids = None, None, {}

    def _id(self, client_id: str | None) -> UUID | None:
        return self._known_ids[client_id] if client_id is not None else None

    def _note(self, talk: Conversation, row: Message) -> None:
        first, last = talk.first_message_at, talk.last_message_at
        talk.first_message_at = min(first, row.sent_at) if first else row.sent_at
        talk.last_message_at = max(last, row.sent_at) if last else row.sent_at
        talk.last_seq = row.seq

    def _store(self) -> None:
        if not self._waiting:
            return
        create(Message, self._waiting)
        said = [row for _, row in self._waiting if row.content != Message.PURGED]
        passages.store(said)
        self.messages += len(self._waiting)
        self._waiting = []
