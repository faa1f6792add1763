"""A profile as it may be shown now: only what every cited fact still carries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agents.models import Agent
from memory import llm
from memory.models import Fact, Profile, ProfileSentence
from memory.profile.material import material_for, readable
from memory.vocabulary import Kind, Tag

LISTED = 200


@dataclass(frozen=True)
class Told:
    text: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Listed:
    """Facts of one kind and first tag, where there is no narrative."""

    kind: Kind
    tag: Tag | None
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class View:
    """`is_current`: no fact has changed since it was written. `note` says why there is a plain list
    and no narrative; else it is empty."""

    agent: Agent
    sentences: Sequence[Told] = ()
    groups: Sequence[Listed] = ()
    written_at: datetime | None = None
    written_by: str = ""
    is_current: bool = False
    note: str = ""


NO_MODEL = (
    "No language model is configured, so this is a plain list of the facts that this assistant "
    "may read."
)
NOT_YET = "Not written yet: the next consolidation does it. Until then, the facts themselves."


def view_of(agent: Agent, now: datetime) -> View:
    profile = Profile.objects.filter(owner=agent.owner_id, agent=agent).first()
    sentences = _sentences(profile, agent, now) if profile else []
    if profile is None or not sentences:
        has_model = any(map(llm.configured, (llm.GENERAL, llm.PRIVATE)))
        note = NOT_YET if has_model else NO_MODEL
        return View(agent, groups=_groups(agent, now), note=note)
    return View(
        agent,
        sentences=sentences,
        written_at=profile.written_at,
        written_by=profile.written_by,
        is_current=profile.digest == material_for(agent, now).digest,
    )


def _sentences(profile: Profile, agent: Agent, now: datetime) -> list[Told]:
    """A fact that was archived, moved or ended since takes its sentences along at once."""
    rows = ProfileSentence.objects.filter(owner=profile.owner_id, profile=profile)
    ordered = rows.prefetch_related("citations").order_by("place")
    cited = {row: [citation.fact_id for citation in row.citations.all()] for row in ordered}
    ids = {pk for pks in cited.values() for pk in pks}
    facts = {fact.pk: fact for fact in readable(agent, now).filter(pk__in=ids).defer("search")}
    return [
        Told(row.text, tuple(facts[pk] for pk in pks))
        for row, pks in cited.items()
        if pks and all(pk in facts for pk in pks)
    ]


def _groups(agent: Agent, now: datetime) -> list[Listed]:
    found: dict[tuple[Kind, Tag | None], list[Fact]] = {}
    for fact in readable(agent, now).defer("search")[:LISTED]:
        tag = Tag(fact.tags[0]) if fact.tags else None
        found.setdefault((Kind(fact.kind), tag), []).append(fact)
    order = list(Kind)
    return [
        Listed(kind, tag, tuple(facts))
        for (kind, tag), facts in sorted(
            found.items(), key=lambda item: (order.index(item[0][0]), item[0][1] or "~")
        )
    ]
