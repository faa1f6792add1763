"""The steps over rules: the only writer of them. Each is a person's, one transaction, serialised
with the owner's other transitions, and told to the audit trail. The database refuses whatever they
would not do (memory/sql/0020_rules.sql)."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from agents.audit import Actor
from agents.models import Agent, User
from conversations.models import Import
from memory.lifecycle.rows import need_person, scope_for, transition
from memory.lifecycle.values import NotAllowed, Scope
from memory.models import Fact, Rule
from memory.rules.scope import rules_of, standing
from memory.rules.screen import fault, hash_of, tidy
from memory.rules.values import Overtaken, SameRule, TooMany, Unfit
from memory.text import normalise
from memory.vocabulary import RuleOrigin

# Standing ones of an owner. Some ten fill the budget.
MOST = 200


def write(
    *,
    owner: User,
    agent: Agent | None,
    text: str,
    actor: Actor,
    enabled: bool = True,
    origin: RuleOrigin = RuleOrigin.WRITTEN,
    candidate: Fact | None = None,
    imported_by: Import | None = None,
    reason: str = "",
) -> Rule:
    """A new rule behind all others. Raises NotAllowed, Unfit, SameRule, TooMany."""
    text = _fit(text)
    with transition(owner, actor, reason):
        author = _writer(actor, owner)
        others = list(standing(rules_of(owner)))
        if len(others) >= MOST:
            raise TooMany(MOST)
        scope_for(owner, Scope(agent))
        _refuse_twin(others, agent, text)
        return Rule.objects.create(
            owner=owner,
            agent=agent,
            text=text,
            text_hash=hash_of(text),
            enabled=enabled,
            place=1 + max((other.place for other in others), default=0),
            origin=origin,
            author=author,
            candidate=candidate,
            imported_by=imported_by,
        )


def reword(
    *, rule: Rule, text: str, actor: Actor, scope: Scope | None = None, reason: str = ""
) -> Rule:
    """A new wording, or the same one for other assistants, in the place of one that stands. Where
    nothing is new, the rule itself.

    Raises NotAllowed, Unfit, SameRule, Overtaken.
    """
    text = _fit(text)
    with transition(rule.owner, actor, reason):
        author = _writer(actor, rule.owner)
        row = _standing(rule)
        agent = scope_for(row.owner, scope) if scope else row.agent
        if (text, agent) == (row.text, row.agent):
            return row
        others = standing(rules_of(row.owner)).exclude(pk=row.pk)
        _refuse_twin(list(others), agent, text)
        return _replace(row, text, agent, author)


def inherit(*, agent: Agent, heir: Agent, actor: Actor, reason: str = "") -> int:
    """The rules of an assistant that is deleted stand for its heir, in their places and switched on
    or off as they were; one that the heir has in the same words is taken out. How many went along.
    Raises NotAllowed."""
    with transition(agent.owner, actor, reason):
        author = _writer(actor, agent.owner)
        others = list(standing(rules_of(agent.owner)))
        for row in (other for other in others if other.agent_id == agent.pk):
            try:
                _refuse_twin(others, heir, row.text)
            except SameRule:
                _change(row, retired_at=timezone.now())
            else:
                _replace(row, row.text, heir, author)
        return sum(other.agent_id == agent.pk for other in others)


def switch(*, rule: Rule, enabled: bool, actor: Actor, reason: str = "") -> Rule:
    """Raises NotAllowed, Overtaken."""
    with transition(rule.owner, actor, reason or f"switched {'on' if enabled else 'off'}"):
        _writer(actor, rule.owner)
        row = _standing(rule)
        return row if row.enabled == enabled else _change(row, enabled=enabled)


def shift(*, rule: Rule, steps: int, actor: Actor, reason: str = "") -> Rule:
    """So many places down, or up where negative; at an end it stays there.

    Raises NotAllowed, Overtaken.
    """
    with transition(rule.owner, actor, reason or "moved"):
        _writer(actor, rule.owner)
        row = _standing(rule)
        order = list(standing(rules_of(row.owner)))
        order.remove(row)
        before = sum(1 for other in order if _key(other) < _key(row))
        order.insert(max(0, min(before + steps, len(order))), row)
        _renumber(order)
        return Rule.objects.select_related("owner", "agent").get(pk=row.pk, owner=row.owner)


def retire(*, rule: Rule, actor: Actor, reason: str = "") -> Rule:
    """Takes it out of the list; `restore` puts it back. Raises NotAllowed, Overtaken."""
    with transition(rule.owner, actor, reason or "taken out"):
        _writer(actor, rule.owner)
        return _change(_standing(rule), retired_at=timezone.now())


def restore(*, rule: Rule, actor: Actor, reason: str = "") -> Rule:
    """Raises NotAllowed, SameRule, TooMany, Overtaken (replaced, or never taken out)."""
    with transition(rule.owner, actor, reason or "put back"):
        author = _writer(actor, rule.owner)
        row = _fresh(rule)
        if row.retired_at is None:
            raise Overtaken(row)
        others = list(standing(rules_of(row.owner)))
        if len(others) >= MOST:
            raise TooMany(MOST)
        agent = row.agent.acting() if row.agent else None
        _refuse_twin(others, agent, row.text)
        _change(row, retired_at=None)
        # Whose assistant was deleted since, it is put back for the one that stands for it.
        return row if agent == row.agent else _replace(row, row.text, agent, author)


def _replace(row: Rule, text: str, agent: Agent | None, author: User) -> Rule:
    successor = Rule.objects.create(
        owner=row.owner,
        agent=agent,
        text=text,
        text_hash=hash_of(text),
        enabled=row.enabled,
        place=row.place,
        origin=RuleOrigin.WRITTEN,
        author=author,
    )
    _change(row, superseded_by=successor)
    return successor


def _writer(actor: Actor, owner: User) -> User:
    """A key may stand for a person elsewhere; here it does not. Raises NotAllowed."""
    if not actor.name.startswith(("person:", "command:")):
        raise NotAllowed("Only a person writes or changes a rule, in a browser.")
    return need_person(actor, owner)


def _fit(text: str) -> str:
    text = tidy(text)
    if why := fault(text):
        raise Unfit(why)
    return text


def _refuse_twin(others: Sequence[Rule], agent: Agent | None, text: str) -> None:
    same = normalise(text)
    for other in others:
        if other.agent_id == (agent.pk if agent else None) and normalise(other.text) == same:
            raise SameRule(other)


def _fresh(rule: Rule) -> Rule:
    rows = Rule.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("owner", "agent").get(pk=rule.pk, owner=rule.owner_id)


def _standing(rule: Rule) -> Rule:
    row = _fresh(rule)
    if not row.stands:
        raise Overtaken(row)
    return row


def _change(row: Rule, **values: Any) -> Rule:
    for name, value in values.items():
        setattr(row, name, value)
    row.save(update_fields=list(values))
    return row


def _key(rule: Rule) -> tuple[Any, ...]:
    return rule.place, rule.created_at, rule.pk


def _renumber(order: Sequence[Rule]) -> None:
    for place, other in enumerate(order, start=1):
        if other.place != place:
            _change(other, place=place)
