"""Random lives of an owner's facts, from two sessions, each step checked against what must hold.

STATEFUL_EXAMPLES=2000 runs it longer, with new random numbers each time.
"""

import os
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from agents.audit import POLICY, Actor, person
from agents.models import Agent, User
from memory import lifecycle
from memory.lifecycle import LifecycleError, Source
from memory.models import Fact
from memory.vocabulary import ArchivedReason, Kind, Origin, State
from tests.factories import MONDAY, AgentFactory, ConversationFactory, MessageFactory, UserFactory
from tests.memory.invariants import Memory, check, check_trail, ids, memory_of
from tests.memory.sessions import PATIENCE, Session
from tests.memory.steps import draft, edit, soon

TEXTS = [
    "The user lives in Oslo.",
    "The user lives in Oslo!",
    "The user lives in Turku.",
    "The user lives in Bergen.",
    "The user lives in Rome.",
]
KINDS = [Kind.SEMANTIC, Kind.EPISODIC]
Step = Callable[[], object]


class World:
    """What the steps of one example act on. Its caps are low enough to be met."""

    def __init__(self) -> None:
        self.owner: User = UserFactory.create(settings__cap_global=3)
        self.agents: list[Agent] = [AgentFactory.create(owner=self.owner) for _ in range(2)]
        conversation = ConversationFactory.create(agent=self.agents[0])
        self.sources = [
            Source(
                MessageFactory.create(
                    conversation=conversation, role=role, sent_at=MONDAY + timedelta(days=days)
                ),
                "a quote",
            )
            for role, days in (("user", 9), ("user", 1), ("assistant", 5))
        ]

    @property
    def facts(self) -> list[Fact]:
        return list(Fact.objects.filter(owner=self.owner).order_by("pk"))

    def agent(self, number: int) -> Agent | None:
        return [None, *self.agents][number]


def on_one_fact(
    world: World, fact: Fact, seen: str, who: Actor, text: str, number: int
) -> dict[str, Step]:
    """Every step that starts from one fact."""
    scope = world.agent(number)
    wording = edit(text, kind=KINDS[number % 2], pinned=number == 1)
    source = world.sources[number]
    view: dict[str, Any] = {"fact": fact, "actor": who, "seen": seen}
    plain: dict[str, Any] = {"fact": fact, "actor": who}
    mine = Fact.objects.filter(pk=fact.pk)

    def merge() -> object:
        other = world.facts[(number * 7 + len(text)) % len(world.facts)]
        return lifecycle.merge(facts=[fact, other], edit=wording, actor=who, reason="merge")

    def archive(why: ArchivedReason) -> Step:
        return lambda: lifecycle.archive(**plain, why=why, reason=f"archive {why}")

    return {
        "confirm": lambda: lifecycle.confirm(**view, reason="confirm"),
        "edit": lambda: lifecycle.confirm_with_edit(**view, edit=wording, reason="edit"),
        "correct": lambda: lifecycle.correct(**view, edit=wording, reason="correct"),
        "reject": lambda: lifecycle.reject(**view, reason="reject"),
        "reconsider": lambda: lifecycle.reconsider(**plain, reason="reconsider"),
        "reinforce": lambda: lifecycle.reinforce(**plain, sources=[source], reason="reinforce"),
        "evidence": lambda: lifecycle.add_evidence(**plain, sources=[source], reason="evidence"),
        "end": lambda: lifecycle.end(**view, reason="end"),
        "reconfirm": lambda: lifecycle.reconfirm(**view, reason="reconfirm"),
        "restore": lambda: lifecycle.restore(**plain, reason="restore"),
        "promote": lambda: lifecycle.promote(**plain, agent=scope, reason="promote"),
        "undo": lambda: lifecycle.undo(**plain, reason="undo"),
        "unsay": lambda: lifecycle.unsay(**plain, reason="unsay"),
        "merge": merge,
        "pin": lambda: lifecycle.set_pinned(**plain, pinned=number == 0, reason="pin"),
        "snooze": lambda: lifecycle.snooze(**plain, until=soon(), reason="snooze"),
        "quarantine": lambda: lifecycle.quarantine(facts=mine, actor=who, reason="quarantine"),
        "reinstate": lambda: lifecycle.reinstate(facts=mine, actor=who, reason="reinstate"),
        **{f"archive {why}": archive(why) for why in ArchivedReason},
    }


# The state that each step starts from; a random fact would mostly be in another.
FROM = {
    "confirm": State.PENDING,
    "edit": State.PENDING,
    "reject": State.PENDING,
    "snooze": State.PENDING,
    "reinstate": State.PENDING,
    "evidence": State.PENDING,
    "archive duplicate": State.PENDING,
    "archive aged_out": State.PENDING,
    "reconsider": State.REJECTED,
    "restore": State.ARCHIVED,
    "correct": State.ACTIVE,
    "reinforce": State.ACTIVE,
    "promote": State.ACTIVE,
    "undo": State.ACTIVE,
    "merge": State.PENDING,
    "unsay": State.ACTIVE,
    "pin": State.ACTIVE,
    "quarantine": State.ACTIVE,
    "end": State.ACTIVE,
    "reconfirm": State.ACTIVE,
    "archive stale": State.ACTIVE,
    "archive ended": State.ACTIVE,
    "archive purged": State.ACTIVE,
    "archive forgotten": State.ACTIVE,
    "archive superseded": State.ACTIVE,
    "archive merged": State.ACTIVE,
    "archive replaced": State.PENDING,
    "archive undone": State.ACTIVE,
}
NAMES = list(FROM)


