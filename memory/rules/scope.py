"""The only way to a queryset of rules. Everything is scoped by owner, then agent."""

from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404

from agents.models import Agent, User
from memory.models import Rule


def rules_of(owner: User) -> QuerySet[Rule]:
    """All wordings of all rules, for the owner's own desk. Raises TypeError for a non-User."""
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    return Rule.objects.filter(owner=owner)


def rule_of(owner: User, rule_id: UUID) -> Rule:
    rule = rules_of(owner).select_related("owner", "agent").filter(pk=rule_id).first()
    if rule is None:
        raise Http404("There is no such rule.")
    return rule


def standing(rules: QuerySet[Rule]) -> QuerySet[Rule]:
    return rules.filter(superseded_by__isnull=True, retired_at__isnull=True)


def rules_for(agent: Agent) -> QuerySet[Rule]:
    """Those in an agent's scope, in their order, whether they stand or not. One that reads the
    facts of others still follows no rule of theirs: reading widens what it knows, not what it is
    told to do. Raises TypeError for anything but an agent."""
    if not isinstance(agent, Agent):
        raise TypeError(f"An agent is needed, not {type(agent).__name__}.")
    mine = Q(agent=agent)
    if agent.reads != Agent.Reads.OWN:
        mine |= Q(agent__isnull=True)
    return rules_of(agent.owner).filter(mine)


def texts_for(agent: Agent) -> list[str]:
    """What recall tells it on every turn: to say it again teaches nothing."""
    return list(riding(agent).values_list("text", flat=True))


def riding(agent: Agent) -> QuerySet[Rule]:
    """What rides on each of its turns, as far as the budget goes."""
    return standing(rules_for(agent)).filter(enabled=True)
