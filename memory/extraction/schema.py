"""The two strict reply formats of the language model. Anything outside them rejects the reply."""

from datetime import date
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from conversations.rules import storable
from memory.vocabulary import EntityType, Kind, Precision, Tag

MAX_CANDIDATES = 20
MAX_STATEMENT = 500

# Text that the database can hold: no NUL, no half characters.
Text = Annotated[str, AfterValidator(storable)]
Line = Annotated[Text, StringConstraints(strip_whitespace=True, min_length=1, max_length=120)]
Quote = Annotated[Text, StringConstraints(min_length=1, max_length=1500)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EntityMention(Strict):
    type: EntityType
    name: Line
    aliases: list[Line] = Field(default_factory=list, max_length=5)


class SourceQuote(Strict):
    """`message` is the number that the window gave the message; `quote` is verbatim from it."""

    message: int
    quote: Quote


class Validity(Strict):
    """When the fact holds in the world: half-open, either end may be unknown."""

    start: date | None = None
    end: date | None = None
    precision: Precision = Precision.DAY


class Candidate(Strict):
    """One proposal of the observer."""

    statement: Annotated[
        Text, StringConstraints(strip_whitespace=True, min_length=3, max_length=MAX_STATEMENT)
    ]
    kind: Kind
    confidence: float = Field(ge=0, le=1, allow_inf_nan=False)
    tags: list[Tag] = Field(max_length=5)
    entities: list[EntityMention] = Field(max_length=10)
    sources: list[SourceQuote] = Field(min_length=1, max_length=3)
    validity: Validity
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")]
    changes_behavior: bool
    about_owner: bool
    general_knowledge: bool


class ObserverReply(Strict):
    candidates: list[Candidate] = Field(max_length=MAX_CANDIDATES)


class Action(StrEnum):
    CREATE = "create"
    SUPERSEDE = "supersede"
    REINFORCE = "reinforce"
    SAME = "same"
    SKIP = "skip"


class Decision(Strict):
    """The reflector's answer for one candidate. `candidate` counts from 1, as do the handles."""

    candidate: int
    action: Action
    handles: list[int] = Field(default_factory=list, max_length=5)
    reason: Annotated[Text, StringConstraints(strip_whitespace=True, max_length=300)]


class ReflectorReply(Strict):
    decisions: list[Decision] = Field(max_length=MAX_CANDIDATES)
