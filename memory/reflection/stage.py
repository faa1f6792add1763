"""The stage that reflects: few insights, each of them waiting with the facts that it rests on.

No transaction is open while the model thinks; what it cites is looked at again in the one that
writes.
"""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db import transaction

from agents.audit import POLICY, Actor
from agents.gate import require_on
from agents.languages import instruction
from agents.models import User
from memory import lifecycle, llm
from memory.consolidation.journal import Journal, journal_of
from memory.consolidation.values import Change
from memory.extraction.lease import leased, renew
from memory.extraction.prompts import prompt
from memory.extraction.windows import escape, fenced, new_nonce
from memory.lifecycle import Draft, Duplicate, Tombstoned
from memory.lifecycle.rows import transition
from memory.models import ConsolidationChange, Derivation, Fact, Reflection
from memory.policy.activation import sensitive_reasons
from memory.reflection.material import Material, concluded_upon, due, recent_events, still_active
from memory.reflection.schema import LEAST_CITED, MOST, Insight, InsightReply, Refusal
from memory.scope import facts_of
from memory.sensitive import credentials
from memory.text import language_config, relative_date
from memory.vocabulary import Kind, Origin, State, Withheld

STAGE = "reflect"
NOTHING, LOOK, PROPOSE, DROP = "nothing", "look", "propose", "drop"
PROMPT = "reflection-v1"
# Insights that wait at a time; more would flood the owner, and none is urgent.
WAITING = 6
NO_MODEL = "No language model is configured, so nothing is concluded."
CONCLUDED = "A conclusion from several facts of one week; it waits for you."


def run(*, owner: User, now: datetime, dry_run: bool = False) -> list[Change]:
    """At most three insights. Raises MemoryOff and LeaseTaken before anything is asked, LlmError
    when the model fails: what was done before it stands.

    A dry run asks no model: it lists the facts that would be looked at.
    """
    with transaction.atomic():
        require_on(owner)
    if not any(map(llm.configured, (llm.GENERAL, llm.PRIVATE))):
        return [Change(STAGE, NOTHING, NO_MODEL, reversible=False)]
    found = due(owner, now)
    if dry_run:
        return [_would_look(material) for material in found]
    journal = journal_of(owner, now)
    before = len(journal.noted)
    room = min(MOST, WAITING - _waiting(owner))
    for material in found:
        if room <= 0:
            break
        room -= _reflect(journal, material, room)
    return journal.noted[before:]


def undo(change: ConsolidationChange, actor: Actor) -> None:
    """Raises LifecycleError. What was taken back is not concluded again."""
    insight = facts_of(change.owner).get(pk=change.facts[0])
    lifecycle.reject(fact=insight, actor=actor, reason="consolidation undone")


def _waiting(owner: User) -> int:
    return facts_of(owner).filter(state=State.PENDING, origin=Origin.REFLECTION).count()


def _would_look(material: Material) -> Change:
    return Change(
        STAGE,
        LOOK,
        "Facts of this week would be looked at together.",
        sources=tuple(fact.pk for fact in material.facts.values()),
        reversible=False,
        detail={"facts": len(material.facts)},
    )


def _reflect(journal: Journal, material: Material, room: int) -> int:
    """How many insights were born."""
    with leased(journal.owner) as lease:
        renew(lease)
        told = prompt(PROMPT) + instruction(journal.owner)
        reply = journal.count(
            lambda: llm.complete(material.route, told, render(material), InsightReply)
        )
        with journal.step("reflection"), transition(journal.owner, POLICY, "reflection"):
            born = _write(journal, material, reply.insights[:room])
            Reflection.objects.update_or_create(
                owner=journal.owner,
                agent=material.agent,
                defaults={"digest": material.digest, "at": journal.now},
            )
    return born


def render(material: Material) -> str:
    nonce = new_nonce()
    facts = (
        f'<fact-{nonce} n="{n}" said="{fact.observed_at:%Y-%m-%d}">'
        f"{escape(fact.statement)}</fact-{nonce}>"
        for n, fact in material.facts.items()
    )
    earlier = (
        f'<insight-{nonce} n="{n}" state="{fact.state}">{escape(fact.statement)}</insight-{nonce}>'
        for n, fact in material.earlier.items()
    )
    return fenced("facts", nonce, facts) + "\n" + fenced("insights", nonce, earlier)


