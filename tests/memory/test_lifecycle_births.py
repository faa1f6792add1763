import dataclasses
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from agents.audit import POLICY, command, key_holder, person
from agents.gate import MemoryOff
from agents.models import Agent, ApiKey, User
from memory import lifecycle
from memory.lifecycle import Draft, EntityRef
from memory.models import Entity, Fact, Tombstone
from memory.text import tombstone_digest
from memory.vocabulary import ArchivedReason, EntityType, Kind, Origin, State, Withheld
from tests.factories import MONDAY, ApiKeyFactory, FactFactory, UserFactory
from tests.memory.steps import (
    HELSINKI,
    OSLO,
    active,
    by_hand,
    candidate,
    draft,
    everything,
    now_is,
    quotes,
    said,
    state,
    trail,
)

pytestmark = pytest.mark.django_db


def test_a_candidate_waits_with_all_that_was_said_of_it(alice: User, agent: Agent) -> None:
    source = said(alice)
    entity = EntityRef(EntityType.PLACE, "Helsinki", ("Helsingfors",))
    fact = candidate(
        alice,
        agent=agent,
        sources=(source,),
        entities=(entity,),
        withheld_for=(Withheld.DURABLE,),
        conversation=source.message.conversation,
    )
    row = now_is(fact)
    assert (row.state, row.agent, row.reviewer) == (State.PENDING, agent, None)
    assert (row.observed_at, row.last_confirmed_at) == (MONDAY, MONDAY)
    assert quotes(row) == {"I moved to Helsinki."}
    aliases = row.entities.get().aliases.values_list("normal_name", flat=True)
    assert set(aliases) == {"helsinki", "helsingfors"}
    (birth,) = trail(row)
    assert (birth.action, birth.actor, birth.before) == ("insert", "policy", None)
    assert birth.after is not None
    assert birth.after["statement"] == HELSINKI


def test_an_entity_is_found_again_by_any_of_its_names(alice: User) -> None:
    first = EntityRef(EntityType.PLACE, "Helsinki", ("Helsingfors",))
    again = EntityRef(EntityType.PLACE, "HELSINGFORS", ("Stadi",))
    candidate(alice, entities=(first,))
    other = candidate(alice, "The user was born in Helsinki.", entities=(again, first))
    entity = Entity.objects.get(owner=alice)
    assert entity.name == "Helsinki"
    assert list(other.entities.all()) == [entity]
    assert entity.aliases.filter(normal_name="stadi").exists()


def test_policy_activates_only_what_its_rule_knows(alice: User) -> None:
    event = draft("The user moved on Monday.", kind=Kind.EPISODIC)
    fact = lifecycle.propose(owner=alice, agent=None, draft=event, actor=POLICY, state=State.ACTIVE)
    assert (state(fact), fact.reviewer) == (State.ACTIVE, None)
    told = draft("The user has a cat.", origin=Origin.REMEMBER)
    remembered = lifecycle.propose(
        owner=alice, agent=None, draft=told, actor=command("remember"), state=State.ACTIVE
    )
    assert state(remembered) == State.ACTIVE


@pytest.mark.parametrize(
    ("kind", "origin"),
    [
        (Kind.SEMANTIC, Origin.EXTRACTION),
        (Kind.PROCEDURAL, Origin.EXTRACTION),
        (Kind.EPISODIC, Origin.REFLECTION),
        (Kind.EPISODIC, Origin.MERGE),
        (Kind.EPISODIC, Origin.IMPORT),
    ],
)
def test_policy_activates_nothing_else(alice: User, kind: Kind, origin: Origin) -> None:
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.propose(
            owner=alice,
            agent=None,
            draft=draft(kind=kind, origin=origin),
            actor=POLICY,
            state=State.ACTIVE,
        )
    assert not Fact.objects.exists()


@pytest.mark.parametrize("born", [State.REJECTED, State.ARCHIVED])
def test_a_fact_is_born_pending_or_active(alice: User, born: State) -> None:
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.propose(owner=alice, agent=None, draft=draft(), actor=person(alice), state=born)


def test_the_owner_adds_a_fact_by_hand(alice: User) -> None:
    fact = lifecycle.propose(
        owner=alice,
        agent=None,
        draft=by_hand(OSLO),
        actor=person(alice),
        state=State.ACTIVE,
        reason="typed",
    )
    row = now_is(fact)
    assert (row.state, row.reviewer) == (State.ACTIVE, alice)
    # The person who adds it says that it holds now.
    assert row.last_confirmed_at == row.reviewed_at == row.created_at
    assert (trail(row)[0].actor, trail(row)[0].reason) == (f"person:{alice.pk}", "typed")


