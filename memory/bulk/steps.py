"""What bulk repair can do to one fact: the same steps as everywhere."""

from collections.abc import Callable
from dataclasses import dataclass

from agents.audit import Actor
from memory import lifecycle
from memory.extraction.again import read_again
from memory.lifecycle import NotAllowed
from memory.models import BulkJob, Fact, FactEmbedding
from memory.purge.execute import purge
from memory.purge.selection import chosen
from memory.rules import from_candidate
from memory.vocabulary import ArchivedReason, Repair, State

Take = Callable[[Fact, Actor, BulkJob], object]
EVERY = frozenset(State)


@dataclass(frozen=True)
class Step:
    """`starts`: the states it acts upon; facts in any other are refused."""

    take: Take
    starts: frozenset[State]
    is_final: bool = False


def _confirm(fact: Fact, actor: Actor, job: BulkJob) -> None:
    lifecycle.confirm(fact=fact, actor=actor, reason=job.reason)


def _reject(fact: Fact, actor: Actor, job: BulkJob) -> None:
    lifecycle.reject(fact=fact, actor=actor, reason=job.reason)


def _archive(fact: Fact, actor: Actor, job: BulkJob) -> None:
    lifecycle.archive(fact=fact, why=ArchivedReason.FORGOTTEN, actor=actor, reason=job.reason)


def _restore(fact: Fact, actor: Actor, job: BulkJob) -> None:
    lifecycle.restore(fact=fact, actor=actor, reason=job.reason)


def _reconsider(fact: Fact, actor: Actor, job: BulkJob) -> None:
    from_candidate.take_back(fact=fact, actor=actor, reason=job.reason)


def _move(fact: Fact, actor: Actor, job: BulkJob) -> None:
    if job.agent is None:
        raise NotAllowed("Name the assistant that the facts go to.")
    lifecycle.promote(fact=fact, agent=job.agent, actor=actor, reason=job.reason)


def _promote(fact: Fact, actor: Actor, job: BulkJob) -> None:
    lifecycle.promote(fact=fact, agent=None, actor=actor, reason=job.reason)


def _reembed(fact: Fact, actor: Actor, job: BulkJob) -> None:
    """Without a vector it is found by its words, until the worker has made a new one."""
    FactEmbedding.objects.filter(owner=fact.owner_id, fact=fact).delete()


def _read_again(fact: Fact, actor: Actor, job: BulkJob) -> None:
    if fact.conversation is None:
        raise NotAllowed("It came from no conversation.")
    read_again(conversation=fact.conversation, actor=actor)


def _purge(fact: Fact, actor: Actor, job: BulkJob) -> None:
    if fact.archived_reason == ArchivedReason.PURGED:
        raise NotAllowed("It was purged before.")
    purge(selection=chosen(owner=fact.owner, facts=(fact.pk,)), actor=actor)


STEPS: dict[Repair, Step] = {
    Repair.CONFIRM: Step(_confirm, frozenset({State.PENDING})),
    Repair.REJECT: Step(_reject, frozenset({State.PENDING})),
    Repair.ARCHIVE: Step(_archive, frozenset({State.PENDING, State.ACTIVE})),
    Repair.RESTORE: Step(_restore, frozenset({State.ARCHIVED})),
    Repair.RECONSIDER: Step(_reconsider, frozenset({State.REJECTED})),
    Repair.MOVE: Step(_move, frozenset({State.ACTIVE})),
    Repair.PROMOTE: Step(_promote, frozenset({State.ACTIVE})),
    Repair.REEMBED: Step(_reembed, EVERY),
    Repair.READ_AGAIN: Step(_read_again, EVERY),
    Repair.PURGE: Step(_purge, EVERY, is_final=True),
}
