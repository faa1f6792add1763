"""The end of an assistant: what it knew goes to another, in one transaction."""

from dataclasses import dataclass

from django.db.models import Q
from django.utils import timezone

from agents.audit import Actor
from agents.models import Agent, ApiKey, User
from memory.lifecycle.heirs import inherit, wait_there
from memory.lifecycle.rows import LIVE, need_person, transition
from memory.lifecycle.values import NotAllowed
from memory.models import Case, Fact
from memory.rules import writing
from memory.vocabulary import State


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
            inherit(fact, heir, actor)
        # Corrections went along with what they correct.
        pending = _facts(row, State.PENDING)
        for fact in pending:
            wait_there(fact, heir)
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