def starting(*states: State) -> st.SearchStrategy[str]:
    return st.sampled_from([name for name, state in FROM.items() if state in states])


tabs = st.integers(0, 1)
picks = st.integers(0, 30)
texts = st.sampled_from(TEXTS)
numbers = st.integers(0, 2)
# Mostly the owner, and mostly what fits: the rest is refused.
actors = st.sampled_from(["owner"] * 5 + ["policy"])
fitting = st.sampled_from([True] * 5 + [False])


@dataclass(frozen=True)
class How:
    who: str
    text: str
    number: int
    old_view: bool
    fits: bool


hows = st.builds(How, who=actors, text=texts, number=numbers, old_view=st.booleans(), fits=fitting)


class Life(RuleBasedStateMachine):
    sessions: ClassVar[list[Session]] = []

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.known: set[UUID] = set()
        self.told = 0
        self.allowed: set[tuple[str, str]] = set()
        # What each tab shows: the fact as it was when the page was loaded, and its version.
        self.pages: list[dict[UUID, tuple[Fact, str]]] = [{}, {}]

    def actor(self, who: str) -> Actor:
        return person(self.world.owner) if who == "owner" else POLICY

    def expect(self, who: Actor, reason: str) -> None:
        self.allowed.add((who.name, reason))

    def take(self, tab: int, step: Step, who: Actor, reason: str) -> None:
        """One session alone. A refusal leaves everything as it was."""
        self.expect(who, reason)
        before = memory_of(self.world.owner)
        if self.sessions[tab].do(lambda: refused(step)):
            assert memory_of(self.world.owner) == before

    def shown(
        self, tab: int, pick: int, old_view: bool, start: State | None = None
    ) -> tuple[Fact, str] | None:
        facts = [fact for fact in self.world.facts if start in (None, fact.state)]
        if not facts:
            return None
        fact = facts[pick % len(facts)]
        if old_view and fact.pk in self.pages[tab]:
            return self.pages[tab][fact.pk]
        return fact, ""

    @rule(tab=tabs)
    def load_the_page(self, tab: int) -> None:
        self.pages[tab] = {fact.pk: (fact, lifecycle.version(fact)) for fact in self.world.facts}

    @initialize(tab=tabs)
    def begin_with_some_facts(self, tab: int) -> None:
        """A chain, a correction and another scope, for the first steps to act on."""
        who = self.actor("owner")
        for number, text in ((0, TEXTS[0]), (1, TEXTS[0])):
            step = self.birth(draft(text, origin=Origin.MANUAL), number, State.ACTIVE, who)
            self.take(tab, step, who, "propose")
        for text in TEXTS[2:4]:
            step = self.birth(draft(text), 0, State.PENDING, POLICY, self.chosen([0], True))
            self.take(tab, step, POLICY, "propose")
            if text == TEXTS[2]:
                first = Fact.objects.get(owner=self.world.owner, state=State.PENDING)
                how = How("owner", text, 0, old_view=False, fits=True)
                self.take(tab, self.step("confirm", first, "", how), who, "confirm")

    @rule(tab=tabs, text=texts, number=numbers, born=st.sampled_from(["pending", "active", "add"]))
    def propose(self, tab: int, text: str, number: int, born: str) -> None:
        by_hand = born == "add"
        who = self.actor("owner") if by_hand else POLICY
        new = draft(
            text,
            kind=Kind.EPISODIC,
            origin=Origin.MANUAL if by_hand else Origin.EXTRACTION,
            sources=(self.world.sources[number],),
        )
        state = State.ACTIVE if by_hand else State(born)
        self.take(tab, self.birth(new, number, state, who), who, "propose")

    @rule(
        tab=tabs, text=texts, number=numbers, fits=fitting,
        chosen=st.lists(picks, min_size=1, max_size=3),
    )  # fmt: skip
    def propose_correction(
        self, tab: int, text: str, number: int, fits: bool, chosen: list[int]
    ) -> None:
        targets = self.chosen(chosen, fits)
        step = self.birth(draft(text), number, State.PENDING, POLICY, targets)
        self.take(tab, step, POLICY, "propose")

    def birth(
        self,
        new: lifecycle.Draft,
        number: int,
        state: State,
        who: Actor,
        targets: list[Fact] | None = None,
    ) -> Step:
        return lambda: lifecycle.propose(
            owner=self.world.owner,
            agent=self.world.agent(number),
            draft=new,
            actor=who,
            state=state,
            targets=targets or [],
            reason="propose",
        )

    def chosen(self, chosen: list[int], fits: bool) -> list[Fact]:
        """Where it fits, active facts of one scope."""
        facts = self.world.facts
        if fits:
            facts = [fact for fact in facts if fact.state == State.ACTIVE]
            facts = [fact for fact in facts if fact.agent_id == facts[0].agent_id]
        return [facts[pick % len(facts)] for pick in chosen] if facts else []

    @rule(
        tab=tabs, text=texts, who=actors, fits=fitting,
        chosen=st.lists(picks, min_size=1, max_size=3),
    )  # fmt: skip
    def supersede(self, tab: int, text: str, who: str, fits: bool, chosen: list[int]) -> None:
        actor, targets = self.actor(who), self.chosen(chosen, fits)
        if fits and not targets:
            return
        new = draft(text, origin=Origin.MANUAL)
        self.take(
            tab,
            lambda: lifecycle.supersede(
                targets=targets, draft=new, actor=actor, reason="supersede"
            ),
            actor,
            "supersede",
        )

    @rule(tab=tabs, name=starting(State.PENDING), pick=picks, how=hows)
    def decide_over_a_candidate(self, tab: int, name: str, pick: int, how: How) -> None:
        self.decide(tab, name, pick, how)

    @rule(tab=tabs, name=starting(State.ACTIVE), pick=picks, how=hows)
    def move_an_active_fact(self, tab: int, name: str, pick: int, how: How) -> None:
        self.decide(tab, name, pick, how)

    @rule(tab=tabs, name=starting(State.REJECTED, State.ARCHIVED), pick=picks, how=hows)
    def bring_something_back(self, tab: int, name: str, pick: int, how: How) -> None:
        self.decide(tab, name, pick, how)

    @rule(tab=tabs, name=st.sampled_from(["confirm", "undo", "restore"]), pick=picks, how=hows)
    def go_to_and_fro(self, tab: int, name: str, pick: int, how: How) -> None:
        self.decide(tab, name, pick, how)

    def decide(self, tab: int, name: str, pick: int, how: How) -> None:
        shown = self.shown(tab, pick, how.old_view, FROM[name] if how.fits else None)
        if shown is not None:
            self.take(tab, self.step(name, *shown, how), self.actor(how.who), name)

    def step(self, name: str, fact: Fact, seen: str, how: How) -> Step:
        who = self.actor(how.who)
        return on_one_fact(self.world, fact, seen, who, how.text, how.number)[name]

    @rule(who=actors, name=st.sampled_from(["quarantine", "reinstate"]), tab=tabs)
    def send_everything(self, who: str, name: str, tab: int) -> None:
        actor, everything = self.actor(who), Fact.objects.filter(owner=self.world.owner)
        step = getattr(lifecycle, name)
        self.take(tab, lambda: step(facts=everything, actor=actor, reason=name), actor, name)

    @rule(
        names=st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), pick=picks, text=texts,
        apart=st.sampled_from([0, 0, 1]), number=numbers,
    )  # fmt: skip
    def decide_at_once(
        self, names: tuple[str, str], pick: int, text: str, apart: int, number: int
    ) -> None:
        """Both tabs, truly at once, on one fact or on neighbours."""
        actor = self.actor("owner")
        futures: list[Future[bool]] = []
        for tab, name in enumerate(names):
            shown = self.shown(tab, pick + tab * apart, True, FROM[names[0]])
            if shown is not None:
                self.expect(actor, name)
                step = on_one_fact(self.world, *shown, actor, text, number)[name]
                futures.append(self.sessions[tab].start(refusal_of(step)))
        for future in futures:
            future.result(timeout=PATIENCE)

    @invariant()
    def all_is_well(self) -> None:
        memory = memory_of(self.world.owner)
        check(memory)
        self.nothing_vanished(memory)
        events = check_trail(memory, self.world.owner)
        for event in events[self.told :]:
            assert (event.actor, event.reason) in self.allowed
        self.told, self.allowed = len(events), set()

    def nothing_vanished(self, memory: Memory) -> None:
        now = set(ids(memory))
        assert self.known <= now
        self.known = now


def refused(step: Step) -> bool:
    """Refusals are the only errors that a step may end in."""
    try:
        step()
    except LifecycleError:
        return True
    return False


def refusal_of(step: Step) -> Callable[[], bool]:
    return lambda: refused(step)


EXAMPLES = os.environ.get("STATEFUL_EXAMPLES", "")


@pytest.mark.django_db(transaction=True)
def test_no_sequence_of_steps_breaks_a_rule() -> None:
    assert set(FROM) == set(on_one_fact(World(), Fact(), "", POLICY, TEXTS[0], 0))
    Life.sessions = [Session(), Session()]
    try:
        run_state_machine_as_test(
            Life,
            settings=settings(
                max_examples=int(EXAMPLES or 40),
                stateful_step_count=25,
                derandomize=not EXAMPLES,
                database=None,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        for session in Life.sessions:
            session.close()
