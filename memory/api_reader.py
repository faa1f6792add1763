"""What a key may see of its owner's memory.

A key with the review scope stands for the owner and sees every state; any other sees what recall
could tell its agent, and nothing while memory is off. All else is missing: 404.
"""

from dataclasses import dataclass
from typing import Self
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils import timezone

from agents.auth import agent_for
from agents.gate import MemoryOff, memory_on
from agents.models import Agent, ApiKey, User
from memory.access import runs_of
from memory.cases.scope import cases_of, cases_readable_by
from memory.lifecycle import Purged
from memory.models import Case, ExtractionRun, Fact
from memory.scope import facts_of, facts_readable_by, recallable
from memory.vocabulary import ArchivedReason, State


@dataclass(frozen=True, slots=True)
class Reader:
    """Without an agent all that is the owner's is in sight, which is for review keys only."""

    owner: User
    agent: Agent | None
    reviews: bool

    @classmethod
    def of(cls, key: ApiKey, slug: str | None) -> Self:
        """Raises NoSuchAgent, AgentUnnamed, MemoryOff."""
        reviews = ApiKey.Scope.REVIEW in key.scopes
        whole = reviews and slug is None and key.agent is None
        agent = None if whole else agent_for(key, slug)
        if not reviews and not memory_on(key.owner):
            raise MemoryOff("Memory is off for this owner.")
        return cls(key.owner, agent, reviews)

    def facts(self) -> QuerySet[Fact]:
        rows = facts_readable_by(self.agent) if self.agent else facts_of(self.owner)
        if not self.reviews:
            return recallable(rows, timezone.now())
        return rows.exclude(archived_reason=ArchivedReason.PURGED)

    def fact(self, fact_id: UUID) -> Fact:
        """Raises Http404, and Purged where a review key asks for what was erased."""
        known = self.facts().select_related("owner", "agent", "conversation", "run", "client")
        fact = known.filter(pk=fact_id).first()
        if fact is None:
            if self.reviews:
                self._refuse_purged(fact_id)
            raise Http404("There is no such fact.")
        return fact

    def cases(self) -> QuerySet[Case]:
        rows = cases_readable_by(self.agent) if self.agent else cases_of(self.owner)
        return rows if self.reviews else rows.filter(state=State.ACTIVE)

    def runs(self) -> QuerySet[ExtractionRun]:
        rows = runs_of(self.owner)
        return rows.filter(agent=self.agent) if self.agent else rows

    def heard(self) -> Q:
        """Evidence in conversations that the agent may read, which are its own."""
        return Q(message__conversation__agent=self.agent) if self.agent else Q()

    def _refuse_purged(self, fact_id: UUID) -> None:
        rows = facts_readable_by(self.agent) if self.agent else facts_of(self.owner)
        purged = rows.filter(archived_reason=ArchivedReason.PURGED, pk=fact_id).first()
        if purged is not None:
            raise Purged(purged)
