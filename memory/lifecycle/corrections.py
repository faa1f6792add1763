"""Pending corrections: which facts they would supersede, and what becomes of them meanwhile."""

from collections.abc import Sequence

from django.db import connection

from memory.lifecycle.rows import move_sources, set_aside, withhold
from memory.lifecycle.values import Conflict, NotAllowed
from memory.models import CorrectionTarget, Fact
from memory.vocabulary import ArchivedReason, State, Withheld


def common_scope(targets: Sequence[Fact]) -> Fact:
    """One of the targets, all of which are active and of one owner and agent."""
    first = targets[0]
    for target in targets:
        if (target.owner_id, target.agent_id) != (first.owner_id, first.agent_id):
            raise NotAllowed("A correction replaces facts of one owner and one scope.")
        if target.state != State.ACTIVE:
            raise Conflict(target)
    return first


def aim(correction: Fact, targets: Sequence[Fact]) -> None:
    """Points a pending correction at its targets. An open correction of any of them gives way."""
    for target in targets:
        rival = open_correction_of(target)
        if rival is not None and rival.pk != correction.pk:
            give_way(rival, correction)
        CorrectionTarget.objects.create(
            owner_id=correction.owner_id, fact=correction, target=target
        )


def open_correction_of(target: Fact) -> Fact | None:
    row = target.corrections.filter(open=True).select_related("fact").first()
    return row.fact if row else None


def give_way(older: Fact, newer: Fact) -> None:
    """The newer, different correction stands for both; the evidence of the older one is kept."""
    move_sources(older, newer)
    set_aside(older, ArchivedReason.REPLACED)


def open_targets(correction: Fact) -> list[Fact]:
    return list(Fact.objects.filter(corrections__fact=correction, corrections__open=True))


def replace(targets: Sequence[Fact], successor: Fact, why: ArchivedReason) -> None:
    """Archives the targets behind their active successor, and turns what waited on them to it.

    The rule of one live text per scope waits until all is done: a successor may differ from its
    target by no more than case or punctuation.
    """
    for target in targets:
        waiting = open_correction_of(target)
        set_aside(target, why, successor)
        if waiting is not None and waiting.pk != successor.pk:
            _follow(waiting, target, successor)


def _follow(correction: Fact, old: Fact, head: Fact) -> None:
    rival = open_correction_of(head)
    if rival is not None and rival.pk != correction.pk:
        give_way(correction, rival)
        return
    CorrectionTarget.objects.filter(fact=correction, target=head).delete()
    CorrectionTarget.objects.filter(fact=correction, target=old).update(target=head)


def release(target: Fact) -> None:
    """The target is gone without a successor: what would have corrected it is a plain candidate."""
    waiting = open_correction_of(target)
    if waiting is not None:
        CorrectionTarget.objects.filter(fact=waiting, target=target).delete()
        withhold(waiting, Withheld.TARGET_GONE)


def settle(correction: Fact) -> None:
    """Before a fact waits again: follows each target to the head of its chain, or lets it go."""
    for row in correction.targets.select_related("target"):
        head = head_of(row.target)
        taken = head is not None and (
            correction.targets.filter(target=head).exclude(pk=row.pk).exists()
            or open_correction_of(head) not in (None, correction)
        )
        if head is None or taken or head.pk == correction.pk:
            row.delete()
            withhold(correction, Withheld.TARGET_GONE)
        elif head.pk != row.target_id:
            CorrectionTarget.objects.filter(pk=row.pk).update(target=head)


def head_of(fact: Fact) -> Fact | None:
    """The active fact at the end of the chain, or None when the chain ends in no active one."""
    step: Fact | None = fact
    while step is not None and step.superseded_by_id is not None:
        step = step.superseded_by
    return step if step is not None and step.state == State.ACTIVE else None


def defer_text_rule() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS fact_one_live_per_text DEFERRED")


def check_text_rule() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS fact_one_live_per_text IMMEDIATE")
