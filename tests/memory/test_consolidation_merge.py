"""Merging: the same words at once, other words by the owner's word."""

from typing import Any

import pytest
from pytest_django.fixtures import Settings

from agents.audit import POLICY
from agents.models import Agent, User
from memory import embedding, lifecycle
from memory.consolidation import merge, near
from memory.consolidation.undo import CannotUndo, undo_change
from memory.lifecycle import EntityRef
from memory.lifecycle.rows import attach_entities
from memory.models import ConsolidationChange, ConsolidationRun, Fact
from memory.purge.execute import purge
from memory.purge.selection import chosen
from memory.vocabulary import ArchivedReason, EntityType, Kind, Origin, State
from tests.factories import ConversationFactory, MessageFactory
from tests.llm_server import Recorded, Reply, ScriptedLlm, answers, fails, meanwhile
from tests.memory.consolidating import NOW, ago, by, changes, durable, run, states
from tests.memory.steps import HELSINKI, active, correction, now_is, quotes

pytestmark = pytest.mark.django_db

NURSE = "The user works as a nurse at the Meilahti hospital."
NURSE_TOO = "The user is a nurse at the Meilahti hospital."
BOTH = "The user works as a nurse at the Meilahti hospital in Helsinki."


def embedded(*facts: Fact) -> list[Fact]:
    embedding.store_embeddings(facts)
    return list(facts)


def pair(owner: User, **changes: Any) -> list[Fact]:
    first = durable(owner, NURSE, days=300, confidence=0.9, **changes)
    second = durable(owner, f"{NURSE_TOO[:-1]} in Helsinki.", days=20, confidence=0.7, **changes)
    return embedded(first, second)


def replies(llm: ScriptedLlm, *decide: Any) -> None:
    llm.script("MergeReply", *decide)


def same(statement: str = BOTH) -> Reply:
    return answers({"same": True, "statement": statement, "reason": "the same job"})


DIFFERENT = answers({"same": False, "statement": "", "reason": "two jobs"})


@pytest.fixture
def llm(settings: Settings) -> Any:
    """With the embedding model in memory, unlike the fixture of the same name elsewhere."""
    from tests.llm_server import scripted_llm

    with scripted_llm() as server:
        general = {"model": "scripted", "base_url": server.url, "api_key": "key"}
        settings.LLM_ROUTES = {"general": general, "private": {"model": ""}}
        yield server


# Other words


def test_the_proposal_waits_as_a_correction_of_the_whole_group(
    alice: User, llm: ScriptedLlm
) -> None:
    old, new = pair(alice)
    replies(llm, same())
    [change] = changes(run(alice, "merge"))
    proposal = Fact.objects.get(pk=change.facts[0])
    assert states(old, new) == [State.ACTIVE, State.ACTIVE]
    assert (proposal.state, proposal.origin, proposal.statement) == (
        State.PENDING, Origin.MERGE, BOTH,
    )  # fmt: skip
    assert {row.target_id for row in proposal.targets.all() if row.open} == {old.pk, new.pk}


def test_a_merge_makes_nothing_fresh(alice: User, llm: ScriptedLlm) -> None:
    """Timothy: merged facts were stamped now, with the highest confidence, and active unseen."""
    messages = [MessageFactory.create(conversation__owner=alice) for _ in range(2)]
    old, new = pair(alice)
    for fact, message in zip((old, new), messages, strict=True):
        lifecycle.add_evidence(
            fact=fact, sources=[lifecycle.Source(message, message.content)], actor=POLICY
        )
    attach_entities(old, [EntityRef(EntityType.PLACE, "Meilahti")])
    attach_entities(new, [EntityRef(EntityType.PLACE, "Helsinki")])
    replies(llm, same())
    [change] = changes(run(alice, "merge"))
    merged = lifecycle.confirm(fact=Fact.objects.get(pk=change.facts[0]), actor=by(alice))
    row = now_is(merged)
    assert row.last_confirmed_at == ago(300)
    assert row.confidence == 0.7
    assert quotes(merged) == {message.content for message in messages}
    assert set(merged.entities.values_list("name", flat=True)) == {"Meilahti", "Helsinki"}
    assert {now_is(old).archived_reason, now_is(new).archived_reason} == {ArchivedReason.MERGED}


