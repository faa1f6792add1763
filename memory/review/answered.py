"""What was said about facts that faded: kept in the session, so that it can be taken back after
leaving the page. What changed into another fact is among the decisions."""

from dataclasses import dataclass
from uuid import UUID

from agents.desk import DeskRequest
from memory.models import Fact
from memory.scope import facts_of
from memory.vocabulary import ArchivedReason, State

# Why, as the trail has it: what Undo looks for.
STILL, ENDED, LATER = "still true", "no longer true", "asked for later"
SAID = {STILL: "Still true", ENDED: "No longer true", LATER: "Asked again later"}
KEPT = 20
_NAME = "reconfirm_answers"


@dataclass(frozen=True, slots=True)
class Answered:
    fact: Fact
    reason: str

    @property
    def what(self) -> str:
        return SAID[self.reason]

    @property
    def stands(self) -> bool:
        if self.reason == ENDED:
            return self.fact.archived_reason == ArchivedReason.ENDED
        return self.fact.state == State.ACTIVE


def remember(request: DeskRequest, fact: Fact, reason: str) -> None:
    forget(request, fact)
    request.session[_NAME] = [(str(fact.pk), reason), *_kept(request)][:KEPT]


def forget(request: DeskRequest, fact: Fact) -> None:
    request.session[_NAME] = [row for row in _kept(request) if row[0] != str(fact.pk)]


def answered(request: DeskRequest) -> list[Answered]:
    """The latest first."""
    kept = {UUID(pk): reason for pk, reason in _kept(request)}
    if not kept:
        return []
    found = facts_of(request.user).in_bulk(list(kept))
    rows = [Answered(found[pk], reason) for pk, reason in kept.items() if pk in found]
    return [row for row in rows if row.stands]


def _kept(request: DeskRequest) -> list[tuple[str, str]]:
    return [(pk, reason) for pk, reason in request.session.get(_NAME, [])]
