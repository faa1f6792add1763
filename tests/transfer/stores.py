"""A store with one of everything that a memory file carries, and the ways to move it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import connection

from agents.audit import person
from agents.models import Agent, OwnerSettings, User
from conversations import passages
from conversations.models import Conversation, Message, Sketch
from memory import lifecycle
from memory.cases import lifecycle as cases
from memory.cases.values import CaseDraft
from memory.lifecycle import Draft, EntityRef, Source
from memory.models import CaseReading, Derivation, Fact, FactUsage, Tombstone
from memory.rules import writing
from memory.transfer.export import export
from memory.transfer.plan import Conflict
from memory.transfer.store import Result, bring_in
from memory.vocabulary import (
    ArchivedReason,
    CaseArchivedReason,
    EntityType,
    Kind,
    Origin,
    Quality,
    State,
    Tag,
    Withheld,
)
from tests.factories import MONDAY, ConversationFactory, MessageFactory


@dataclass
class Store:
    owner: User
    agent: Agent
    second: Agent
    talk: Conversation
    facts: dict[str, Fact]


def a_store(owner: User, agent: Agent, second: Agent) -> Store:
    OwnerSettings.objects.filter(owner=owner).update(time_zone="Europe/Helsinki", cap_global=7)
    talk = ConversationFactory.create(agent=agent, external_id="trip", title="A trip")
    said = [_say(talk, "I live in Turku"), _say(talk, "Noted.", role="assistant")]
    said += [_say(talk, "I moved to Oslo", parent=said[0], replaces=said[1])]
    quiet = ConversationFactory.create(agent=second, external_id="quiet", read_only=True)
    _say(quiet, "Backup done.", role="tool")
    Conversation.objects.filter(pk=talk.pk).update(cursor_seq=2, compacted_seq=1)
    for key, kept in (("plan", True), ("scratch", False)):
        Sketch.objects.create(
            owner=owner, conversation=talk, key=key, text=f"{key}: look for a flat", kept=kept
        )
    home = Store(owner, agent, second, talk, {})
    _facts(home, said)
    _cases(home, said)
    for text, whose, enabled in RULES:
        mine = agent if whose == "own" else None
        writing.write(owner=owner, agent=mine, text=text, enabled=enabled, actor=person(owner))
    Tombstone.objects.create(owner=owner, digest="ab" * 32, created_at=MONDAY)
    return home


RULES = (
    ("Answer in metric units.", "all", True),
    ("Be brief.", "own", True),
    ("Write in Finnish.", "all", False),
)


def _say(talk: Conversation, text: str, **values: Any) -> Message:
    message = MessageFactory.create(conversation=talk, content=text, **values)
    passages.store([message])
    return message


def _facts(home: Store, said: list[Message]) -> None:
    me = person(home.owner)
    for name, agent in (
        ("pending", home.agent), ("rejected", home.agent), ("forgotten", home.second),
        ("old", home.agent), ("global", None),
    ):  # fmt: skip
        sources = [Source(said[0], "I live in Turku")] if name in {"old", "rejected"} else []
        home.facts[name] = _propose(home, name, agent, sources=tuple(sources))
    facts = home.facts
    lifecycle.reject(fact=facts["rejected"], actor=me)
    for name in ("forgotten", "old", "global"):
        lifecycle.confirm(fact=facts[name], actor=me)
    lifecycle.archive(fact=facts["forgotten"], why=ArchivedReason.FORGOTTEN, actor=me)
    oslo = Source(said[2], "I moved to Oslo")
    head = _propose(home, "head", home.agent, targets=[facts["old"]], sources=(oslo,))
    facts["head"] = lifecycle.confirm(fact=head, actor=me)
    facts["correction"] = _propose(home, "correction", home.agent, targets=[head])
    facts["event"] = _propose(home, "event", home.agent, kind=Kind.EPISODIC, state=State.ACTIVE)
    facts["insight"] = _propose(home, "insight", home.agent, origin=Origin.REFLECTION)
    for source in ("head", "event"):
        Derivation.objects.create(owner=home.owner, fact=facts["insight"], source=facts[source])
    FactUsage.objects.create(
        owner=home.owner, fact=facts["head"], last_retrieved_at=MONDAY, retrieval_hits=3
    )
    home.facts = {name: Fact.objects.get(pk=fact.pk) for name, fact in facts.items()}


def _cases(home: Store, said: list[Message]) -> None:
    """One in each state, the last read before the first was decided over."""
    me = person(home.owner)
    CaseReading.objects.create(owner=home.owner, conversation=home.talk, seq=2)
    made = {name: cases.propose(draft=_case(home, name, said), actor=me) for name in CASES}
    for name in ("active", "gone"):
        cases.confirm(case=made[name], actor=me)
    cases.reject(case=made["no"], actor=me)
    cases.archive(case=made["gone"], why=CaseArchivedReason.FORGOTTEN, actor=me)
    cases.archive(case=made["old"], why=CaseArchivedReason.AGED_OUT, actor=me)


CASES = ("waits", "active", "no", "gone", "old")


def _case(home: Store, name: str, said: list[Message]) -> CaseDraft:
    return CaseDraft(
        conversation=home.talk,
        goal=f"Move to Oslo: {name}, in {home.owner.username}",
        context="The flat was in Turku.",
        approach="A van was rented.",
        outcome="All boxes arrived.",
        quality=Quality.SUCCESS,
        lessons="",
        actors=("the user",),
        tags=("moving",),
        language="english",
        happened_at=MONDAY,
        sources=tuple(said),
        cited=frozenset({said[0].pk}),
        withheld_for=(Withheld.CONTACT,) if name == "waits" else (),
        prompt_version="case-writer-v1",
    )


def _propose(home: Store, name: str, agent: Agent | None, **values: Any) -> Fact:
    steps = {key: values.pop(key) for key in ("state", "targets") if key in values}
    draft: dict[str, Any] = {
        "statement": f"The user has a {name} kept in {home.owner.username}.",
        "kind": Kind.SEMANTIC,
        "origin": Origin.EXTRACTION,
        "observed_at": MONDAY,
        "confidence": 0.9,
        "language": "english",
        "tags": (Tag.FACT, Tag.LOCATION),
        "valid_from": MONDAY,
        "valid_until": MONDAY + timedelta(days=4000),
        "withheld_for": (Withheld.DURABLE,),
        "entities": (EntityRef(EntityType.PLACE, "Oslo", ("Christiania",)),),
        "conversation": home.talk,
        "prompt_version": "observer-v1",
    }
    return lifecycle.propose(
        owner=home.owner,
        agent=agent,
        draft=Draft(**draft | values),
        actor=person(home.owner),
        **steps,
    )


def written(owner: User, **options: Any) -> str:
    return "".join(export(owner=owner, **options))


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def joined(lines: list[dict[str, Any]]) -> str:
    """With an end that fits."""
    lines[-1] = {"type": "end", "lines": len(lines) - 1}
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def changed(text: str, change: Callable[[list[dict[str, Any]]], Any]) -> str:
    lines = lines_of(text)
    change(lines)
    return joined(lines)


def let_in(
    owner: User, text: str, file: Path, conflict: Conflict = Conflict.SKIP, **more: Any
) -> Result:
    file.write_text(text)
    return bring_in(
        owner=owner, path=file, name="memory.jsonl", actor=person(owner), conflict=conflict, **more
    )  # fmt: skip


def forget_everything() -> None:
    """As if this were another server. Only tests may: the transaction takes it back."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT string_agg(quote_ident(tablename), ', ') FROM pg_tables"
            " WHERE schemaname = 'public' AND tablename ~ '^(memory|conversations)_'"
        )
        (tables,) = cursor.fetchone()
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"TRUNCATE {tables}, agents_agent, agents_apikey CASCADE")
        cursor.execute(
            "SELECT string_agg(quote_ident(tgname), ', ') FROM pg_trigger"
            " WHERE tginitdeferred AND NOT tgisinternal"
        )
        (late,) = cursor.fetchone()
        cursor.execute(f"SET CONSTRAINTS {late} DEFERRED")
