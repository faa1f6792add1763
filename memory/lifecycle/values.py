"""What the lifecycle is given and the refusals it answers with."""

from dataclasses import dataclass, field
from datetime import datetime

from agents.models import Agent, ApiKey
from conversations.models import Conversation, Import, Message
from memory.models import ExtractionRun, Fact
from memory.vocabulary import EntityType, Kind, Origin, Precision, State, Tag, Withheld


@dataclass(frozen=True, slots=True)
class Source:
    """A message and the verbatim quote in it on which a fact rests."""

    message: Message
    quote: str


@dataclass(frozen=True, slots=True)
class EntityRef:
    type: EntityType
    name: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact before its birth. `language` names a Postgres text search configuration."""

    statement: str
    kind: Kind
    origin: Origin
    observed_at: datetime
    confidence: float = 1.0
    language: str = "simple"
    tags: tuple[Tag, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    valid_precision: Precision = Precision.DAY
    pinned: bool = False
    withheld_for: tuple[Withheld, ...] = ()
    withheld_detail: str = ""
    sources: tuple[Source, ...] = ()
    entities: tuple[EntityRef, ...] = ()
    conversation: Conversation | None = None
    run: ExtractionRun | None = None
    prompt_version: str = ""
    imported_by: Import | None = None
    client: ApiKey | None = None
    similar_to: Fact | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """Who may read a fact: one assistant, or with None every one of the owner's."""

    agent: Agent | None


@dataclass(frozen=True, slots=True)
class Edit:
    """What the owner wants to read instead. Text, kind and scope are those of a new fact; the rest
    may also change on the same one. Without a scope it stays where it is."""

    statement: str
    kind: Kind
    tags: tuple[Tag, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    valid_precision: Precision = Precision.DAY
    pinned: bool = False
    scope: Scope | None = None

    @classmethod
    def of(cls, fact: Fact, **changes: object) -> "Edit":
        """The fact as it is, but for the changes."""
        fields = {
            "statement": fact.statement,
            "kind": Kind(fact.kind),
            "tags": tuple(fact.tags),
            "valid_from": fact.valid_from,
            "valid_until": fact.valid_until,
            "valid_precision": Precision(fact.valid_precision),
            "pinned": fact.pinned,
        }
        return cls(**(fields | changes))  # type: ignore[arg-type]


class LifecycleError(Exception):
    """A step that was refused. Nothing has changed. The message is for people."""


class NotAllowed(LifecycleError):
    """The step needs a person, or a fact in another scope."""


@dataclass(eq=False)
class Conflict(LifecycleError):
    """The fact is no longer in the state that the step starts from; `fact` is as it is now."""

    fact: Fact

    def __str__(self) -> str:
        return f"This was already decided elsewhere: the fact is {_in_words(self.fact)} now."


@dataclass(eq=False)
class Stale(LifecycleError):
    """What the page showed has changed since; `fact` is as it is now."""

    fact: Fact

    def __str__(self) -> str:
        return "This has changed since the page was loaded. Look at it again before you decide."


@dataclass(eq=False)
class Duplicate(LifecycleError):
    """A fact with the same text already stands in the same scope (or was rejected or forgotten)."""

    existing: Fact

    def __str__(self) -> str:
        return f"The same text is already there; that fact is {_in_words(self.existing)}."


@dataclass(eq=False)
class AtCap(LifecycleError):
    """The owner's limit of active facts is reached."""

    limit: int
    where: str = field(default="")

    def __str__(self) -> str:
        return (
            f"The limit of {self.limit} active facts for {self.where} is reached. "
            "Archive one, or raise the limit in the settings."
        )


class Tombstoned(LifecycleError):
    """The text was purged or forgotten, and may not come back by itself."""

    def __init__(self) -> None:
        super().__init__("This was purged or forgotten, so it is not stored again.")


@dataclass(eq=False)
class Purged(LifecycleError):
    """The step is for a fact of which nothing is left."""

    fact: Fact

    def __str__(self) -> str:
        return "This fact was purged: nothing of it is left, so it can't be restored or changed."


def _in_words(fact: Fact) -> str:
    if fact.state == State.ARCHIVED:
        return f"archived ({fact.get_archived_reason_display().lower()})"
    return fact.state
