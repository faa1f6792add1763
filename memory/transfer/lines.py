"""The lines of a memory file (docs/memory-format.md), strictly: an unknown field is an error.

One JSON object a line: a header, then settings, agents, entities, conversations each followed by
its messages, facts, cases, rules, tombstones, and the end. Rows are named by what their owner knows
them by (slug, source and id, type and name), only facts by their ids.
"""

import hmac
from hashlib import sha256
from typing import Annotated, Any, Literal
from uuid import UUID

from django.conf import settings
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
)

from agents.models import Agent, OwnerSettings
from conversations import rules
from conversations.models import Message
from conversations.sketches import limits
from memory.models.case import ACTORS, GOAL, PART
from memory.vocabulary import (
    ArchivedReason,
    CaseArchivedReason,
    EntityType,
    Kind,
    Origin,
    Precision,
    Quality,
    State,
    Tag,
)

FORMAT: Literal["remembrancer-memories"] = "remembrancer-memories"
VERSION: Literal[1] = 1
# Bytes of one line: a message of 1 MB whose every character is written as an escape.
LONGEST = 8_000_000

Text = Annotated[str, AfterValidator(rules.storable)]
Name = Annotated[Text, Field(min_length=1, max_length=120)]
Slug = Annotated[str, Field(pattern=r"^[-a-zA-Z0-9_]{1,64}$")]
Source = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")]
Id = Annotated[Text, Field(min_length=1, max_length=rules.ID_LENGTH)]
Zone = Annotated[Text, Field(min_length=1, max_length=64)]
Language = Annotated[str, Field(pattern=r"^[a-z_]{2,24}$")]
Word = Annotated[str, Field(pattern=r"^[a-z_]{1,24}$")]
Past = Annotated[AwareDatetime, AfterValidator(rules.moment)]
Content = Annotated[Text, AfterValidator(rules.content)]
Seq = Annotated[int, Field(ge=0, le=2_000_000_000)]
ConversationName = tuple[Source, Id]
EntityName = tuple[EntityType, Name]


