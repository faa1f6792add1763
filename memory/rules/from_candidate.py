"""A candidate that reads like an instruction becomes a rule, in the owner's words; and back."""

from agents.audit import Actor
from agents.models import Agent
from memory import lifecycle
from memory.lifecycle.rows import transition
from memory.models import Fact, Rule
from memory.rules import writing
from memory.vocabulary import RuleOrigin

MADE = "made a rule"


def make(*, fact: Fact, text: str, agent: Agent | None, actor: Actor, seen: str = "") -> Rule:
    """The rule stands, and the candidate is rejected: as a fact it is not proposed again. One
    transaction. `seen` is the version that the person looked at.

    Raises NotAllowed, Conflict, Stale, Unfit, SameRule, TooMany.
    """
    with transition(fact.owner, actor, MADE):
        row = lifecycle.reject(fact=fact, actor=actor, reason=MADE, seen=seen)
        return writing.write(
            owner=row.owner,
            agent=agent,
            text=text,
            actor=actor,
            origin=RuleOrigin.REVIEW,
            candidate=row,
            reason=MADE,
        )


def take_back(*, fact: Fact, actor: Actor, reason: str = "") -> Fact:
    """The candidate waits again, and the rule that was made of it is taken out, in the wording that
    it has by now: to decide anew is to take that decision back. Every page, key and repair that
    reconsiders a fact comes here. Raises NotAllowed, Conflict, Duplicate."""
    with transition(fact.owner, actor, reason):
        returned = lifecycle.reconsider(fact=fact, actor=actor, reason=reason)
        for rule in standing(fact):
            writing.retire(rule=rule, actor=actor, reason=reason)
        return returned


def standing(fact: Fact) -> list[Rule]:
    """What was made of it and stands, each in its last wording."""
    made = Rule.objects.filter(owner=fact.owner, candidate=fact).select_related("superseded_by")
    return [head for rule in made if (head := last_wording(rule)).stands]


def last_wording(rule: Rule) -> Rule:
    while rule.superseded_by is not None:
        rule = rule.superseded_by
    return rule
