"""Random lives of facts, driven from two sessions at once, held to the rules after every step."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import hypothesis.strategies as st
import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from agents.accounts import create_owner
from agents.audit import POLICY, command, person
from agents.models import Agent, AuditEvent, User
from conversations.models import Message
from memory import lifecycle
from memory.lifecycle import Edit, LifecycleError, Source
from memory.models import CorrectionTarget, Fact
from memory.vocabulary import ArchivedReason, Kind, Origin, State
from tests.factories import ConversationFactory, MessageFactory
from tests.memory.steps import draft

pytestmark = pytest.mark.django_db(transaction=True)

SESSIONS = ("a", "b")
CITIES = ("Oslo", "oslo.", "Turku", "Bergen", "Lund")
LIVE = (State.PENDING, State.ACTIVE)

sessions = st.sampled_from(SESSIONS)
picks = st.integers(0, 40)
texts = st.sampled_from([f"The user lives in {city}." for city in CITIES])


class Session:
    """A thread with a database connection of its own."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1)

    def start(self, step: Callable[[], Any]) -> "Future[Any]":
        return self._pool.submit(step)

    def close(self) -> None:
        self._pool.submit(lambda: connection.close()).result()
        self._pool.shutdown()


class Lives(RuleBasedStateMachine):
    count = 0

    def __init__(self) -> None:
        super().__init__()
        self.sessions = {name: Session() for name in SESSIONS}
        self.steps = 0
        self.facts_ever = 0
        self.told: dict[str, dict[str, Any]] = {}
        self.last_event = 0

    @initialize()
    def owner(self) -> None:
        Lives.count += 1
        self.owner_: User = create_owner(
            username=f"owner{Lives.count}", actor=command("test"), reason="a life begins"
        )
        self.agent: Agent = self.owner_.agents.get()
        conversation = ConversationFactory.create(agent=self.agent)
        self.message: Message = MessageFactory.create(conversation=conversation)
        self.last_event = AuditEvent.objects.order_by("pk").values_list("pk", flat=True).last() or 0

    def teardown(self) -> None:
        for session in self.sessions.values():
            session.close()

    # --- how a step is taken ---------------------------------------------------------------------

    def take(self, session: str, step: Callable[..., Any], **arguments: Any) -> None:
        """A refusal is an answer; anything else that is raised is a fault."""
        self.finish(self.begin(session, step, **arguments))

    def begin(self, session: str, step: Callable[..., Any], **arguments: Any) -> "Future[Any]":
        self.steps += 1
        arguments.setdefault("actor", person(self.owner_))
        arguments.setdefault("reason", f"step {self.steps}")
        return self.sessions[session].start(lambda: step(**arguments))

    def finish(self, *taken: "Future[Any]") -> int:
        refused = 0
        for future in taken:
            try:
                future.result()
            except LifecycleError:
                refused += 1
        return refused

    def pick(self, number: int, *states: State) -> Fact | None:
        facts = list(Fact.objects.filter(owner=self.owner_, state__in=states).order_by("pk"))
        return facts[number % len(facts)] if facts else None

    def scope(self, wide: bool) -> Agent | None:
        return None if wide else self.agent

    # --- births ----------------------------------------------------------------------------------

    @rule(session=sessions, text=texts, wide=st.booleans(), aims=st.lists(picks, max_size=2))
    def propose(self, session: str, text: str, wide: bool, aims: list[int]) -> None:
        targets = {f.pk: f for aim in aims if (f := self.pick(aim, State.ACTIVE))}
        self.take(
            session,
            lifecycle.propose,
            owner=self.owner_,
            agent=self.scope(wide),
            draft=draft(text, sources=(Source(self.message, self.message.content),)),
            targets=list(targets.values()),
            actor=POLICY,
        )

    @rule(session=sessions, text=texts)
    def an_event_is_born_active(self, session: str, text: str) -> None:
        self.take(
            session,
            lifecycle.propose,
            owner=self.owner_,
            agent=self.agent,
            draft=draft(text, kind=Kind.EPISODIC),
            state=State.ACTIVE,
            actor=POLICY,
        )

    @rule(session=sessions, aims=st.lists(picks, min_size=1, max_size=3), text=texts)
    def supersede(self, session: str, aims: list[int], text: str) -> None:
        targets = {f.pk: f for aim in aims if (f := self.pick(aim, State.ACTIVE))}
        by_hand = draft(text, origin=Origin.MANUAL)
        if targets:
            self.take(session, lifecycle.supersede, targets=list(targets.values()), draft=by_hand)

    # --- one fact --------------------------------------------------------------------------------

    @rule(session=sessions, number=picks, text=texts, data=st.data())
    def decide(self, session: str, number: int, text: str, data: st.DataObject) -> None:
        fact = self.pick(number, *State)
        if fact:
            step, arguments = data.draw(st.sampled_from(self.choices(fact, text)))
            self.take(session, step, **arguments)

    @rule(number=picks, text=texts, data=st.data())
    def two_at_once(self, number: int, text: str, data: st.DataObject) -> None:
        fact = self.pick(number, *LIVE)
        if fact:
            choices = st.sampled_from(self.choices(fact, text))
            taken = []
            for session in SESSIONS:
                step, arguments = data.draw(choices)
                taken.append(self.begin(session, step, **arguments))
            self.finish(*taken)

    @rule(number=picks, step=st.sampled_from([lifecycle.confirm, lifecycle.reject]))
    def two_tabs(self, number: int, step: Callable[..., Any]) -> None:
        """The same button twice: one wins, the other is told so."""
        fact = self.pick(number, State.PENDING)
        if fact:
            taken = [self.begin(session, step, fact=fact) for session in SESSIONS]
            assert self.finish(*taken) >= 1

    def choices(self, fact: Fact, text: str) -> list[tuple[Callable[..., Any], dict[str, Any]]]:
        edit = Edit(text, kind=Kind(fact.kind))
        said = [Source(self.message, self.message.content)]
        later = timezone.now() + timedelta(days=1)
        other = None if fact.agent_id else self.agent
        plain = (
            lifecycle.confirm, lifecycle.reject, lifecycle.reconsider, lifecycle.restore,
            lifecycle.undo,
        )  # fmt: skip
        return [
            *((step, {"fact": fact}) for step in plain),
            (lifecycle.confirm_with_edit, {"fact": fact, "edit": edit}),
            (lifecycle.correct, {"fact": fact, "edit": edit}),
            (lifecycle.reinforce, {"fact": fact, "sources": said, "actor": POLICY}),
            (lifecycle.add_evidence, {"fact": fact, "sources": said, "actor": POLICY}),
            (lifecycle.promote, {"fact": fact, "agent": other}),
            (lifecycle.set_pinned, {"fact": fact, "pinned": not fact.pinned}),
            (lifecycle.snooze, {"fact": fact, "until": later}),
            (lifecycle.quarantine, {"facts": Fact.objects.filter(pk=fact.pk)}),
            *(
                (lifecycle.archive, {"fact": fact, "why": why, "actor": actor})
                for why, actor in (
                    (ArchivedReason.STALE, POLICY),
                    (ArchivedReason.DUPLICATE, POLICY),
                    (ArchivedReason.FORGOTTEN, person(self.owner_)),
                )
            ),
        ]

    # --- what always holds -----------------------------------------------------------------------

    def rows(self) -> dict[str, dict[str, Any]]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT to_jsonb(f) - 'search' FROM memory_fact f WHERE owner_id = %s",
                [self.owner_.pk],
            )
            found = [row[0] for row in cursor.fetchall()]
        return {row["id"]: row for row in map(json.loads, found)}

    @invariant()
    def chains_are_sound(self) -> None:
        if not hasattr(self, "owner_"):
            return
        rows = self.rows()
        assert len(rows) >= self.facts_ever, "a fact vanished"
        self.facts_ever = len(rows)
        for row in rows.values():
            path = list(self.chain(rows, row))
            active = [step["id"] for step in path if step["state"] == State.ACTIVE]
            assert len(active) <= 1, "a path joins two active facts"
            assert not active or path[-1]["id"] == active[0], "an active fact has a successor"
            if row["archived_reason"] in (ArchivedReason.SUPERSEDED, ArchivedReason.MERGED):
                assert len(path) > 1, "a superseded fact leads nowhere"

    def chain(self, rows: dict[str, Any], row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        seen = set()
        while True:
            assert row["id"] not in seen, "a circle"
            seen.add(row["id"])
            yield row
            if row["superseded_by_id"] is None:
                return
            row = rows[row["superseded_by_id"]]

    @invariant()
    def one_live_text_per_scope(self) -> None:
        if hasattr(self, "owner_"):
            live = Counter(
                (row["agent_id"], row["text_hash"])
                for row in self.rows().values()
                if row["state"] in LIVE
            )
            assert not [scope for scope, number in live.items() if number > 1]

    @invariant()
    def only_a_person_rejected(self) -> None:
        if hasattr(self, "owner_"):
            for row in self.rows().values():
                assert row["state"] != State.REJECTED or row["reviewer_id"] == str(self.owner_.pk)

    @invariant()
    def corrections_aim_at_what_they_may(self) -> None:
        if hasattr(self, "owner_"):
            targets = CorrectionTarget.objects.filter(owner=self.owner_)
            for row in targets.select_related("fact", "target"):
                waits = (row.fact.state, row.target.state) == (State.PENDING, State.ACTIVE)
                assert row.open == waits
                assert (row.fact.state, row.target.state) != (State.ACTIVE, State.ACTIVE)

    @invariant()
    def the_trail_tells_it_all(self) -> None:
        """Replayed, it gives every row as it is; each line names who and why."""
        if not hasattr(self, "owner_"):
            return
        events = AuditEvent.objects.filter(
            owner_id=self.owner_.pk, table="memory_fact", pk__gt=self.last_event
        )
        for event in events.order_by("pk"):
            self.last_event = event.pk
            row = self.told.setdefault(event.row_id, {})
            assert event.before is None or event.before.items() <= row.items()
            row.update(event.after or {})
            assert event.actor.split(":")[0] in ("person", "policy")
            assert event.reason.startswith("step ")
        assert self.told == self.rows()


def test_no_life_breaks_a_rule() -> None:
    run_state_machine_as_test(
        Lives,
        settings=settings(
            max_examples=int(os.environ.get("LIVES", "25")),
            stateful_step_count=30,
            deadline=None,
            derandomize=os.environ.get("CI") == "true",
            database=None,
            suppress_health_check=list(HealthCheck),
            # Five minutes of shrinking say less than the first failing life.
            phases=[Phase.explicit, Phase.generate],
        ),
    )