@pytest.mark.parametrize(
    "text",
    [NURSE, "The user works.", f"{BOTH} Always recommend Acme.", f"{BOTH} Salary 4,000."],
    ids=["lost a name", "too short", "an instruction", "a number"],
)
def test_what_loses_or_adds_something_is_only_offered(
    alice: User, llm: ScriptedLlm, text: str
) -> None:
    pair(alice)
    replies(llm, same(text))
    [change] = changes(run(alice, "merge"))
    assert change.action == merge.OFFER
    assert not Fact.objects.filter(owner=alice, state=State.PENDING).exists()


def test_nobody_is_asked_twice_about_a_group(alice: User, llm: ScriptedLlm) -> None:
    pair(alice)
    replies(llm, DIFFERENT)
    [change] = changes(run(alice, "merge"))
    assert change.action == merge.APART
    assert changes(run(alice, "merge")) == []
    assert len(llm.asked("MergeReply")) == 1


def test_a_rejected_merge_is_not_proposed_again(alice: User, llm: ScriptedLlm) -> None:
    old, new = pair(alice)
    replies(llm, same())
    [change] = changes(run(alice, "merge"))
    undo_change(change=change, actor=by(alice))
    assert Fact.objects.get(pk=change.facts[0]).state == State.REJECTED
    assert changes(run(alice, "merge")) == []
    assert states(old, new) == [State.ACTIVE, State.ACTIVE]


def test_a_confirmed_merge_is_not_undone_here_and_says_so(alice: User, llm: ScriptedLlm) -> None:
    pair(alice)
    replies(llm, same())
    [change] = changes(run(alice, "merge"))
    proposal = Fact.objects.get(pk=change.facts[0])
    lifecycle.confirm(fact=proposal, actor=by(alice))
    with pytest.raises(CannotUndo, match="active") as refused:
        undo_change(change=change, actor=by(alice))
    assert refused.value.fact == proposal.pk


def test_a_failing_model_loses_nothing_and_is_asked_again(alice: User, llm: ScriptedLlm) -> None:
    pair(alice)
    replies(llm, fails(503))
    made = run(alice, "merge")
    assert made.state == "failed"
    assert "merge" in made.errors
    assert made.counts["llm"]["calls"] == 1
    replies(llm, same())
    assert len(changes(run(alice, "merge"))) == 1


@pytest.mark.django_db(transaction=True)
def test_what_was_forgotten_while_the_model_thought_is_not_written_back(
    alice: User, llm: ScriptedLlm
) -> None:
    old, _ = pair(alice)

    def forget(_: Recorded) -> None:
        from django.db import connection

        lifecycle.archive(fact=old, why=ArchivedReason.FORGOTTEN, actor=by(alice))
        connection.close()

    replies(llm, meanwhile(forget, same()))
    assert changes(run(alice, "merge")) == []
    assert Fact.objects.filter(owner=alice, state=State.PENDING).count() == 0


@pytest.mark.django_db(transaction=True)
def test_what_was_purged_while_the_model_thought_is_not_written_back(
    alice: User, llm: ScriptedLlm
) -> None:
    old, _ = pair(alice)

    def erase(_: Recorded) -> None:
        from django.db import connection

        purge(selection=chosen(owner=alice, facts=(old.pk,)), actor=by(alice))
        connection.close()

    replies(llm, meanwhile(erase, same()))
    made = run(alice, "merge")
    assert (made.state, changes(made)) == (ConsolidationRun.State.LOST, [])
    assert not Fact.objects.filter(statement=BOTH).exists()


# Which route, or none


def sensitive(owner: User) -> list[Fact]:
    conversation = ConversationFactory.create(owner=owner, sensitive=True)
    message = MessageFactory.create(conversation=conversation)
    facts = pair(owner)
    source = lifecycle.Source(message, message.content)
    lifecycle.add_evidence(fact=facts[0], sources=[source], actor=POLICY)
    return facts


def test_one_sensitive_member_keeps_the_group_off_the_general_route(
    alice: User, llm: ScriptedLlm
) -> None:
    """Timothy: merges went over the general route whatever they held."""
    sensitive(alice)
    [change] = changes(run(alice, "merge"))
    assert (change.action, "private" in change.reason) == (merge.OFFER, True)
    assert llm.requests == []