def _write(journal: Journal, material: Material, insights: Iterable[Insight]) -> int:
    """Inside the owner's transition, so that no cited fact changes before the end."""
    active = still_active(journal.owner, material.facts)
    known, rejected = concluded_upon(journal.owner, material.facts)
    born = 0
    for insight in insights:
        cited = _cited(insight, material)
        why_not = _refusal(insight, material, cited, active)
        ids = {fact.pk for fact in cited}
        if why_not is None and any(len(ids & no) >= LEAST_CITED for no in rejected):
            why_not = Refusal.REJECTED
        if why_not is None and ids <= known:
            why_not = Refusal.REPEATED
        fact = None
        if why_not is None:
            fact, why_not = _propose(journal, material, insight, cited)
        if fact is not None:
            known |= ids
            born += 1
        journal.note(_told(fact, why_not, cited))
    return born


def _cited(insight: Insight, material: Material) -> list[Fact]:
    handles = dict.fromkeys(insight.facts)
    return [material.facts[handle] for handle in handles if handle in material.facts]


def _refusal(
    insight: Insight, material: Material, cited: list[Fact], active: set[UUID]
) -> Refusal | None:
    if credentials(insight.statement):
        return Refusal.CREDENTIAL
    if len(cited) < len(set(insight.facts)):
        return Refusal.BAD_HANDLE
    if len(cited) < LEAST_CITED:
        return Refusal.TOO_FEW
    if not all(fact.pk in active for fact in cited):
        return Refusal.SOURCE_GONE
    if insight.same_as is not None:
        earlier = material.earlier.get(insight.same_as)
        if earlier is None:
            return Refusal.BAD_HANDLE
        is_rejected = earlier.state == State.REJECTED
        return Refusal.REJECTED if is_rejected else Refusal.REPEATED
    return Refusal.UNRESOLVED_DATE if relative_date(insight.statement, insight.language) else None


def _propose(
    journal: Journal, material: Material, insight: Insight, cited: list[Fact]
) -> tuple[Fact | None, Refusal | None]:
    try:
        fact = lifecycle.propose(
            owner=journal.owner,
            agent=material.agent,
            draft=_draft(insight, cited),
            actor=POLICY,
            reason="reflection",
        )
    except Duplicate as duplicate:
        is_rejected = duplicate.existing.state == State.REJECTED
        return None, Refusal.REJECTED if is_rejected else Refusal.REPEATED
    except Tombstoned:
        return None, Refusal.TOMBSTONED
    Derivation.objects.bulk_create(
        Derivation(owner=journal.owner, fact=fact, source=source) for source in cited
    )
    return fact, None


def _draft(insight: Insight, cited: list[Fact]) -> Draft:
    """As weak as the weakest fact it rests on, and as old as the newest."""
    statement = " ".join(insight.statement.split())
    reasons = list(sensitive_reasons((statement,)))
    withheld = (Withheld.DERIVED, *(reason for reason, _ in reasons))
    return Draft(
        statement=statement,
        kind=Kind.SEMANTIC,
        origin=Origin.REFLECTION,
        observed_at=max(fact.observed_at for fact in cited),
        confidence=min(insight.confidence, *(fact.confidence for fact in cited)),
        language=language_config(insight.language),
        withheld_for=tuple(dict.fromkeys(withheld)),
        withheld_detail="; ".join(detail for _, detail in reasons if detail)[:200],
        prompt_version=PROMPT,
    )


def _told(fact: Fact | None, why_not: Refusal | None, cited: list[Fact]) -> Change:
    sources = tuple(source.pk for source in cited)
    if fact is not None:
        return Change(STAGE, PROPOSE, CONCLUDED, facts=(fact.pk,), sources=sources)
    assert why_not is not None  # noqa: S101 - one or the other
    why = f"A conclusion was dropped: {why_not.label}."
    detail = {"refusal": why_not.value}
    return Change(STAGE, DROP, why, sources=sources, reversible=False, detail={**detail})


__all__ = ["STAGE", "recent_events", "render", "run", "undo"]
