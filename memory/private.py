"""Which facts only the private route of the language model may see."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from agents.models import User
from memory import llm
from memory.models import Derivation, Evidence, Fact


def sensitive_among(owner: User, facts: Iterable[UUID]) -> set[UUID]:
    """Those that came from a sensitive conversation, by their evidence or by what they conclude."""
    evidence = Evidence.objects.filter(message__conversation__sensitive=True)
    sources = Derivation.objects.filter(fact=OuterRef("pk")).filter(
        Q(source__conversation__sensitive=True) | Exists(evidence.filter(fact=OuterRef("source")))
    )
    rows = Fact.objects.filter(owner=owner, pk__in=list(facts)).filter(
        Q(conversation__sensitive=True)
        | Exists(evidence.filter(fact=OuterRef("pk")))
        | Exists(sources)
    )
    return set(rows.values_list("pk", flat=True))


def route_for_facts(owner: User, facts: Sequence[Fact]) -> tuple[llm.Route | None, list[Fact]]:
    """The route, and the facts that may be shown on it: all of them on the private one, which is
    taken where it is set and needed; else those that are not sensitive."""
    sensitive = sensitive_among(owner, [fact.pk for fact in facts])
    general, private = llm.configured(llm.GENERAL), llm.configured(llm.PRIVATE)
    if private is not None and (sensitive or general is None):
        return private, list(facts)
    shown = [fact for fact in facts if fact.pk not in sensitive]
    return (general, shown) if general is not None else (None, [])
