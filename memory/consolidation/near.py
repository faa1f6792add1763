"""Active facts that may say the same in other words. Finds groups; decides nothing.

Near by meaning where the embedding model knows the language, else by words in common. Facts that
contradict each other are no group: a number, a name or a negation that each has in its own way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Count, Exists, OuterRef, QuerySet

from agents.models import User
from memory import embedding
from memory.models import CorrectionTarget, Fact, FactTerm
from memory.policy.difference import Aspect, differs, shared_words
from memory.scope import facts_of
from memory.text import language_config
from memory.vocabulary import State

NEAREST = 5
MEMBERS = 4
# Measured with MiniLM: pairs of one meaning lie at 0.82 and above, a love and a hate of the same
# thing at 0.80, red and white wine at 0.86, a left and a right knee at 0.98. So this only finds
# what is worth a look; below SURE some words must be shared as well.
COSINE, SURE = 0.81, 0.90
SHARED, SHARED_ALONE = 0.3, 0.75

# The nearest neighbours of some facts within their own scope and kind.
_NEAR = """
    SELECT a.fact_id, b.fact_id, 1 - b.distance
    FROM memory_factembedding a
    JOIN memory_fact mine ON mine.id = a.fact_id
    CROSS JOIN LATERAL (
        SELECT e.fact_id, e.vector <=> a.vector AS distance
        FROM memory_factembedding e
        JOIN memory_fact f ON f.id = e.fact_id
        WHERE e.owner_id = a.owner_id AND e.model = a.model
          AND f.owner_id = a.owner_id AND f.state = 'active' AND f.kind = mine.kind
          AND f.agent_id IS NOT DISTINCT FROM mine.agent_id AND f.id <> mine.id
        ORDER BY e.vector <=> a.vector
        LIMIT %(nearest)s
    ) b
    WHERE a.owner_id = %(owner)s AND a.model = %(model)s AND a.fact_id = ANY(%(facts)s)
      AND b.distance <= %(distance)s
    ORDER BY a.fact_id, b.distance
"""


@dataclass(frozen=True)
class Group:
    """Facts of one scope and kind, oldest first."""

    members: tuple[Fact, ...]

    @property
    def ids(self) -> tuple[UUID, ...]:
        return tuple(fact.pk for fact in self.members)


def free(owner: User) -> QuerySet[Fact]:
    """Active facts on which no correction waits: that one comes first."""
    open_correction = CorrectionTarget.objects.filter(target=OuterRef("pk"), open=True)
    return facts_of(owner).filter(~Exists(open_correction), state=State.ACTIVE)


def groups(owner: User, seeds: Sequence[Fact]) -> Iterator[Group]:
    """Groups that begin with one of the seeds; no fact is in two of them."""
    near = _near(owner, seeds)
    wanted = {pk for found in near.values() for pk, _ in found}
    facts = free(owner).select_related("agent").in_bulk(wanted)
    used: set[UUID] = set()
    for seed in seeds:
        members = [seed]
        for pk, cosine in near.get(seed.pk, ()) if seed.pk not in used else ():
            other = facts.get(pk)
            if other is None or pk in used or not _is_near(seed, other, cosine):
                continue
            if len(members) < MEMBERS and all(may_be_same(other, one) for one in members):
                members.append(other)
        if len(members) > 1:
            used.update(fact.pk for fact in members)
            yield Group(tuple(sorted(members, key=lambda fact: (fact.created_at, fact.pk))))


def _is_near(seed: Fact, other: Fact, cosine: float | None) -> bool:
    shared = shared_words(seed.statement, other.statement)
    if cosine is None:
        return shared >= SHARED_ALONE
    return cosine >= SURE or shared >= SHARED


def may_be_same(one: Fact, other: Fact) -> bool:
    """Nothing in their words, or in the time in which they hold, speaks against it."""
    if one.valid_until != other.valid_until or _times(one.valid_from, other.valid_from):
        return False
    there = differs(one.statement, other.statement)
    back = differs(other.statement, one.statement)
    found = [difference for difference in (there, back) if difference]
    if any(difference.aspect in (Aspect.NEGATION, Aspect.ORDER) for difference in found):
        return False
    # One may say more than the other; where each says what the other doesn't, they are two.
    return len([difference for difference in found if difference.aspect != Aspect.DETAIL]) < 2


def _times(one: datetime | None, other: datetime | None) -> bool:
    """Both known, and not the same."""
    return one is not None and other is not None and one != other


def _by_meaning(fact: Fact) -> bool:
    return not embedding.READS or fact.language in {language_config(c) for c in embedding.READS}


def _near(owner: User, seeds: Sequence[Fact]) -> dict[UUID, list[tuple[UUID, float | None]]]:
    """With the cosine, where it was found by that."""
    found: dict[UUID, list[tuple[UUID, float | None]]] = {
        fact.pk: [(pk, None) for pk in _by_words(owner, fact)]
        for fact in seeds
        if not _by_meaning(fact)
    }
    with connection.cursor() as cursor:
        cursor.execute(
            _NEAR,
            {
                "owner": owner.pk,
                "model": embedding.MODEL,
                "facts": [fact.pk for fact in seeds if fact.pk not in found],
                "nearest": NEAREST,
                "distance": 1 - COSINE,
            },
        )
        for fact_id, other, cosine in cursor.fetchall():
            found.setdefault(fact_id, []).append((other, cosine))
    return found


def _by_words(owner: User, fact: Fact) -> list[UUID]:
    """Those that share the most terms; a script without spaces is cut into pairs there."""
    own = FactTerm.objects.filter(owner=owner, fact=fact, stated=True)
    terms = list(own.exclude(term__startswith="@").values_list("term", flat=True))
    alike = facts_of(owner).filter(agent=fact.agent_id, kind=fact.kind, state=State.ACTIVE)
    shared = (
        FactTerm.objects.filter(owner=owner, term__in=terms, stated=True, fact__in=alike)
        .exclude(fact=fact)
        .order_by()
        .values("fact")
        .annotate(shared=Count("term"))
        .order_by("-shared", "fact")
    )
    return list(shared.values_list("fact", flat=True)[:NEAREST])
