"""What policy is told and what it answers: plain values, no rows and no clock."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from memory.extraction.schema import Candidate
from memory.vocabulary import Gate, Kind, State, Withheld

MessageKind = Literal["said", "outcome", "summary", "document"]
# What may be evidence without a word of the owner's about it; never to become active unseen.
SPEAK_FOR_THEMSELVES = ("outcome", "document")


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """`handle` is the number that the window gave it, rising in the order of the conversation.

    `sent_at` is aware and on the clock of the person who spoke (its tzinfo is their zone).
    """

    handle: int
    role: str
    from_owner: bool
    content: str
    sent_at: datetime
    kind: MessageKind = "said"

    @property
    def is_owner_speech(self) -> bool:
        return self.from_owner and self.kind == "said"


@dataclass(frozen=True, slots=True)
class Known:
    """A fact that the reflector was shown under a handle that exists only in that call."""

    handle: int
    fact: UUID
    state: State
    statement: str
    kind: Kind = Kind.SEMANTIC


@dataclass(frozen=True, slots=True)
class Stored:
    """A fact of the same scope whose normalised statement has a known hash."""

    fact: UUID
    state: State


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A fact near a candidate by cosine; used only where no reflector can tell them apart."""

    fact: UUID
    state: State
    statement: str
    cosine: float


def nothing_was_purged(statement: str) -> bool:
    return False


# Below this the observer itself is in doubt; the queue is the place for doubts.
SURE = 0.8


@dataclass(frozen=True, slots=True)
class PolicyContext:
    """Everything a decision may depend on besides the candidate itself.

    `same` maps `text_hash` of a statement to the fact that holds it, active before pending before
    rejected, in every scope that a fact of this conversation would be read beside.
    `recalled` are statements that recall put into this conversation, `headers` the lines at the
    head of a digest that its sender's program wrote.
    """

    messages: Mapping[int, WindowMessage]
    now: datetime
    same: Mapping[str, Stored] = field(default_factory=dict)
    is_tombstoned: Callable[[str], bool] = nothing_was_purged
    recalled: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    rule_based: bool = False
    at_cap: bool = False
    # How sure the observer must be of an event; None: the owner decides over each.
    sure: float | None = SURE


@dataclass(frozen=True, slots=True)
class Passed:
    """A candidate that the reflector may see. `withheld` is what already keeps it from active."""

    candidate: Candidate
    withheld: tuple[Withheld, ...] = ()


@dataclass(frozen=True, slots=True)
class Dropped:
    """`statement` holds no credential: it is redacted before anyone keeps it."""

    gate: Gate
    detail: str
    statement: str


@dataclass(frozen=True, slots=True)
class Create:
    """`details` says what was found, for a reason that has a finding: DIRECTIVE: "from now on".

    `beside` is a fact that looks like it, for the review card.
    """

    candidate: Candidate
    state: State
    withheld: tuple[Withheld, ...]
    details: Mapping[Withheld, str] = field(default_factory=dict)
    beside: UUID | None = None


@dataclass(frozen=True, slots=True)
class Supersede:
    """A pending correction of active facts."""

    candidate: Candidate
    targets: tuple[UUID, ...]
    withheld: tuple[Withheld, ...]
    details: Mapping[Withheld, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reinforce:
    """An active fact said again: evidence and `last_confirmed_at`, no new row.

    `confirmed_at` is the time of the newest message of the owner's that says it.
    """

    candidate: Candidate
    target: UUID
    confirmed_at: datetime


@dataclass(frozen=True, slots=True)
class AddEvidence:
    """A pending fact proposed again."""

    candidate: Candidate
    target: UUID


Screened = Passed | Reinforce | AddEvidence | Dropped
Outcome = Create | Supersede | Reinforce | AddEvidence | Dropped
