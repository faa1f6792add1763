"""Before a purge and after it, inside the owner's transition: what hangs on the facts that go."""

from collections.abc import Iterable
from uuid import UUID

from memory.lifecycle.corrections import bring_back, head_of, let_go
from memory.lifecycle.rows import fresh
from memory.models import CorrectionTarget, Fact


def release_corrections(facts: Iterable[UUID]) -> None:
    """What would have replaced one of them, and stays, is a plain candidate."""
    going = list(facts)
    waiting = CorrectionTarget.objects.filter(target__in=going, open=True)
    for row in waiting.exclude(fact__in=going).select_related("fact", "target"):
        let_go(row.fact, row.target)


def in_force(facts: Iterable[UUID]) -> list[Fact]:
    """Those that are active, or whose chain ends in an active one."""
    rows = Fact.objects.filter(pk__in=list(facts)).select_related("superseded_by")
    return [row for row in rows if head_of(row) is not None]


def stand_again(merges: Iterable[Fact]) -> None:
    """A merge went because one of its members did; the others are active again."""
    for row in merges:
        bring_back(fresh(row))