class Line(BaseModel):
    """What an export writes is what the database holds, so it is checked only when it is read."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def written(self) -> str:
        return f"{self.model_dump_json(warnings=False)}\n"


class Header(Line):
    type: Literal["header"] = "header"
    format: Literal["remembrancer-memories"] = FORMAT
    version: Literal[1] = VERSION
    # The only agent that it is about; none: the whole store.
    agent: Slug | None = None
    conversations: bool = True
    # Tells whether tombstones were made with this server's HASH_KEY. Says nothing about the key.
    tombstone_key: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]


class Settings(Line):
    """By the names of the settings. What a release does not know it leaves out."""

    type: Literal["settings"] = "settings"
    chosen: Annotated[dict[Word, bool | int | float | Text | None], Field(max_length=100)]


class AgentLine(Line):
    type: Literal["agent"] = "agent"
    slug: Slug
    name: Name
    reads: Agent.Reads
    is_default: bool


class EntityLine(Line):
    type: Literal["entity"] = "entity"
    kind: EntityType
    name: Name
    aliases: Annotated[list[Name], Field(max_length=1000)]


class ConversationLine(Line):
    type: Literal["conversation"] = "conversation"
    agent: Slug
    source: Source
    id: Id
    title: Annotated[Text, Field(max_length=300)]
    read_only: bool
    sensitive: bool
    created_at: Past
    last_activity_at: Past
    # How far it was read for facts, and how far its client has summarised it away.
    cursor_seq: Seq
    compacted_seq: Seq
    # How far it was read for cases.
    case_seq: Seq = 0


class MessageLine(Line):
    """Of the conversation above it."""

    type: Literal["message"] = "message"
    id: Id
    seq: Annotated[int, Field(ge=1, le=2_000_000_000)]
    role: Message.Role
    kind: Message.Kind
    speaker: Annotated[Text, Field(max_length=120)]
    from_owner: bool
    content: Content
    sent_at: Past
    zone: Zone
    parent: Id | None
    replaces: Id | None
    on_branch: bool
    created_at: Past


class BreadcrumbLine(Line):
    """What was kept of a message of the conversation above when it was summarised away."""

    type: Literal["breadcrumb"] = "breadcrumb"
    message: Id | None
    text: Annotated[Text, Field(min_length=1, max_length=1000)]
    language: Language
    said_at: Past
    place: Seq


class SketchLine(Line):
    """A section of the notes of the conversation above that its owner keeps; others expire."""

    type: Literal["sketch"] = "sketch"
    key: Annotated[str, Field(pattern=limits.KEY)]
    text: Annotated[Text, Field(min_length=1, max_length=limits.SECTION)]
    language: Language
    created_at: Past
    updated_at: Past


class EvidencePart(Line):
    conversation: ConversationName
    message: Id
    quote: Content
    created_at: Past


class UsagePart(Line):
    hits: Seq
    last_at: Past


class FactLine(Line):
    """`reviewed_by` is the owner or an administrator of the server, never a name."""

    type: Literal["fact"] = "fact"
    id: UUID
    agent: Slug | None
    kind: Kind
    statement: Annotated[Text, Field(min_length=1, max_length=500, pattern=r"\S")]
    language: Language
    state: State
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    tags: Annotated[list[Tag], Field(max_length=20)]
    pinned: bool
    origin: Origin
    valid_from: AwareDatetime | None
    valid_until: AwareDatetime | None
    valid_precision: Precision
    created_at: Past
    observed_at: AwareDatetime
    last_confirmed_at: Past
    decayed_at: Past | None
    snoozed_until: AwareDatetime | None
    superseded_by: UUID | None
    archived_reason: ArchivedReason | Literal[""]
    archived_from: State | Literal[""]
    withheld_for: Annotated[list[Word], Field(max_length=40)]
    withheld_detail: Annotated[Text, Field(max_length=200)]
    similar_to: UUID | None
    reviewed_by: Literal["owner", "administrator"] | None
    reviewed_at: Past | None
    conversation: ConversationName | None
    prompt_version: Annotated[Text, Field(max_length=64)]
    # What it would replace, or has replaced; and what it was concluded from.
    targets: Annotated[list[UUID], Field(max_length=1000)]
    derived_from: Annotated[list[UUID], Field(max_length=1000)]
    entities: Annotated[list[EntityName], Field(max_length=200)]
    evidence: Annotated[list[EvidencePart], Field(max_length=10_000)]
    usage: UsagePart | None

    @property
    def is_live(self) -> bool:
        return self.state in (State.PENDING, State.ACTIVE)

    @property
    def is_shell(self) -> bool:
        return self.archived_reason == ArchivedReason.PURGED


def _part(least: int, most: int) -> Any:
    return Field(min_length=least, max_length=most)


class CaseSourcePart(Line):
    """A message that the case was written from; `cited`: it proves the case."""

    conversation: ConversationName
    message: Id
    cited: bool


class CaseLine(Line):
    """What was archived while it waited was decided over by nobody."""

    type: Literal["case"] = "case"
    agent: Slug
    conversation: ConversationName
    goal: Annotated[Text, _part(*GOAL)]
    context: Annotated[Text, _part(*PART)]
    approach: Annotated[Text, _part(*PART)]
    outcome: Annotated[Text, _part(*PART)]
    quality: Quality
    lessons: Annotated[Text, Field(max_length=500)]
    actors: Annotated[list[Name], Field(min_length=1, max_length=ACTORS)]
    tags: Annotated[list[Annotated[Text, _part(1, 40)]], Field(max_length=20)]
    language: Language
    state: State
    archived_reason: CaseArchivedReason | Literal[""]
    archived_from: State | Literal[""]
    withheld_for: Annotated[list[Word], Field(max_length=40)]
    withheld_detail: Annotated[Text, Field(max_length=200)]
    reviewed_by: Literal["owner", "administrator"] | None
    reviewed_at: Past | None
    prompt_version: Annotated[Text, Field(max_length=64)]
    created_at: Past
    happened_at: Past
    sources: Annotated[list[CaseSourcePart], Field(max_length=10_000)]

    @property
    def texts(self) -> tuple[str, ...]:
        parts = (self.goal, self.context, self.approach, self.outcome, self.lessons)
        return tuple(filter(None, parts))


class RuleLine(Line):
    """What the owner wrote for their agents to follow, as it stands; they come in its order."""

    type: Literal["rule"] = "rule"
    agent: Slug | None
    text: Annotated[Text, Field(min_length=1, max_length=500, pattern=r"\S")]
    enabled: bool
    created_at: Past


class TombstoneLine(Line):
    type: Literal["tombstone"] = "tombstone"
    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    created_at: Past


class End(Line):
    """A file without it was cut short. `lines` counts all before it."""

    type: Literal["end"] = "end"
    lines: Annotated[int, Field(ge=1)]


AnyLine = Annotated[
    Header
    | Settings
    | AgentLine
    | EntityLine
    | ConversationLine
    | MessageLine
    | BreadcrumbLine
    | SketchLine
    | FactLine
    | CaseLine
    | RuleLine
    | TombstoneLine
    | End,
    Field(discriminator="type"),
]
PARSER: TypeAdapter[AnyLine] = TypeAdapter(AnyLine)


def settings_carried() -> list[str]:
    """All that an owner chose, in plain values."""
    fields = OwnerSettings._meta.concrete_fields
    return [field.name for field in fields if not field.is_relation and not field.primary_key]


def key_mark() -> str:
    """A fingerprint of HASH_KEY, which itself is in no file."""
    mark = hmac.new(settings.HASH_KEY.encode(), b"tombstones of a memory file", sha256)
    return mark.hexdigest()[:16]