@pytest.mark.parametrize("scopes", [["propose"], ["propose", "remember", "admin"]])
def test_no_key_without_review_speaks_for_the_owner(alice: User, scopes: list[str]) -> None:
    key = ApiKeyFactory.create(owner=alice, scopes=scopes)
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.propose(owner=alice, agent=None, draft=by_hand(OSLO), actor=key_holder(key))


def test_a_review_key_speaks_for_its_owner_alone(alice: User, bob: User) -> None:
    key = ApiKeyFactory.create(owner=alice, scopes=[ApiKey.Scope.REVIEW])
    mine, his = candidate(alice), candidate(bob)
    assert lifecycle.confirm(fact=mine, actor=key_holder(key)).state == State.ACTIVE
    assert trail(mine)[-1].actor == f"key:{key.pk}"
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.confirm(fact=his, actor=key_holder(key))
    assert state(his) == State.PENDING


def test_an_administrator_may_repair_for_others(alice: User) -> None:
    fact = candidate(alice)
    root = UserFactory.create(is_superuser=True)
    assert lifecycle.reject(fact=fact, actor=person(root)).reviewer == root


def test_equal_text_of_one_scope_is_refused(alice: User, agent: Agent) -> None:
    first = candidate(alice, HELSINKI)
    with pytest.raises(lifecycle.Duplicate) as refusal:
        candidate(alice, "the user lives in  helsinki")
    assert refusal.value.existing == first
    assert candidate(alice, HELSINKI, agent=agent).pk != first.pk


def test_what_the_owner_rejected_stays_away_until_reconsidered(alice: User) -> None:
    first = lifecycle.reject(fact=candidate(alice), actor=person(alice))
    with pytest.raises(lifecycle.Duplicate) as refusal:
        candidate(alice)
    assert refusal.value.existing == first
    lifecycle.reconsider(fact=first, actor=person(alice))
    with pytest.raises(lifecycle.Duplicate):
        candidate(alice)


def test_a_rejected_correction_stays_away_in_the_scope_of_its_target(
    alice: User, agent: Agent
) -> None:
    target = active(alice, OSLO)

    def propose() -> Fact:
        return lifecycle.propose(
            owner=alice, agent=agent, draft=draft(HELSINKI), actor=POLICY, targets=[target]
        )

    first = lifecycle.reject(fact=propose(), actor=person(alice))
    with pytest.raises(lifecycle.Duplicate) as refusal:
        propose()
    assert refusal.value.existing == first


def test_what_was_forgotten_comes_back_only_by_hand(alice: User, agent: Agent) -> None:
    fact = lifecycle.archive(
        fact=active(alice, OSLO), why=ArchivedReason.FORGOTTEN, actor=person(alice)
    )
    for scope in (None, agent):
        with pytest.raises(lifecycle.Tombstoned):
            candidate(alice, OSLO, agent=scope)
    typed = lifecycle.propose(
        owner=alice, agent=None, draft=by_hand(OSLO), actor=person(alice), state=State.ACTIVE
    )
    assert (state(typed), state(fact)) == (State.ACTIVE, State.ARCHIVED)
    # Now it is known again, and restating it is no return of the forgotten.
    with pytest.raises(lifecycle.Duplicate):
        candidate(alice, OSLO)


def test_what_was_purged_leaves_a_hash_that_blocks_it(alice: User, bob: User) -> None:
    digest = tombstone_digest("the user lives in Helsinki", settings.HASH_KEY.encode())
    Tombstone.objects.create(owner=alice, digest=digest)
    with pytest.raises(lifecycle.Tombstoned):
        candidate(alice, HELSINKI)
    assert candidate(bob, HELSINKI).state == State.PENDING


@pytest.mark.parametrize("origin", [Origin.EXTRACTION, Origin.MANUAL])
def test_nothing_is_stored_while_memory_is_off(origin: Origin) -> None:
    owner = UserFactory.create(settings__memory_enabled=False)
    with pytest.raises(MemoryOff):
        lifecycle.propose(owner=owner, agent=None, draft=draft(origin=origin), actor=person(owner))
    assert not Fact.objects.exists()


def test_nobody_writes_into_anothers_memory(alice: User, bob: User, bobs_agent: Agent) -> None:
    his = active(bob, OSLO)
    tries: list[tuple[Agent | None, list[Fact]]] = [(bobs_agent, []), (None, [his])]
    for agent, targets in tries:
        with pytest.raises(lifecycle.NotAllowed):
            lifecycle.propose(
                owner=alice, agent=agent, draft=draft(), actor=POLICY, targets=targets
            )
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.propose(
            owner=bob, agent=None, draft=by_hand(OSLO), actor=person(alice), state=State.ACTIVE
        )
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.supersede(targets=[his], draft=by_hand(HELSINKI), actor=person(alice))
    assert list(Fact.objects.values_list("statement", flat=True)) == [OSLO]