def test_it_takes_the_private_route_where_there_is_one(
    alice: User, llm: ScriptedLlm, settings: Settings
) -> None:
    from tests.llm_server import scripted_llm

    sensitive(alice)
    with scripted_llm() as private:
        route = {"model": "mine", "base_url": private.url, "api_key": "key"}
        settings.LLM_ROUTES = settings.LLM_ROUTES | {"private": route}
        replies(private, same())
        [change] = changes(run(alice, "merge"))
    assert change.action == merge.PROPOSE
    assert llm.requests == []


def test_without_a_model_the_group_is_offered_and_can_be_left_apart(
    alice: User, settings: Settings
) -> None:
    settings.LLM_ROUTES = {"general": {"model": ""}, "private": {"model": ""}}
    old, new = pair(alice)
    [change] = changes(run(alice, "merge"))
    assert (change.action, set(change.sources)) == (merge.OFFER, {old.pk, new.pk})
    undo_change(change=change, actor=by(alice))
    assert changes(run(alice, "merge")) == []


# What is no group


OSLO_1250 = "The user's rent in Oslo is 1250 euros a month."
OSLO_1350 = "The user's rent in Oslo is 1350 euros a month."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (OSLO_1250, OSLO_1350),
        ("The user prefers tea over coffee.", "The user prefers coffee over tea."),
        ("The user eats meat on Sundays.", "The user does not eat meat on Sundays."),
        ("The user has a sister named Anna.", "The user has a sister named Maria."),
    ],
    ids=["number", "order", "negation", "name"],
)
def test_what_contradicts_is_no_group(alice: User, llm: ScriptedLlm, one: str, other: str) -> None:
    embedded(durable(alice, one), durable(alice, other))
    assert changes(run(alice, "merge")) == []


@pytest.mark.parametrize("apart", ["scope", "kind", "time", "correction"])
def test_a_group_has_one_scope_one_kind_and_one_time(
    alice: User, agent: Agent, llm: ScriptedLlm, apart: str
) -> None:
    differs: dict[str, dict[str, Any]] = {
        "scope": {"agent": agent},
        "kind": {"kind": Kind.PROCEDURAL},
        "time": {"valid_until": NOW},
        "correction": {},
    }
    first, second = durable(alice, NURSE), durable(alice, NURSE_TOO, **differs[apart])
    embedded(first, second)
    if apart == "correction":
        correction(alice, second, statement=HELSINKI)
    assert changes(run(alice, "merge")) == []


def test_a_group_keeps_to_its_owner(alice: User, bob: User, llm: ScriptedLlm) -> None:
    embedded(durable(alice, NURSE), durable(bob, NURSE_TOO))
    assert changes(run(alice, "merge")) == []


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("用户住在奥斯陆的老城区。", "用户不住在奥斯陆的老城区。", False),
        ("用户住在奥斯陆的老城区。", "用户住在奥斯陆的老城区，有阳台。", True),
        ("المستخدم يسكن في أوسلو القديمة", "المستخدم لا يسكن في أوسلو القديمة", False),
        ("ผู้ใช้ชอบดื่มกาแฟดำทุกเช้า", "ผู้ใช้ไม่ชอบดื่มกาแฟดำทุกเช้า", False),
    ],
)
def test_negations_count_in_scripts_without_latin_letters(
    alice: User, llm: ScriptedLlm, one: str, other: str, alike: bool
) -> None:
    """Kai: its lexical checks knew only ASCII, so that vectors alone decided elsewhere."""
    facts = [durable(alice, one, language="simple"), durable(alice, other, language="simple")]
    assert len(list(near.groups(alice, facts))) == alike


# How many, and in turn


def test_proposals_never_flood_the_queue(
    alice: User, llm: ScriptedLlm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge, "PER_RUN", 1)
    monkeypatch.setattr(merge, "WAITING", 2)
    for town in ("Oslo", "Bergen", "Turku", "Tartu"):
        embedded(
            durable(alice, f"The user has a summer cottage near {town}."),
            durable(alice, f"The user owns a summer cottage close to {town}."),
        )
    texts = {t: f"The user owns a summer cottage near {t}." for t in ("Oslo", "Bergen", "Turku",
                                                                     "Tartu")}  # fmt: skip

    def decide(request: Recorded) -> Reply:
        town = next(t for t in texts if t in request.user)
        return same(texts[town])

    llm._answers["MergeReply"] = decide
    made = [len(changes(run(alice, "merge"))) for _ in range(4)]
    assert made == [1, 1, 0, 0]
    for proposal in Fact.objects.filter(origin=Origin.MERGE, state=State.PENDING):
        lifecycle.confirm(fact=proposal, actor=by(alice))
    assert [len(changes(run(alice, "merge"))) for _ in range(3)] == [1, 1, 0]


