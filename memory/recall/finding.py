"""What facts have for a message: found by the legs, scored by one formula, judged. Only reads."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.utils import timezone

from agents.models import Agent, OwnerSettings
from memory.models import Fact
from memory.recall import legs, scoring
from memory.recall.legs import Reader
from memory.recall.query import read
from memory.recall.trace import Candidate, LegReport, Why
from memory.recall.tuning import tuning

# Columns of a fact that recall, its page and its API show.
_SHOWN = (
    "id", "owner_id", "agent_id", "kind", "statement", "state", "confidence", "pinned",
    "valid_from", "valid_until", "valid_precision", "observed_at", "last_confirmed_at",
)  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """All that the legs saw: what may be told, best first, and what of the rest fell out why."""

    told: list[Candidate]
    left: list[tuple[Candidate, Why]]
    pinned: list[Fact]

    def in_order(self) -> list[Candidate]:
        """Relevant or not, best first."""
        return scoring.in_order([*self.told, *(candidate for candidate, _ in self.left)])


def look_up(reader: Reader, reports: tuple[LegReport, ...]) -> Seen:
    ids = {hit.fact_id for report in reports for hit in report.found.hits}
    facts = _facts(reader, ids)
    pinned = sorted((fact for fact in facts.values() if fact.pinned), key=lambda fact: fact.pk)
    # Archived since its leg saw it: gone.
    found = [facts[key] for key in ids if key in facts]
    if not found:
        return Seen([], [], pinned)
    seen = legs.measure(reader, reports, ids)
    scorer = scoring.Scorer(seen, reader.query.now, reader.tuning)
    told, left = scoring.judge(map(scorer.candidate, found), reader.tuning)
    return Seen(told, left, pinned)


def ranking(
    *, agent: Agent, message: str, now: datetime | None = None, rows: int = 200
) -> list[Candidate]:
    """The facts that agree most with a message, best first, relevant or not. For search, which
    leaves the judgement to whoever asks; the gate of memory is the caller's."""
    zone = OwnerSettings.objects.values_list("time_zone", flat=True).get(owner=agent.owner_id)
    now = (now or timezone.now()).astimezone(ZoneInfo(zone))
    reader = Reader(agent, read(message, (), now), replace(tuning(), rows_per_leg=rows))
    return look_up(reader, legs.run(reader)).in_order()[:rows]


def _facts(reader: Reader, ids: Iterable[UUID]) -> dict[UUID, Fact]:
    """One look for all; scope, state and validity are asked again."""
    rows = reader.facts.filter(Q(pk__in=list(ids)) | Q(pinned=True)).only(*_SHOWN)
    return {fact.pk: fact for fact in rows}
