"""Pending corrections: which facts they would supersede, and what becomes of them meanwhile.

A database trigger keeps `CorrectionTarget.open`: true while the correction waits and its target is
active. The rows of a decided correction stay, so that taking the decision back finds them.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from memory.lifecycle.rows import (
    LIVE,
    copy_sources,
    draft_of,
    has_twin,
    insert,
    move,
    same_text,
    set_aside,
    withhold,
)
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


def aim(correction: Fact, targets: Iterable[Fact]) -> None:
    """Points a pending correction at its targets. An open correction of any of them gives way."""
    for target in targets:
        rival = open_correction_of(target)
        if rival is not None:
            give_way(rival, correction)
        CorrectionTarget.objects.create(
            owner_id=correction.owner_id, fact=correction, target=target
        )


def open_correction_of(target: Fact) -> Fact | None:
    row = target.corrections.filter(open=True).select_related("fact").first()
    return row.fact if row else None


def give_way(older: Fact, newer: Fact) -> None:
    """The newer, different correction stands for both; the evidence of the older one is kept."""
    copy_sources(older, newer)
    set_aside(older, ArchivedReason.REPLACED)


def open_targets(correction: Fact) -> list[Fact]:
    """What a pending correction would replace."""
    return list(Fact.objects.filter(corrections__fact=correction, corrections__open=True))


def replace(targets: Sequence[Fact], successor: Fact) -> None:
    """Archives the targets behind their active successor, and turns what waited on them to it.

    The rule of one live text per scope waits until all is done: a successor may differ from its
    target by no more than case or punctuation.
    """
    why = ArchivedReason.SUPERSEDED if len(targets) == 1 else ArchivedReason.MERGED
    for target in targets:
        if target.agent_id == successor.agent_id:
            CorrectionTarget.objects.get_or_create(
                owner_id=target.owner_id, fact=successor, target=target
            )
        waiting = open_correction_of(target)
        set_aside(target, why, successor)
        if waiting is not None and waiting.pk != successor.pk:
            follow(waiting, target, successor)


def follow(correction: Fact, old: Fact, head: Fact) -> None:
    if correction.agent_id != head.agent_id:
        _change_scope(correction, old, head)
        return
    rival = open_correction_of(head)
    if rival is not None and rival.pk != correction.pk:
        older, newer = sorted((correction, rival), key=lambda fact: (fact.created_at, fact.pk))
        give_way(older, newer)
        if newer.pk != correction.pk:
            return
    retarget(correction, old, head)


def retarget(correction: Fact, old: Fact, head: Fact) -> None:
    rows = CorrectionTarget.objects.filter(fact=correction)
    if rows.filter(target=head).exists():
        rows.filter(target=old).delete()
    else:
        rows.filter(target=old).update(target=head)


def _change_scope(correction: Fact, old: Fact, head: Fact) -> None:
    """Its target went to another assistant. A fact never does, so a copy of the correction goes.

    One that still waits on others stays with those.
    """
    if len(open_targets(correction)) > 0:
        let_go(correction, old)
        return
    twin = same_text(head.owner, head.agent, correction.statement).filter(state__in=LIVE).first()
    if twin is not None:
        copy_sources(correction, twin)
        set_aside(correction, ArchivedReason.DUPLICATE)
        return
    copy = insert(
        owner=head.owner,
        agent=head.agent,
        draft=draft_of(
            correction,
            withheld_for=tuple(correction.withheld_for),
            withheld_detail=correction.withheld_detail,
        ),
        at=timezone.now(),
    )
    give_way(correction, copy)
    aim(copy, [head])


def release(target: Fact) -> None:
    """The target goes without a successor: what would have corrected it is a plain candidate."""
    waiting = open_correction_of(target)
    if waiting is not None:
        let_go(waiting, target)


def send_back(fact: Fact, **changes: Any) -> Fact:
    """active → pending. It stands for nothing now, so there is nothing in it to correct."""
    for row in fact.corrections.select_related("fact"):
        if row.fact.state == State.PENDING:
            let_go(row.fact, fact)
        else:
            row.delete()
    return move(fact, to=State.PENDING, **changes)


def let_go(correction: Fact, target: Fact) -> None:
    CorrectionTarget.objects.filter(fact=correction, target=target).delete()
    withhold(correction, Withheld.TARGET_GONE)


def settle(correction: Fact) -> None:
    """Before a fact waits again: follows each target to the head of its chain, or lets it go."""
    for row in correction.targets.select_related("target"):
        head = overtaken_by(row.target)
        if head is None or head.agent_id != correction.agent_id or open_correction_of(head):
            let_go(correction, row.target)
        elif head.pk != row.target_id:
            retarget(correction, row.target, head)


def head_of(fact: Fact) -> Fact | None:
    """The active fact at the end of the chain, or None when the chain ends in no active one."""
    end = end_of_chain(fact)
    return end if end.state == State.ACTIVE else None


def end_of_chain(fact: Fact) -> Fact:
    while fact.superseded_by is not None:
        fact = fact.superseded_by
    return fact


def in_place_of(fact: Fact) -> list[Fact]:
    """Active facts of its scope that stand where what the fact had once replaced stood."""
    found: dict[UUID, Fact] = {}
    todo, seen = [fact], {fact.pk}
    while todo:
        for row in todo.pop().targets.select_related("target"):
            head = head_of(row.target)
            if head is not None and head.agent_id == fact.agent_id:
                found[head.pk] = head
            elif row.target_id not in seen:
                todo.append(row.target)
            seen.add(row.target_id)
    found.pop(fact.pk, None)
    return list(found.values())


def overtaken_by(fact: Fact) -> Fact | None:
    """The active fact that stands where this one stood: itself, its successor, or one that had
    replaced it before and is back."""
    head = head_of(fact)
    todo, seen = [fact], {fact.pk}
    while head is None and todo:
        for row in todo.pop().corrections.select_related("fact"):
            if row.fact.state == State.ACTIVE:
                head = row.fact
            elif row.fact_id not in seen:
                todo.append(row.fact)
            seen.add(row.fact_id)
    return head


def await_end_of_chain(returning: Fact, end: Fact) -> None:
    """A fact came back while its successor waits in the queue: that would replace it again."""
    if (
        end.state == State.PENDING
        and end.agent_id == returning.agent_id
        and open_correction_of(returning) is None
    ):
        aim(end, [returning])


def bring_back(successor: Fact, *, but_text: str = "") -> list[Fact]:
    """After a fact has stopped being active: what it had replaced is active again, as it was.

    A predecessor whose place is taken, or whose text is live by now, stays archived; so does one
    with the hash `but_text`.
    """
    back = []
    replaced = successor.predecessors.filter(state=State.ARCHIVED).exclude(
        Q(text_hash=but_text) | Q(archived_reason=ArchivedReason.PURGED)
    )
    for old in replaced.select_related("owner", "agent"):
        if overtaken_by(old) is None and not has_twin(old):
            leave_one_correction(old, successor)
            back.append(move(old, to=State.ACTIVE))
    return back


def leave_one_correction(returning: Fact, preferred: Fact | None = None) -> None:
    """Before a fact is active again: of the corrections that wait on it, one may open."""
    waiting = returning.corrections.filter(fact__state=State.PENDING).select_related("fact")
    rows = sorted(waiting, key=lambda row: (row.fact == preferred, row.fact.created_at))
    for row in rows[:-1]:
        let_go(row.fact, returning)


def defer_text_rule() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS fact_one_live_per_text DEFERRED")


def check_text_rule() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS fact_one_live_per_text IMMEDIATE")
