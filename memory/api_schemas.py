"""What the API says of a fact, and how a client words one. Every text is data, no instruction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from django.db.models import prefetch_related_objects
from pydantic import AfterValidator, BaseModel, Field

from agents.schemas import Time as Time
from agents.schemas import Version as Version
from conversations.schemas import Strict, Text
from memory.lifecycle import Edit, version
from memory.models import Fact
from memory.review.masking import masked
from memory.vocabulary import Kind, Origin, Precision, State, Tag


class BadValidity(ValueError):
    def __init__(self) -> None:
        super().__init__("valid_until: must be later than valid_from.")


def _one_line(statement: str) -> str:
    text = " ".join(statement.split())
    if not any(character.isalnum() for character in text):
        raise ValueError("needs words")
    return text


Statement = Annotated[
    Text,
    Field(min_length=1, max_length=500, examples=["The user lives in Oslo."]),
    AfterValidator(_one_line),
]
Tags = Annotated[list[Tag], Field(max_length=len(Tag))]
Reason = Annotated[Text, Field(max_length=200)]


class FactOut(BaseModel):
    """`agent` is the only one that may read it; null: every one. `valid_from` and `valid_until`
    (half-open) say when it holds in the world, beside when it was recorded (`created_at`), said
    (`observed_at`) and last confirmed. A secret in the text is masked. `version` changes with all
    that a decision rests on; send it along to decide over what you saw."""

    id: UUID
    statement: str
    kind: Kind
    state: State
    agent: str | None
    confidence: float
    tags: list[str]
    pinned: bool
    origin: Origin
    valid_from: datetime | None
    valid_until: datetime | None
    valid_precision: Precision
    created_at: datetime
    observed_at: datetime
    last_confirmed_at: datetime
    snoozed_until: datetime | None
    superseded_by: UUID | None
    archived_reason: str
    version: str

    @classmethod
    def fields_of(cls, fact: Fact) -> dict[str, Any]:
        own = FactOut.model_fields.keys() - {"statement", "agent", "superseded_by", "version"}
        return {name: getattr(fact, name) for name in own} | {
            "statement": masked(fact.statement)[0],
            "agent": fact.agent.slug if fact.agent else None,
            "superseded_by": fact.superseded_by_id,
            "version": version(fact),
        }

    @classmethod
    def of(cls, fact: Fact) -> Self:
        return cls(**cls.fields_of(fact))

    @classmethod
    def all(cls, facts: Sequence[Fact]) -> list[Self]:
        """In one query more, however many there are; their agents must be loaded."""
        prefetch_related_objects(facts, "targets")
        return [cls.of(fact) for fact in facts]


class FactPage(BaseModel):
    """`next` is the `after` of the next page; null on the last one."""

    items: list[FactOut]
    next: str | None


class ValidityIn(Strict):
    """Half-open: it holds from `valid_from` until before `valid_until`; null is open."""

    valid_from: Time | None = None
    valid_until: Time | None = None
    valid_precision: Precision = Precision.DAY


class WordingIn(Strict):
    """What is left out stays as it is; a null date is an open one."""

    statement: Statement | None = None
    kind: Kind | None = None
    tags: Tags | None = None
    valid_from: Time | None = None
    valid_until: Time | None = None
    valid_precision: Precision | None = None
    pinned: bool | None = None

    def edit(self, fact: Fact) -> Edit:
        """Raises BadValidity."""
        named = {name: getattr(self, name) for name in WordingIn.model_fields}
        dates = {"valid_from", "valid_until"} & self.model_fields_set
        changes = {name: value for name, value in named.items() if value is not None}
        changes |= {name: named[name] for name in dates}
        if self.tags is not None:
            changes["tags"] = tuple(dict.fromkeys(self.tags))
        return sound(Edit.of(fact, **changes))


def sound(edit: Edit) -> Edit:
    """Raises BadValidity."""
    since, until = edit.valid_from, edit.valid_until
    if since is not None and until is not None and until <= since:
        raise BadValidity
    return edit