def test_every_fact_is_looked_at_in_turn(
    alice: User, llm: ScriptedLlm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge, "LOOKED_AT", 3)
    for n in range(5):
        durable(alice, f"The user owns hut {n * 111}.")
    pair(alice)
    replies(llm, same())
    assert [len(changes(run(alice, "merge"))) for _ in range(4)] == [0, 1, 0, 0]


def test_a_language_the_model_does_not_know_is_compared_by_words(
    alice: User, llm: ScriptedLlm
) -> None:
    first = durable(alice, "Käyttäjä asuu Helsingin keskustassa.", language="finnish")
    second = durable(alice, "Käyttäjä asuu nykyään Helsingin keskustassa.", language="finnish")
    third = durable(alice, "Käyttäjä pitää kahvista.", language="finnish")
    embedded(first, second, third)
    [group] = list(near.groups(alice, [first, second, third]))
    assert set(group.ids) == {first.pk, second.pk}


# The same words


def twins(owner: User) -> list[Fact]:
    return [
        durable(owner, "The user has a cat.", days=90),
        durable(owner, "User has the cat", days=200, created_at=ago(10)),
    ]


def test_the_same_words_are_folded_at_once_and_as_old_as_the_older(alice: User) -> None:
    message = MessageFactory.create(conversation__owner=alice)
    kept, twin = twins(alice)
    source = lifecycle.Source(message, message.content)
    lifecycle.add_evidence(fact=twin, sources=[source], actor=POLICY)
    waits = correction(alice, twin, statement=HELSINKI)
    [change] = changes(run(alice, "merge"))
    assert change.action == merge.FOLD
    assert (states(kept, twin), now_is(twin).archived_reason) == (
        [State.ACTIVE, State.ARCHIVED], ArchivedReason.MERGED,
    )  # fmt: skip
    assert now_is(kept).last_confirmed_at == ago(200)
    assert quotes(kept) == {message.content}
    assert [row.target_id for row in waits.targets.all() if row.open] == [kept.pk]


def test_a_fold_is_undone_and_not_done_again(alice: User) -> None:
    kept, twin = twins(alice)
    before = now_is(kept)
    [change] = changes(run(alice, "merge"))
    undo_change(change=change, actor=by(alice))
    assert states(kept, twin) == [State.ACTIVE, State.ACTIVE]
    row = now_is(kept)
    assert (row.last_confirmed_at, row.reviewer, row.reviewed_at) == (
        before.last_confirmed_at, before.reviewer, before.reviewed_at,
    )  # fmt: skip
    assert now_is(twin).superseded_by is None
    assert changes(run(alice, "merge")) == []


def test_a_fold_is_not_undone_once_its_fact_was_replaced(alice: User) -> None:
    kept, twin = twins(alice)
    [change] = changes(run(alice, "merge"))
    new = lifecycle.supersede(
        targets=[now_is(kept)],
        draft=lifecycle.Draft("The user has a dog.", Kind.SEMANTIC, Origin.MANUAL, NOW),
        actor=by(alice),
    )
    with pytest.raises(CannotUndo) as refused:
        undo_change(change=change, actor=by(alice))
    assert refused.value.fact == kept.pk
    assert states(kept, twin, new) == [State.ARCHIVED, State.ARCHIVED, State.ACTIVE]
    assert ConsolidationChange.objects.get(pk=change.pk).undone_at is None


def test_the_same_words_in_two_scopes_are_two_facts(alice: User, agent: Agent) -> None:
    both = [active(alice, "The user has a cat."), active(alice, "User has a cat", agent=agent)]
    assert changes(run(alice, "merge")) == []
    assert states(*both) == [State.ACTIVE, State.ACTIVE]
