"""Purge: nothing of the text is left anywhere, and nobody else's is touched."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from agents.audit import POLICY, Actor, command, person
from agents.models import Agent, AuditEvent, User
from conversations import passages
from conversations.models import Conversation, Import, Message, Passage
from memory import lifecycle
from memory.lifecycle import EntityRef
from memory.models import (
    Derivation,
    DroppedCandidate,
    Entity,
    EntityAlias,
    Evidence,
    ExtractionRun,
    Fact,
    FactEmbedding,
    Profile,
    ProfileCitation,
    ProfileSentence,
    RecalledFact,
    Tombstone,
)
from memory.purge.execute import forget, purge
from memory.purge.plan import Deed, plan_of
from memory.purge.selection import BadSelection, chosen
from memory.text import text_hash
from memory.vocabulary import ArchivedReason, EntityType, Gate, Kind, Origin, State, Withheld
from tests.factories import MONDAY, ApiKeyFactory, ConversationFactory, FactFactory, MessageFactory
from tests.memory.candidates import a_run
from tests.memory.dumping import dump, found
from tests.memory.raw import refused, sql, value
from tests.memory.steps import active, by, draft, edit, now_is, said, state

pytestmark = pytest.mark.django_db

TEXT = "The user is treated for narcolepsy in Quimperlé."
WORDS = ("narcolep", "Quimperl")
SAID = "I am treated for narcolepsy in Quimperlé."


def stored(message: Message) -> Message:
    passages.store([message])
    return message


@pytest.fixture
def talk(agent: Agent) -> Conversation:
    return ConversationFactory.create(agent=agent, title="Narcolepsy and me")


@pytest.fixture
def fact(talk: Conversation, agent: Agent) -> Fact:
    """An active fact with everything that can hang on one."""
    message = stored(MessageFactory.create(conversation=talk, content=SAID, speaker="Zenobia"))
    run = a_run(talk, state="applied", error="could not read narcolepsy")
    row = lifecycle.propose(
        owner=agent.owner,
        agent=agent,
        draft=draft(
            TEXT,
            sources=(lifecycle.Source(message, SAID),),
            entities=(EntityRef(EntityType.PLACE, "Quimperlé", ("Quimperle town",)),),
            conversation=talk,
            run=run,
            withheld_for=(Withheld.CONTACT,),
            withheld_detail="in Quimperlé",
        ),
        actor=POLICY,
    )
    lifecycle.confirm(fact=row, actor=by(agent.owner), reason="yes, narcolepsy")
    FactEmbedding.objects.create(owner=row.owner, fact=row, model="m", vector=[1.0])
    RecalledFact.objects.create(owner=row.owner, fact=row, conversation=talk)
    DroppedCandidate.objects.create(
        owner=row.owner, run=run, gate=Gate.SKIPPED, statement=TEXT, quote=SAID, detail="narcolepsy"
    )
    Passage.objects.create(
        owner=row.owner, conversation=talk, message=message, kind="breadcrumb", text="Quimperlé",
        text_hash=passages.digest("x"), said_at=MONDAY,
    )  # fmt: skip
    return now_is(row)


def only(row: Fact) -> Any:
    return chosen(owner=row.owner, facts=(row.pk,))


def purged(row: Fact) -> Any:
    return purge(selection=only(row), actor=by(row.owner))


def everywhere(*words: str) -> set[str]:
    return found(dump(), *words)


def test_a_dump_after_a_purge_holds_nothing_of_it(fact: Fact) -> None:
    assert len({place.split(":")[0] for place in everywhere(*WORDS)}) > 10
    hashed = now_is(fact).text_hash
    erased = purged(fact)
    assert everywhere(*WORDS, hashed, "Zenobia") == set()
    assert (erased["facts"], erased["messages"], erased["entities"]) == (1, 1, 1)
    assert Message.objects.get().content == Message.PURGED


def test_what_stays_is_a_shell_with_ids_states_and_times(fact: Fact) -> None:
    purged(fact)
    row = now_is(fact)
    assert (row.state, row.archived_reason, row.statement) == ("archived", "purged", "[purged]")
    trail = AuditEvent.objects.filter(table="memory_fact", row_id=str(fact.pk)).order_by("id")
    assert [(line.after or {})["state"] for line in trail] == ["pending", "active", "archived"]
    assert [line.reason for line in trail] == ["", "", "purge"]
    assert {line.actor for line in trail} == {"policy", f"person:{fact.owner_id}"}
    assert all("statement" not in (line.after or {}) | (line.before or {}) for line in trail)


def test_the_trail_tells_of_purged_messages_by_number(fact: Fact, talk: Conversation) -> None:
    purged(fact)
    line = AuditEvent.objects.get(table="conversations_conversation", row_id=str(talk.pk))
    assert (line.actor, line.after) == (f"person:{fact.owner_id}", {"purged_messages": 1})


def test_no_step_brings_a_purged_fact_back(fact: Fact) -> None:
    purged(fact)
    for step in (lifecycle.restore, lifecycle.undo, lifecycle.confirm, lifecycle.reconsider):
        with pytest.raises(lifecycle.Purged, match="nothing of it is left"):
            step(fact=fact, actor=by(fact.owner))
    with refused("Nothing is left of a purged fact"):
        sql("UPDATE memory_fact SET state = 'active', archived_reason = ''")


def test_doing_it_twice_adds_nothing(fact: Fact) -> None:
    selection = only(fact)
    purged(fact)
    before = dump()
    assert not purge(selection=selection, actor=by(fact.owner))
    assert dump() == before


# What goes along, and what stays


def test_equal_texts_in_any_scope_and_state_go_along(fact: Fact, second_agent: Agent) -> None:
    FactFactory.create(owner=fact.owner, agent=None, statement=TEXT.upper())
    rejected = FactFactory.create(
        owner=fact.owner, agent=second_agent, statement=TEXT, state=State.REJECTED
    )
    FactFactory.create(owner=fact.owner, agent=second_agent, statement=TEXT)
    assert purged(fact)["facts"] == 4
    assert everywhere(*WORDS) == set()
    assert now_is(rejected).archived_reason == ArchivedReason.PURGED


def test_earlier_wordings_go_along_and_a_successor_stays(alice: User) -> None:
    first = active(alice, "The user lives in Oslo.")
    second = lifecycle.correct(
        fact=first, edit=edit("The user lives in Oslo centre."), actor=by(alice)
    )
    third = lifecycle.correct(fact=second, edit=edit("The user lives in Bergen."), actor=by(alice))
    plan = plan_of(only(second), Deed.PURGE)
    assert [row.pk for row in plan.kept] == [third.pk]
    purged(second)
    assert everywhere("Oslo") == set()
    assert state(third) == State.ACTIVE
    assert now_is(second).superseded_by_id == third.pk


def test_a_merge_goes_with_one_member_and_the_other_stands_again(alice: User) -> None:
    """Its messages stay as well."""
    cat, dog = active(alice, "The user has a cat."), active(alice, "The user has a dachshund.")
    barked = said(alice, "I have a dachshund.")
    lifecycle.add_evidence(fact=dog, sources=[barked], actor=POLICY)
    lifecycle.add_evidence(fact=cat, sources=[said(alice, "I have a cat.")], actor=POLICY)
    both = lifecycle.merge(
        facts=[cat, dog], edit=edit("The user has a cat and a dachshund."), actor=by(alice)
    )
    again = lifecycle.correct(
        fact=both, edit=edit("The user has one cat and one dachshund."), actor=by(alice)
    )
    purged(cat)
    assert everywhere("has a cat", "one cat", "have a cat") == set()
    assert (state(dog), now_is(dog).superseded_by_id) == (State.ACTIVE, None)
    assert {now_is(row).archived_reason for row in (cat, both, again)} == {ArchivedReason.PURGED}
    barked.message.refresh_from_db()
    assert barked.message.content == "I have a dachshund."


def test_a_proposed_merge_and_an_insight_go_along(alice: User, fact: Fact) -> None:
    other = active(alice, "The user naps.")
    merge = lifecycle.propose(
        owner=alice, agent=fact.agent,
        draft=draft("The user naps because of narcolepsy.", origin=Origin.MERGE),
        actor=POLICY, targets=[fact],
    )  # fmt: skip
    insight = FactFactory.create(
        owner=alice, statement="Narcolepsy shapes the day.", origin=Origin.REFLECTION
    )
    for source in (fact, other):
        Derivation.objects.create(owner=alice, fact=insight, source=source)
    assert plan_of(only(fact), Deed.PURGE).derived == 2
    purged(fact)
    assert everywhere(*WORDS) == set()
    assert {now_is(row).archived_reason for row in (merge, insight)} == {ArchivedReason.PURGED}
    assert state(other) == State.ACTIVE


def test_sentences_of_a_profile_go_along(alice: User, agent: Agent, fact: Fact) -> None:
    other = active(alice, "The user naps.")
    profile = Profile.objects.create(
        owner=alice, agent=agent, digest="0" * 64, written_by="scripted"
    )
    for place, (text, source) in enumerate([("They sleep, narcolepsy.", fact), ("Naps.", other)]):
        sentence = ProfileSentence.objects.create(
            owner=alice, profile=profile, place=place, text=text
        )
        ProfileCitation.objects.create(owner=alice, sentence=sentence, fact=source)
    purged(fact)
    assert everywhere(*WORDS) == set()
    assert ProfileSentence.objects.get().text == "Naps."
    profile.refresh_from_db()
    assert profile.digest == ""


def test_another_fact_of_the_same_message_stays_without_its_quote(alice: User, fact: Fact) -> None:
    message = Message.objects.get()
    beside = FactFactory.create(
        owner=alice, statement="The user likes chess.", state=State.ACTIVE, message=message
    )
    assert [row.pk for row in plan_of(only(fact), Deed.PURGE).kept] == [beside.pk]
    purged(fact)
    assert (state(beside), Evidence.objects.get().quote) == (State.ACTIVE, "[purged]")


def test_a_correction_of_it_becomes_a_plain_candidate(alice: User, fact: Fact) -> None:
    waiting = lifecycle.propose(
        owner=alice, agent=fact.agent, draft=draft("The user is well."), actor=POLICY,
        targets=[fact],
    )  # fmt: skip
    purged(fact)
    row = now_is(waiting)
    assert (row.state, row.withheld_for[0]) == (State.PENDING, Withheld.TARGET_GONE)
    lifecycle.confirm(fact=row, actor=by(alice))


def test_a_name_that_others_name_stays_without_what_only_this_said(alice: User) -> None:
    maria = EntityRef(EntityType.PERSON, "Maria Rossi", ("Maria", "La Rossi"))
    rows = [
        lifecycle.propose(
            owner=alice, agent=None, draft=draft(text, entities=(maria,)), actor=POLICY
        )
        for text in ("The user's wife is Maria Rossi.", "The user cooks with Maria.")
    ]
    purged(rows[0])
    assert everywhere("Rossi") == set()
    assert Entity.objects.get().name == EntityAlias.objects.get().name == "Maria"


def test_other_versions_the_same_words_and_summaries_of_the_message_go_along(
    alice: User, agent: Agent
) -> None:
    talk = ConversationFactory.create(agent=agent)
    first = stored(MessageFactory.create(conversation=talk, content="I take modafinil every day."))
    edited = MessageFactory.create(
        conversation=talk, content="I take modafinil daily.", replaces=first
    )
    MessageFactory.create(conversation=talk, content=first.content)
    MessageFactory.create(
        conversation=talk, role="system", kind="summary", content="They take modafinil."
    )
    kept = MessageFactory.create(conversation=talk, content="Nice weather today, is it not?")
    row = FactFactory.create(owner=alice, statement="The user takes modafinil.", message=edited)
    assert purged(row)["messages"] == 4
    assert everywhere("modafinil") == set()
    kept.refresh_from_db()
    assert kept.content != Message.PURGED


def test_a_client_that_sends_it_again_brings_nothing_back(fact: Fact, talk: Conversation) -> None:
    from conversations.ingest import Incoming, Into, store_messages

    purged(fact)
    into = Into(
        agent=talk.agent, source=talk.source, external_id=talk.external_id, title="Narcolepsy"
    )
    message = Incoming(client_id="m1", role=Message.Role.USER, content=SAID, sent_at=MONDAY)
    assert store_messages(into=into, messages=[message]).new == 0
    assert everywhere(*WORDS) == set()


def test_purged_messages_are_not_read_again(fact: Fact, talk: Conversation) -> None:
    from memory.extraction.windows import next_window

    Conversation.objects.filter(pk=talk.pk).update(cursor_seq=0)
    purged(fact)
    window = next_window(Conversation.objects.get(pk=talk.pk))
    assert window is not None
    assert window.messages == ()


# The tombstone


@pytest.mark.parametrize(
    "again",
    [
        TEXT,
        "the user is treated, for: NARCOLEPSY in Quimperlé",
        "User is treated for the narcolepsy  in Quimperle\u0301!",
    ],
)
def test_a_tombstone_bars_it_from_coming_back(fact: Fact, bob: User, again: str) -> None:
    purged(fact)
    with pytest.raises(lifecycle.Tombstoned):
        lifecycle.propose(owner=fact.owner, agent=None, draft=draft(again), actor=POLICY)
    lifecycle.propose(owner=bob, agent=None, draft=draft(again), actor=POLICY)


def test_a_tombstone_is_no_plain_hash(fact: Fact) -> None:
    purged(fact)
    assert Tombstone.objects.get().digest != text_hash(TEXT)


def test_its_owner_may_write_it_down_again(fact: Fact) -> None:
    purged(fact)
    again = lifecycle.propose(
        owner=fact.owner, agent=None, draft=draft(TEXT, origin=Origin.MANUAL),
        actor=by(fact.owner), state=State.ACTIVE,
    )  # fmt: skip
    assert state(again) == State.ACTIVE


def test_what_was_read_before_a_purge_writes_nothing_back(fact: Fact, alice: User) -> None:
    """By a job that holds the rows: as evidence, as a merge, as a new candidate."""
    message = Message.objects.get()
    quote = lifecycle.Source(message, SAID)
    other = active(alice, "The user naps.")
    purged(fact)
    with pytest.raises(lifecycle.Tombstoned):
        lifecycle.propose(
            owner=alice, agent=None, draft=draft("In other words.", sources=(quote,)), actor=POLICY
        )
    with pytest.raises(lifecycle.Tombstoned):
        lifecycle.propose(
            owner=alice, agent=fact.agent, draft=draft("A merge.", origin=Origin.MERGE),
            actor=POLICY, targets=[fact],
        )  # fmt: skip
    assert lifecycle.add_evidence(fact=other, sources=[quote], actor=POLICY) == 0
    assert everywhere(*WORDS) == set()


# Who may, and whose


def test_only_a_person_purges(fact: Fact, bob: User) -> None:
    for actor in (POLICY, command("purge"), person(bob)):
        with pytest.raises(lifecycle.NotAllowed):
            purge(selection=only(fact), actor=actor)
    assert state(fact) == State.ACTIVE


def test_the_function_refuses_what_belongs_to_another_owner(fact: Fact, bob: User) -> None:
    message, talk = Message.objects.get(), Conversation.objects.get()
    before = dump()

    def ask(**ids: Any) -> None:
        names = ("facts", "messages", "talks", "others")
        lists = [[str(pk) for pk in ids.get(name, [])] for name in names]
        sql(
            "SELECT remembrancer_purge(%s, %s::uuid[], %s::uuid[], %s::uuid[], %s::uuid[], %s, %s)",
            [bob.pk, *lists, [], "person:bob"],
        )

    for name, row in (("facts", fact), ("messages", message), ("talks", talk)):
        with refused("Only what belongs to this owner"):
            ask(**{name: [row.pk]})
    dropped = DroppedCandidate.objects.get()
    ask(others=[dropped.pk, Entity.objects.get().pk])
    assert dump() == before
    with refused("who asked for it"):
        sql("SELECT remembrancer_purge(%s, '{}', '{}', '{}', '{}', '{}', '')", [bob.pk])


def test_the_application_erases_in_no_other_way(fact: Fact) -> None:
    names = (
        "purge_facts(%(owner)s, ARRAY[%(fact)s])",
        "purge_record(%(owner)s, ARRAY[(SELECT id FROM conversations_message)], '{}', '{}')",
        "purges_conclusions(%(owner)s, ARRAY[%(fact)s], '{}', '{}', '{}')",
        "purge_trail('memory_fact', ARRAY[%(fact)s], 0)",
    )
    ids = {"owner": f"'{fact.owner_id}'::uuid", "fact": f"'{fact.pk}'::uuid"}
    sql("SET LOCAL remembrancer.purging = 'on'")
    for name in names:
        with refused():
            sql(f"SELECT remembrancer_{name % ids}")
    with refused("Only the purge function purges"):
        sql("UPDATE memory_fact SET state = 'archived', archived_reason = 'purged'")
    assert value("SELECT has_function_privilege('public', 'remembrancer_purge(uuid, uuid[], uuid[],"
                 " uuid[], uuid[], text[], text)', 'EXECUTE')") is False  # fmt: skip


# By every rule


@pytest.fixture
def other_talk(second_agent: Agent) -> Conversation:
    """What must stay, whatever is purged of the first conversation."""
    talk = ConversationFactory.create(agent=second_agent, source="import", title="Chess")
    message = stored(MessageFactory.create(conversation=talk, content="I play chess on Sundays."))
    FactFactory.create(
        agent=second_agent, conversation=talk, statement="The user plays chess.",
        message=message, state=State.ACTIVE,
    )  # fmt: skip
    return talk


def rules(fact: Fact, talk: Conversation) -> dict[str, dict[str, Any]]:
    return {
        "facts": {"facts": (fact.pk,)},
        "conversation": {"conversation": talk},
        "agent": {"agent": talk.agent},
        "source": {"source": talk.source},
        "run": {"run": ExtractionRun.objects.get()},
        "time": {"since": MONDAY - timedelta(days=1), "until": MONDAY + timedelta(days=1)},
        "match": {"match": "narcolepsy"},
        "everything": {"everything": True},
    }


@pytest.mark.parametrize(
    "rule", ["facts", "conversation", "agent", "source", "run", "time", "match", "everything"]
)
def test_by_every_rule(fact: Fact, talk: Conversation, bob: User, rule: str) -> None:
    FactFactory.create(owner=bob, statement=TEXT, state=State.ACTIVE)
    selection = chosen(owner=fact.owner, **rules(fact, talk)[rule])
    plan = plan_of(selection, Deed.PURGE)
    assert (plan.facts_in_all, plan.messages) == (1, 1)
    assert [row.statement for row in plan.examples] == [TEXT]
    erased = purge(selection=selection, actor=by(fact.owner))
    assert (erased["facts"], erased["messages"]) == (1, 1)
    left = everywhere(*WORDS)
    assert {place.split(":")[0] for place in left} == {
        "agents_auditevent", "memory_fact", "memory_factterm"
    }  # fmt: skip
    assert Fact.objects.get(owner=bob).statement == TEXT
    assert plan_of(selection, Deed.PURGE).is_empty


@pytest.mark.parametrize("rule", ["conversation", "agent", "source", "match"])
def test_a_rule_takes_no_more_than_it_says(
    fact: Fact, talk: Conversation, other_talk: Conversation, rule: str
) -> None:
    purge(
        selection=chosen(owner=fact.owner, **rules(fact, talk)[rule]),
        actor=by(fact.owner),
    )
    assert everywhere(*WORDS) == set()
    assert Fact.objects.get(conversation=other_talk).state == State.ACTIVE
    assert other_talk.messages.get().content.startswith("I play chess")
    other_talk.refresh_from_db()
    assert other_talk.title == "Chess"


def test_by_import_and_by_client(alice: User, agent: Agent) -> None:
    imported = Import.objects.create(owner=alice, format="jsonl", file_name="x.jsonl")
    key = ApiKeyFactory.create(agent=agent)
    ways: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"imported_by": imported}, {"imported": imported}),
        ({"client": key}, {"client": key}),
    ]
    for way, rule in ways:
        FactFactory.create(owner=alice, statement="The user sings tenor.", **way)
        talk = ConversationFactory.create(agent=agent, **way)
        MessageFactory.create(conversation=talk, content="I sing tenor.")
        purge(selection=chosen(owner=alice, **rule), actor=by(alice))
        assert everywhere("tenor") == set()


def test_rules_narrow_each_other(fact: Fact, talk: Conversation, alice: User) -> None:
    later: dict[str, Any] = {"since": MONDAY + timedelta(days=9), "match": "narcolepsy"}
    assert plan_of(chosen(owner=alice, **later), Deed.PURGE).is_empty
    both: dict[str, Any] = {"agent": talk.agent, "match": "narcolepsy"}
    assert plan_of(chosen(owner=alice, **both), Deed.PURGE).facts_in_all == 1


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        ("narcolepsy in  quimperle\u0301", True),
        ("narcolep", False),
        ("(narcolepsy", False),
        ("treated.for", False),
        ("NARCOLEPSY", True),
    ],
)
def test_a_match_is_of_whole_words_and_never_a_pattern(
    fact: Fact, text: str, matched: bool
) -> None:
    assert plan_of(chosen(owner=fact.owner, match=text), Deed.PURGE).is_empty is not matched


def test_a_match_works_where_words_are_not_parted(alice: User) -> None:
    FactFactory.create(owner=alice, statement="用户住在北京市。", state=State.ACTIVE)
    assert plan_of(chosen(owner=alice, match="在北京"), Deed.PURGE).facts_in_all == 1


@pytest.mark.parametrize(
    "nothing",
    [
        {},
        {"facts": ()},
        {"match": ""},
        {"match": "  a "},
        {"source": ""},
        {"everything": False},
        {"since": MONDAY, "until": MONDAY},
        {"facts": (UUID(int=0),)},
        {"everything": True, "match": "cats"},
    ],
)
def test_nothing_is_never_taken_for_everything(alice: User, nothing: dict[str, Any]) -> None:
    with pytest.raises(BadSelection):
        chosen(owner=alice, **nothing)


# Forgetting


def test_forgetting_archives_and_bars(fact: Fact, talk: Conversation) -> None:
    selection = chosen(owner=fact.owner, conversation=talk)
    assert plan_of(selection, Deed.FORGET).facts == {"active": 1}
    assert forget(selection=selection, actor=by(fact.owner)) == 1
    assert now_is(fact).archived_reason == ArchivedReason.FORGOTTEN
    reworded = "User is treated for narcolepsy, in the Quimperlé"
    with pytest.raises(lifecycle.Tombstoned):
        lifecycle.propose(owner=fact.owner, agent=None, draft=draft(reworded), actor=POLICY)
    assert forget(selection=selection, actor=by(fact.owner)) == 0
    assert Message.objects.get().content == SAID


def test_restoring_lifts_the_bar_unless_another_holds_it(alice: User, second_agent: Agent) -> None:
    rows = [
        active(alice, "The user has a cat."),
        active(alice, "User has the cat.", agent=second_agent),
    ]
    for row in rows:
        lifecycle.archive(fact=row, why=ArchivedReason.FORGOTTEN, actor=by(alice))

    def proposed() -> Fact:
        again = draft("User, has a cat", kind=Kind.SEMANTIC)
        return lifecycle.propose(owner=alice, agent=None, draft=again, actor=POLICY)

    lifecycle.restore(fact=rows[0], actor=by(alice))
    with pytest.raises(lifecycle.Tombstoned):
        proposed()
    lifecycle.restore(fact=rows[1], actor=by(alice))
    assert proposed().state == State.PENDING


def test_forgetting_needs_a_person(fact: Fact) -> None:
    with pytest.raises(lifecycle.NotAllowed):
        forget(selection=only(fact), actor=Actor("command:forget"))


def test_what_was_forgotten_can_still_be_purged(fact: Fact) -> None:
    forget(selection=only(fact), actor=by(fact.owner))
    purged(fact)
    assert everywhere(*WORDS) == set()


def test_no_origin_is_out_of_a_purges_reach(alice: User) -> None:
    """Written by hand, imported, merged, concluded: all the same to it, and nothing need stop."""
    for number, origin in enumerate(Origin.values):
        FactFactory.create(owner=alice, statement=f"The user keeps {number} bees.", origin=origin)
    assert purge(selection=chosen(owner=alice, match="bees"), actor=by(alice))["facts"] == len(
        Origin
    )
    assert everywhere("bees") == set()


def test_nothing_forgotten_or_purged_is_served_by_any_read_path(
    alice: User, agent: Agent, fact: Fact
) -> None:
    from memory.recall.service import recall
    from memory.search.hits import Scope
    from memory.search.service import search

    forgotten = active(alice, "The user has insomnia and narcolepsy.")
    active(alice, "The user sleeps badly.")
    forget(selection=only(forgotten), actor=by(alice))
    purged(fact)
    told = recall(agent=agent, message="Does the user sleep badly, with narcolepsy or insomnia?")
    assert "sleeps badly" in told.block
    assert "narcolepsy" not in told.block
    hits = search(agent=agent, query="sleeps badly narcolepsy insomnia", scope=Scope.ALL, k=10)
    assert [hit.text for hit in hits] == ["The user sleeps badly."]
