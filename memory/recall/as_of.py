"""Recall as the store would have answered at the end of an earlier day.

A fact's text never changes; its state, validity, confidence, pin and last confirmation do, and the
audit trail has each change. So what a fact was is what it is, with the changes since undone. Scope
is today's: who may not read a fact now is not told that it could then. A purged fact never was.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet

from agents.models import User
from memory.models import Fact
from memory.recall import terms
from memory.recall.legs import Reader
from memory.recall.nearest import Condition, condition
from memory.recall.sheets import Every, Sheet, Sheets
from memory.recall.terms import Postings
from memory.scope import facts_readable_by, recallable
from memory.vocabulary import ArchivedReason, State

# What of a fact changes and decides what recall says.
_MOMENTS = frozenset({"last_confirmed_at", "valid_from", "valid_until"})
_COLUMNS = frozenset({"state", "confidence", "pinned", "valid_precision"}) | _MOMENTS

# The first change after the moment tells what was before it. Ids follow the clock but for the
# instant in which two transactions write at once, hence the minute. An owner's events are read from
# the newest back (audit_owner): as many as came since.
_BEFORE = """
    SELECT e.row_id::uuid, jsonb_object_agg(changed.key, changed.value ORDER BY e.id DESC)
    FROM agents_auditevent e, jsonb_each(e.before) AS changed
    WHERE e.owner_id = %(owner)s AND e."table" = 'memory_fact' AND e.action = 'update'
        AND e.at > %(moment)s AND changed.key = ANY(%(columns)s)
        AND e.id > coalesce((
            SELECT id FROM agents_auditevent
            WHERE owner_id = %(owner)s AND at < %(moment)s::timestamptz - interval '1 minute'
            ORDER BY id DESC LIMIT 1), 0)
    GROUP BY e.row_id
"""
_TERMS = """
    SELECT fact_id, term, tf, stated, length, words
    FROM remembrancer_terms_of_facts(%(facts)s, %(moment)s) WHERE term = ANY(%(terms)s)
"""


class DayToCome(ValueError):
    """Nobody knows yet what the store will answer then."""


def end_of(day: date, now: datetime) -> datetime | None:
    """The last moment of that day on the clock of `now`; None for today, which is not over.

    Raises DayToCome."""
    today = now.date()
    if day > today:
        raise DayToCome(f"as_of lies ahead: the latest day that can be asked for is {today}.")
    if day == today:
        return None
    midnight = datetime.combine(day + timedelta(days=1), time.min, tzinfo=now.tzinfo)
    return midnight - timedelta(microseconds=1)


@dataclass(frozen=True)
class Past:
    """By fact: the columns that have changed since, as they were."""

    moment: datetime
    before: Mapping[UUID, Mapping[str, Any]]

    @classmethod
    def read(cls, owner: User, moment: datetime) -> "Past":
        values: dict[str, Any] = {"owner": owner.pk, "moment": moment}
        values["columns"] = sorted(_COLUMNS)
        with connection.cursor() as cursor:
            cursor.execute(_BEFORE, values)
            rows = cursor.fetchall()
        return cls(moment, {fact_id: _parsed(columns) for fact_id, columns in rows})

    def as_it_was(self, fact: Fact) -> Fact:
        for name, value in self.before.get(fact.pk, {}).items():
            setattr(fact, name, value)
        return fact

    def was_told(self, fact: Fact) -> bool:
        """Of a fact as it was."""
        ended = fact.valid_until is not None and fact.valid_until <= self.moment
        return fact.state == State.ACTIVE and not ended


@dataclass(frozen=True)
class PastReader(Reader):
    """`withdrawn`: also what the owner has since forgotten, rejected or sent back to the queue."""

    past: Past
    withdrawn: bool

    @cached_property
    def facts(self) -> QuerySet[Fact]:
        known = self._known
        unchanged = recallable(known.exclude(pk__in=self.past.before), self.past.moment)
        changed = known.filter(pk__in=self.past.before)
        told = [fact.pk for fact in map(self.past.as_it_was, changed) if self.past.was_told(fact)]
        return (unchanged | known.filter(pk__in=told)).order_by()

    @cached_property
    def asked(self) -> Condition:
        return condition(self.facts)

    @cached_property
    def riding(self) -> Condition:
        return condition(self.facts.filter(self.rides))

    @property
    def rides(self) -> Q:
        pinned = (key for key, was in self.past.before.items() if was.get("pinned"))
        return Q(pinned=True) | Q(pk__in=list(pinned))

    def as_known(self, facts: Iterable[Fact]) -> Iterable[Fact]:
        return map(self.past.as_it_was, facts)

    @cached_property
    def postings(self) -> Postings:
        """Of the index, which has the facts of today: without those that came since, and with those
        that went."""
        today = super().postings
        known = today.sheets.all()
        then = set(self.facts.filter(pk__in=known).values_list("pk", flat=True))
        sheets = {key: sheet for key, sheet in known.items() if key in then}
        sheets |= self._sheets_of(self._gone, today)
        with_words = {key: sheet for key, sheet in sheets.items() if sheet.times}
        table = Sheets.of(with_words, len(today.words))
        return replace(today, sheets=table, counts=table.counts(), facts=self.facts.count())

    def sheets(self, facts: Mapping[UUID, Every]) -> Sheets:
        known = super().sheets(facts)
        gone = self._sheets_of(self._gone & set(facts), self.postings)
        for column, key in enumerate(facts):
            if key in gone:
                known.put(column, gone[key])
        return known

    @cached_property
    def _known(self) -> QuerySet[Fact]:
        """Recorded by then, whatever became of it."""
        known = facts_readable_by(self.agent).filter(created_at__lte=self.past.moment)
        known = known.exclude(archived_reason=ArchivedReason.PURGED)
        if self.withdrawn:
            return known
        taken_back = Q(state__in=[State.PENDING, State.REJECTED])
        return known.exclude(taken_back | Q(archived_reason=ArchivedReason.FORGOTTEN))

    @cached_property
    def _gone(self) -> set[UUID]:
        """Told then and not active now, so that the index has nothing of them."""
        gone = self.facts.exclude(state=State.ACTIVE)
        return set(gone.values_list("pk", flat=True))

    def _sheets_of(self, facts: Collection[UUID], found: Postings) -> dict[UUID, Sheet]:
        if not facts:
            return {}
        numbers = terms.numbered(found.words)
        values: dict[str, Any] = {
            "facts": list(facts),
            "terms": list(numbers),
            "moment": self.past.moment,
        }
        with connection.cursor() as cursor:
            cursor.execute(_TERMS, values)
            return terms.sheets_of(cursor.fetchall(), numbers)


def at(reader: Reader, moment: datetime, *, withdrawn: bool = True) -> PastReader:
    past = Past.read(reader.agent.owner, moment)
    return PastReader(
        reader.agent,
        reader.query,
        reader.tuning,
        past,
        withdrawn,
        thinking=reader.thinking,
        first=reader.first,
    )


def _parsed(columns: str) -> dict[str, Any]:
    return {
        name: datetime.fromisoformat(value) if value and name in _MOMENTS else value
        for name, value in json.loads(columns).items()
    }
