"""Facts in the same words, within one scope and kind."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from uuid import UUID

from django.db.models import Count, Func, QuerySet, TextField

from agents.models import User
from memory.models import CorrectionTarget, Fact
from memory.text.literal import telling_words

# Coarser than telling_words, so that the few that may be twins are found without reading all.
_BARE = (
    r"regexp_replace(regexp_replace(lower(normalize(%(expressions)s, NFKC)),"
    r" '\m(the|a|an)\M', '', 'g'), '[^[:alnum:]]+', '', 'g')"
)
_READ = ("agent_id", "kind", "statement", "language", "valid_from", "valid_until")


def twins(facts: QuerySet[Fact], aims: Mapping[UUID, Hashable]) -> Iterator[tuple[UUID, UUID]]:
    """(older, newer), each newer one once. `aims`: only facts with the same are twins."""
    bare = facts.annotate(bare=Func("statement", template=_BARE, output_field=TextField()))
    several = bare.order_by().values("bare").annotate(times=Count("pk")).filter(times__gt=1)
    first: dict[Hashable, UUID] = {}
    for fact in (
        bare.filter(bare__in=several.values("bare"))
        .order_by("created_at", "pk")
        .only(*_READ)
        .iterator(2000)
    ):
        words = telling_words(fact.statement, fact.language)
        place = (fact.agent_id, fact.kind, fact.language, fact.valid_from, fact.valid_until)
        older = first.setdefault((place, words, aims.get(fact.pk)), fact.pk)
        if older != fact.pk and words:
            yield older, fact.pk


def aims_of(owner: User) -> dict[UUID, Hashable]:
    """What each correction would replace."""
    found: dict[UUID, set[UUID]] = defaultdict(set)
    rows = CorrectionTarget.objects.filter(owner=owner, open=True)
    for fact, target in rows.values_list("fact", "target"):
        found[fact].add(target)
    return {fact: frozenset(targets) for fact, targets in found.items()}
