"""What a search answers with, and what may be asked for."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from conversations.models import Passage
from memory.models import Case, Fact
from memory.search.marks import Mark


class Scope(StrEnum):
    ALL = "all"
    FACTS = "facts"
    CASES = "cases"
    RAW = "raw"
    SKETCHES = "sketches"
    DOCUMENTS = "documents"


class Tier(StrEnum):
    FACT = "fact"
    CASE = "case"
    RAW = "raw"
    SKETCH = "sketch"
    DOCUMENT = "document"


@dataclass(frozen=True)
class Place:
    """Where a hit of a further tier stands: its row, in words of its tier, and its page."""

    key: UUID
    words: str
    url: str = ""


@dataclass(frozen=True)
class Hit:
    """A fact, a case, a passage with what is to be known of it, or what a further tier found.
    `score` is comparable within its tier, for facts and passages in nats."""

    tier: Tier
    score: float
    text: str
    said_at: datetime
    fact: Fact | None = None
    passage: Passage | None = None
    marks: tuple[Mark, ...] = ()
    overridden_by: Fact | None = None
    # Cosine of a passage with the question; None where the model can't tell.
    cosine: float | None = None
    case: Case | None = None
    place: Place | None = None
