"""Candidates that came the same way, and which of them are like a given one."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.models import Evidence, Fact
from memory.text import normalise
from memory.text.words import words

# A word in common says little, two say what it is about.
SHARED = 2
SHORTEST = 4  # letters of a word that counts


def same_source(facts: QuerySet[Fact], fact: Fact) -> QuerySet[Fact]:
    """Those of its conversation; without one, what its import or its client brought."""
    if fact.conversation_id is not None:
        return facts.filter(conversation=fact.conversation_id)
    where = Q(conversation__isnull=True, origin=fact.origin)
    return facts.filter(where, imported_by=fact.imported_by_id, client=fact.client_id)


def like(fact: Fact, others: Iterable[Fact]) -> set[UUID]:
    """Those that rest on one of its messages, or share two words of substance with it."""
    others = list(others)
    messages = Evidence.objects.filter(fact=fact).values("message")
    cited = Evidence.objects.filter(fact__in=others, message__in=messages)
    rests = set(cited.values_list("fact_id", flat=True))
    mine = substance(fact.statement)
    alike = {other.pk for other in others if len(mine & substance(other.statement)) >= SHARED}
    return {fact.pk} | rests | alike


def substance(text: str) -> set[str]:
    found = (word for word in words(normalise(text)) if word not in {"user", "user's"})
    return {word for word in found if len(word) >= SHORTEST or not word.isascii()}
