"""The end of an assistant: what it knew goes to another, in one transaction."""

from dataclasses import dataclass

from django.db.models import Q
from django.utils import timezone

from agents.audit import Actor
from agents.models import Agent, ApiKey, User
from memory.lifecycle.births import take_place
from memory.lifecycle.corrections import replace
from memory.lifecycle.rows import (
    LIVE,
    copy_sources,
    draft_of,
    fresh,
    insert,
    need_person,
    refuse_above_cap,
    same_text,
    set_aside,
    transition,
)
from memory.lifecycle.values import NotAllowed
from memory.models import Case, Fact
from memory.rules import writing
from memory.vocabulary import ArchivedReason, State


@dataclass(frozen=True, slots=True)
class Moved:
    active: int
    pending: int
    cases: int
    keys: int
    rules: int


def retire(*, agent: Agent, heir: Agent, actor: Actor, reason: str = "") -> Moved:
    """Active facts of `agent` are superseded by copies that `heir` reads; pending ones wait there.

    What was rejected or archived stays as it is, on record, as do its conversations and cases: the
    heir reads these, and what is learned from now on goes to it, also for agents that had gone
    before and named this one. Its rules stand for the heir. Its keys are revoked.

    Raises NotAllowed, AtCap.
    """
    owner = agent.owner
    with transition(owner, actor, reason):
        need_person(actor, owner)
        row = _checked(owner, agent, heir)
        active = _facts(row, State.ACTIVE)
        for fact in active:
            _inherit(fact, heir, actor)
        # Corrections went along with what they correct.
        pending = _facts(row, State.PENDING)
        for fact in pending:
            _wait_there(fact, heir)
        its = Q(agent=row) | Q(agent__heir=row)
        cases = Case.objects.filter(its, owner=owner, state__in=LIVE).count()
        now = timezone.now()
        keys = ApiKey.objects.filter(agent=row, revoked_at__isnull=True).update(revoked_at=now)
        rules = writing.inherit(agent=row, heir=heir, actor=actor, reason=reason)
        row.retired_at, row.heir = now, heir
        row.save(update_fields=["retired_at", "heir"])
        Agent.objects.filter(owner=owner, heir=row).update(heir=heir)
        return Moved(len(active), len(pending), cases, keys, rules)


def _checked(owner: User, agent: Agent, heir: Agent) -> Agent:
    both = {
        row.pk: row
        for row in Agent.objects.select_for_update()
        .filter(owner=owner, pk__in=[agent.pk, heir.pk], retired_at__isnull=True)
        .order_by("pk")
    }
    if agent.pk == heir.pk or len(both) != 2:
        raise NotAllowed("Name another assistant of yours, one that is not deleted itself.")
    if both[agent.pk].is_default:
        raise NotAllowed("This is your default assistant. Make another the default one first.")
    return both[agent.pk]


def _facts(agent: Agent, state: State) -> list[Fact]:
    facts = Fact.objects.filter(owner=agent.owner_id, agent=agent, state=state)
    return list(facts.select_related("owner").order_by("pk"))


def _inherit(fact: Fact, heir: Agent, actor: Actor) -> None:
    row, now = fresh(fact), timezone.now()
    twin = same_text(row.owner, heir, row.statement).filter(state__in=LIVE).first()
    if twin is not None and twin.state == State.ACTIVE:
        copy_sources(row, twin)
        replace([row], twin)
        return
    if twin is not None:
        copy_sources(twin, row)
        set_aside(twin, ArchivedReason.DUPLICATE)
    refuse_above_cap(row.owner, heir)
    take_place(targets=[row], agent=heir, draft=draft_of(row), actor=actor, at=now, restated=False)


def _wait_there(fact: Fact, heir: Agent) -> None:
    row = fresh(fact)
    twin = same_text(row.owner, heir, row.statement).filter(state__in=LIVE).first()
    taker = twin or insert(
        owner=row.owner,
        agent=heir,
        draft=draft_of(
            row,
            withheld_for=tuple(row.withheld_for),
            withheld_detail=row.withheld_detail,
            similar_to=row.similar_to,
        ),
        at=timezone.now(),
    )
    copy_sources(row, taker)
    set_aside(row, ArchivedReason.DUPLICATE)
