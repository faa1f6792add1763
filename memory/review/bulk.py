"""One decision over many candidates: each a transaction of its own, each with its own outcome."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from memory.lifecycle import Conflict, LifecycleError, Stale
from memory.models import Fact

# One by one, within a request.
LIMIT = 200


class Status(StrEnum):
    DONE = "done"
    DECIDED = "already decided elsewhere"
    CHANGED = "changed since you looked"
    FAILED = "not possible"


@dataclass(frozen=True, slots=True)
class Outcome:
    """`fact` is what stands there now."""

    fact: Fact
    status: Status
    why: str = ""

    @property
    def is_done(self) -> bool:
        return self.status == Status.DONE


Step = Callable[[Fact, str], Fact]  # with the version that the person looked at


def decide(facts: Sequence[Fact], seen: Mapping[UUID, str], step: Step) -> list[Outcome]:
    """In the order given; what fails stops nothing else."""
    return [_one(fact, seen.get(fact.pk, ""), step) for fact in facts]


def _one(fact: Fact, seen: str, step: Step) -> Outcome:
    try:
        return Outcome(step(fact, seen), Status.DONE)
    except Stale as refusal:
        return Outcome(refusal.fact, Status.CHANGED, str(refusal))
    except Conflict as refusal:
        return Outcome(refusal.fact, Status.DECIDED, str(refusal))
    except LifecycleError as refusal:
        return Outcome(fact, Status.FAILED, str(refusal))
