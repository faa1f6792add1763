"""The owner of the two years: two minutes a week at the desk, who knows what is true and errs not.

Does only what the pages offer: confirms, rejects, adds by hand, and answers the reconfirm queue.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agents.audit import Actor, person
from agents.models import Agent, User
from bench.years_world import SLOTS, Truth, World
from memory import lifecycle
from memory.consolidation import reconfirm
from memory.lifecycle import Draft, LifecycleError
from memory.models import Fact
from memory.review import queue
from memory.vocabulary import Kind, Origin, State

WEEKLY = timedelta(minutes=2)
# Reading a card and one key; typing a sentence takes three times as long.
PER_CARD = timedelta(seconds=6)


@dataclass
class Owner:
    user: User
    agent: Agent
    world: World
    decisions: Counter[str] = field(default_factory=Counter)
    left: timedelta = timedelta()

    @property
    def actor(self) -> Actor:
        return person(self.user)

    def sit_down(self, now: datetime, day: int) -> None:
        """Old facts first, since those are few; then the queue as the page has it."""
        self.left = WEEKLY
        for fact in list(reconfirm.waiting(owner=self.user, now=now)):
            if not self._has(1):
                return
            self._answer(fact, day)
        for fact in self._cards(now):
            if not self._has(1):
                return
            self._decide(fact, day)

    def _cards(self, now: datetime) -> list[Fact]:
        return [card.fact for group in queue.page(self.user, now).groups for card in group.cards]

    def _has(self, cards: int) -> bool:
        self.left -= cards * PER_CARD
        return self.left >= timedelta()

    def _decide(self, fact: Fact, day: int) -> None:
        truth = self.world.meaning.get(fact.statement)
        if truth is None or not self._still(truth, day):
            self._take("rejected", lifecycle.reject, fact)
        elif self._would_lose(fact, truth, day):
            self._take("rejected", lifecycle.reject, fact)
            self._add_by_hand(truth, fact)
        else:
            self._take("confirmed", lifecycle.confirm, fact)

    def _still(self, truth: Truth, day: int) -> bool:
        return truth.event is not None or truth.holds(day)

    def _would_lose(self, fact: Fact, truth: Truth, day: int) -> bool:
        """The card shows what would be replaced: another thing that is still true."""
        targets = [row.target.statement for row in fact.targets.all() if row.open]
        meanings = [self.world.meaning.get(statement) for statement in targets]
        return any(m and m is not truth and self._still(m, day) for m in meanings)

    def _add_by_hand(self, truth: Truth, fact: Fact) -> None:
        self._has(3)
        draft = Draft(
            statement=truth.statements[0],
            kind=Kind.EPISODIC if truth.event else Kind.SEMANTIC,
            origin=Origin.MANUAL,
            observed_at=fact.observed_at,
            language="english",
        )
        try:
            lifecycle.propose(
                owner=self.user, agent=self.agent, draft=draft, actor=self.actor,
                state=State.ACTIVE,
            )  # fmt: skip
            self.decisions["added by hand"] += 1
        except LifecycleError:  # it is there already
            return

    def _take(self, name: str, step: object, fact: Fact) -> None:
        try:
            step(fact=fact, actor=self.actor)  # type: ignore[operator]
            self.decisions[name] += 1
        except LifecycleError:
            self.decisions["refused"] += 1

    def _answer(self, fact: Fact, day: int) -> None:
        truth = self.world.meaning.get(fact.statement)
        if truth is not None and self._still(truth, day):
            reconfirm.still_true(fact=fact, actor=self.actor)
            self.decisions["still true"] += 1
            return
        current = self.world.current(truth.slot, day) if truth and truth.slot in SLOTS else None
        try:
            if current is not None:
                self._has(2)
                reconfirm.changed_to(fact=fact, statement=current.statements[0], actor=self.actor)
                self.decisions["changed"] += 1
                return
        except LifecycleError:  # the new one is there already
            pass
        reconfirm.no_longer_true(fact=fact, actor=self.actor)
        self.decisions["no longer true"] += 1