def test_a_message_from_the_future_confirms_nothing_ahead_of_time(alice: User) -> None:
    ahead = timezone.now() + timedelta(days=30)
    fact = candidate(alice, observed_at=ahead)
    assert fact.observed_at == ahead
    assert now_is(fact).last_confirmed_at <= timezone.now()


# Caps


@pytest.fixture
def full(alice: User) -> Fact:
    """Alice's limit of global facts is one, and this one fills it."""
    fact = active(alice, OSLO)
    alice.settings.cap_global = 1
    alice.settings.cap_per_agent = 0
    alice.settings.save()
    return fact


def test_at_the_cap_proposals_still_wait(alice: User, agent: Agent, full: Fact) -> None:
    assert candidate(alice, "The user has a cat.").state == State.PENDING
    assert candidate(alice, "The user has a cat.", agent=agent).state == State.PENDING


def test_at_the_cap_what_policy_would_activate_waits_and_says_why(alice: User, full: Fact) -> None:
    event = draft("The user moved on Monday.", kind=Kind.EPISODIC, withheld_for=())
    fact = lifecycle.propose(owner=alice, agent=None, draft=event, actor=POLICY, state=State.ACTIVE)
    assert (state(fact), fact.withheld_for) == (State.PENDING, [Withheld.CAP_REACHED])


def test_at_the_cap_corrections_still_apply(alice: User, full: Fact) -> None:
    waiting = lifecycle.propose(
        owner=alice, agent=None, draft=draft(HELSINKI), actor=POLICY, targets=[full]
    )
    assert lifecycle.confirm(fact=waiting, actor=person(alice)).state == State.ACTIVE
    assert state(full) == State.ARCHIVED


def test_at_the_cap_a_person_is_told(alice: User, agent: Agent, full: Fact) -> None:
    waiting = candidate(alice, "The user has a cat.")
    before = everything(alice)
    with pytest.raises(lifecycle.AtCap, match="limit of 1 active facts for all assistants"):
        lifecycle.confirm(fact=waiting, actor=person(alice))
    with pytest.raises(lifecycle.AtCap, match="for Main"):
        lifecycle.promote(fact=full, agent=agent, actor=person(alice))
    with pytest.raises(lifecycle.AtCap):
        lifecycle.propose(
            owner=alice,
            agent=None,
            draft=by_hand("The user has a dog."),
            actor=person(alice),
            state=State.ACTIVE,
        )
    gone = FactFactory.create(owner=alice, state=State.ARCHIVED)
    with pytest.raises(lifecycle.AtCap):
        lifecycle.restore(fact=gone, actor=person(alice))
    assert everything(alice)[: len(before) - 1] == before[:-1]


# Supersede by a person


def test_a_person_replaces_several_facts_by_one(alice: User) -> None:
    old = [
        active(alice, f"The user has {n} cats.", observed_at=MONDAY + timedelta(days=n))
        for n in (1, 2)
    ]
    new = lifecycle.supersede(
        targets=[*old, old[0]], draft=by_hand("The user has cats."), actor=person(alice)
    )
    rows = [now_is(fact) for fact in old]
    assert {row.superseded_by for row in rows} == {new}
    assert {row.archived_reason for row in rows} == {ArchivedReason.MERGED}
    # Merging keeps the oldest confirmation: nobody said the old things again.
    assert now_is(new).last_confirmed_at == MONDAY + timedelta(days=1)


def test_supersede_refuses(alice: User, bob: User, agent: Agent) -> None:
    here, there, his = active(alice), active(alice, agent=agent), active(bob)
    waiting = candidate(alice, "The user has a cat.")
    refusals: list[tuple[list[Fact], Draft, type[lifecycle.LifecycleError]]] = [
        ([], by_hand(HELSINKI), lifecycle.NotAllowed),
        ([here, there], by_hand(HELSINKI), lifecycle.NotAllowed),
        ([here, his], by_hand(HELSINKI), lifecycle.NotAllowed),
        ([waiting], by_hand(HELSINKI), lifecycle.Conflict),
        ([here], by_hand(waiting.statement), lifecycle.Duplicate),
    ]
    before = everything(alice)
    for targets, new, error in refusals:
        with pytest.raises(error):
            lifecycle.supersede(targets=targets, draft=new, actor=person(alice))
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.supersede(targets=[here], draft=by_hand(HELSINKI), actor=POLICY)
    assert everything(alice) == before


def test_a_draft_is_a_value() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        draft().statement = "changed"  # type: ignore[misc]
