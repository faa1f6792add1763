"""Candidates in the same words: the first one stays, with the evidence of all."""

from datetime import datetime

from agents.audit import POLICY, Actor
from agents.models import User
from memory import lifecycle
from memory.consolidation.journal import carry_out, taken_back
from memory.consolidation.twins import aims_of, twins
from memory.consolidation.values import Change
from memory.models import ConsolidationChange
from memory.scope import facts_of
from memory.vocabulary import State

STAGE = "dedupe_pending"
WHY = "An older candidate says the same in the same words; it has the evidence of both."


def run(*, owner: User, now: datetime, dry_run: bool = False) -> list[Change]:
    """pending → archived, the newer of two."""
    known = taken_back(owner, STAGE)
    waiting = facts_of(owner).filter(state=State.PENDING)
    planned = [
        Change(STAGE, "archive", WHY, facts=(newer,), sources=(older,))
        for older, newer in twins(waiting, aims_of(owner))
        if frozenset((newer,)) not in known
    ]

    def still(change: Change) -> bool:
        return True  # checked by the step itself, which refuses what are no twins any more

    def do(change: Change) -> Change:
        lifecycle.absorb(
            twin=facts_of(owner).get(pk=change.facts[0]),
            into=facts_of(owner).get(pk=change.sources[0]),
            actor=POLICY,
            reason=WHY,
        )
        return change

    return carry_out(owner=owner, now=now, planned=planned, still=still, do=do, dry_run=dry_run)


def undo(change: ConsolidationChange, actor: Actor) -> None:
    """Raises LifecycleError. The older one keeps the evidence: it says the same."""
    fact = facts_of(change.owner).get(pk=change.facts[0])
    lifecycle.restore(fact=fact, actor=actor, reason="consolidation undone")
