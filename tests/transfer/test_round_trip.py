"""Out and in again: nothing is lost, nothing is changed, and a second time adds nothing."""

import re
from pathlib import Path

import pytest
from django.db.models import Q
from pytest_django.fixtures import Settings

from agents.audit import key_holder, person
from agents.models import Agent, AuditEvent, OwnerSettings, User
from conversations.models import Conversation, Import, IndexedPassage, Message, Passage, Sketch
from memory import lifecycle
from memory.cases import lifecycle as cases
from memory.lifecycle import Tombstoned
from memory.lifecycle.returns import digest_of
from memory.lifecycle.rows import draft_of
from memory.models import (
    Case,
    CaseReading,
    CorrectionTarget,
    Entity,
    EntityAlias,
    Evidence,
    Fact,
    FactEntity,
    FactTerm,
    Forgotten,
    Tombstone,
)
from memory.purge.execute import purge
from memory.purge.selection import chosen
from memory.rules import writing
from memory.rules.scope import rules_of, standing
from memory.transfer import rollback, rules
from memory.transfer.lines import CaseLine, FactLine
from memory.transfer.plan import Left
from memory.transfer.store import bring_in
from memory.vocabulary import ArchivedReason, State
from tests.factories import MONDAY, AgentFactory, ApiKeyFactory, FactFactory, UserFactory
from tests.memory.invariants import check, memory_of
from tests.transfer.stores import (
    CASES,
    Store,
    a_store,
    forget_everything,
    let_in,
    lines_of,
    written,
)

pytestmark = pytest.mark.django_db
# What a fact has besides: made again, or only for where it is.
NOT_CARRIED = {
    "owner", "text_hash", "search", "run", "client", "imported_by", "reviewer",
}  # fmt: skip
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def numbered(text: str) -> str:
    """Ids in the order in which they first come."""
    seen: dict[str, str] = {}
    return UUID.sub(lambda found: seen.setdefault(found.group(), f"#{len(seen)}"), text)


def test_an_empty_server_gets_the_identical_file_back(store: Store, file: Path) -> None:
    text = written(store.owner)
    assert "scratch: look for a flat" not in text  # it expires
    forget_everything()
    assert let_in(store.owner, text, file).new["facts"] == len(store.facts)
    assert Sketch.objects.get(owner=store.owner).text == "plan: look for a flat"
    assert written(store.owner) == text
    check(memory_of(store.owner))


def test_another_owner_of_the_same_server_gets_it_under_ids_of_their_own(
    store: Store, stranger: User, file: Path
) -> None:
    text, before = written(store.owner), memory_of(store.owner)
    let_in(stranger, text, file)
    ids = [line["id"] for line in lines_of(text) if line["type"] == "fact"]
    # Of facts that came to be in the same moment the ids decide, and those are others.
    again = written(stranger)
    assert not set(ids) & set(UUID.findall(again))
    assert sorted(numbered(text).splitlines()) == sorted(numbered(again).splitlines())
    check(memory_of(stranger))
    assert memory_of(store.owner) == before
    assert let_in(stranger, text, file).new == {}


def test_every_column_of_a_fact_is_carried_or_left_out_on_purpose() -> None:
    columns = {field.name for field in Fact._meta.concrete_fields}
    carried = set(FactLine.model_fields) - {
        "type", "targets", "derived_from", "entities", "evidence", "usage", "reviewed_by",
    }  # fmt: skip
    assert columns - NOT_CARRIED == carried


def test_every_column_of_a_case_is_carried_or_left_out_on_purpose() -> None:
    columns = {field.name for field in Case._meta.concrete_fields}
    made_again = {"id", "owner", "text_hash", "search", "origin", "reviewer", "revision"}
    assert columns - made_again == set(CaseLine.model_fields) - {"type", "sources", "reviewed_by"}


def test_cases_come_with_their_conversation_and_in_their_states(store: Store, file: Path) -> None:
    text = written(store.owner)
    forget_everything()
    assert let_in(store.owner, text, file).new["cases"] == len(CASES)
    states = dict(Case.objects.values_list("goal", "state"))
    assert sorted(states.values()) == ["active", "archived", "archived", "pending", "rejected"]
    assert CaseReading.objects.get().seq == 2
    me = person(store.owner)
    for case in Case.objects.filter(state="archived"):
        cases.restore(case=case, actor=me)
    assert Case.objects.filter(state="archived").count() == 0


def test_a_case_of_a_conversation_that_is_here_stays_out(
    store: Store, stranger: User, file: Path
) -> None:
    """What was purged here since is not told again by an older file."""
    text = written(store.owner)
    let_in(stranger, text, file)
    purge(selection=chosen(owner=stranger, match="Oslo"), actor=person(stranger))
    assert not Case.objects.filter(owner=stranger).exists()
    again = let_in(stranger, text, file)
    assert not Case.objects.filter(owner=stranger).exists()
    assert again.left[str(Left.TALK_HERE)] == len(CASES)


def test_every_setting_of_an_owner_is_carried(store: Store) -> None:
    columns = {field.name for field in OwnerSettings._meta.concrete_fields} - {"owner"}
    assert columns == set(lines_of(written(store.owner))[1]["chosen"])


def test_a_second_import_adds_nothing(store: Store, file: Path) -> None:
    text = written(store.owner)
    again = let_in(store.owner, text, file)
    assert (again.new, again.imported) == ({}, None)
    assert again.left["here already"] == len(store.facts)
    assert written(store.owner) == text


def test_what_came_in_is_found_and_read_like_what_was_said_here(store: Store, file: Path) -> None:
    text = written(store.owner)
    found = [
        model.objects.filter(owner=store.owner).count()
        for model in (FactTerm, Passage, IndexedPassage, Evidence, Entity, Forgotten)
    ]
    forget_everything()
    let_in(store.owner, text, file)
    assert found == [
        model.objects.filter(owner=store.owner).count()
        for model in (FactTerm, Passage, IndexedPassage, Evidence, Entity, Forgotten)
    ]
    talk = Conversation.objects.get(external_id="trip")
    assert (talk.cursor_seq, talk.last_seq, talk.first_message_at) == (
        2, 3, MONDAY.replace(minute=1),
    )  # fmt: skip
    message = Message.objects.get(client_id="m3")
    assert message.parent is not None
    assert (message.parent.client_id, message.on_branch) == ("m1", True)


def test_the_lifecycle_goes_on_where_it_was(store: Store, file: Path) -> None:
    text = written(store.owner)
    forget_everything()
    let_in(store.owner, text, file)
    me = person(store.owner)
    waiting = Fact.objects.get(pk=store.facts["correction"].pk)
    lifecycle.confirm(fact=waiting, actor=me)
    head = Fact.objects.get(pk=store.facts["head"].pk)
    assert (head.state, head.superseded_by_id) == (State.ARCHIVED, waiting.pk)
    lifecycle.undo(fact=waiting, actor=me)
    head.refresh_from_db()
    assert head.state == State.ACTIVE
    check(memory_of(store.owner))


def test_what_was_purged_here_does_not_come_back_from_an_older_file(
    store: Store, stranger: User, file: Path
) -> None:
    head = store.facts["head"]
    Tombstone.objects.create(owner=stranger, digest=digest_of(head.statement))
    result = let_in(stranger, written(store.owner), file)
    assert result.left["purged or forgotten here"] == 1
    # What it had replaced has no successor here, so it stays out too.
    assert result.left["replaced by a fact that stays out"] == 1
    statements = Fact.objects.filter(owner=stranger).values_list("statement", flat=True)
    assert head.statement not in statements
    assert store.facts["old"].statement not in statements
    assert store.facts["pending"].statement in statements
    check(memory_of(stranger))


def test_tombstones_of_another_secret_are_left_out_and_named(
    store: Store, stranger: User, file: Path, settings: Settings
) -> None:
    text = written(store.owner)
    settings.HASH_KEY = "another secret of at least thirty-two characters"
    result = let_in(stranger, text, file)
    assert not Tombstone.objects.filter(owner=stranger).exists()
    assert result.left["tombstones made with another key"] == 1
    assert "HASH_KEY" in result.notes[0]
    assert settings.HASH_KEY not in text


def test_tombstones_go_along(store: Store, stranger: User, file: Path) -> None:
    let_in(stranger, written(store.owner), file)
    assert Tombstone.objects.get(owner=stranger).digest == "ab" * 32


def test_a_part_is_one_agents_own(store: Store, file: Path) -> None:
    text = written(store.owner, agent=store.second)
    assert "forgotten" in text
    assert "quiet" in text
    for other in ("a global", "a pending", "I moved to Oslo", "cap_global", "ab" * 32, '"main"'):
        assert other not in text
    forget_everything()
    assert let_in(store.owner, text, file).new["facts"] == 1


def test_a_part_quotes_no_conversation_of_another_agent(store: Store) -> None:
    """A fact that was moved may have begun in one."""
    moved = lifecycle.promote(
        fact=store.facts["head"], agent=store.second, actor=person(store.owner)
    )
    text = written(store.owner, agent=store.second)
    assert moved.statement in text
    assert "I moved to Oslo" not in text
    assert '"trip"' not in text


def test_a_part_tells_only_the_aliases_that_its_facts_say(store: Store) -> None:
    entity = Entity.objects.get(owner=store.owner, name="Oslo")
    for name in ("Tigerstaden", "Byen"):
        EntityAlias.objects.create(
            owner=store.owner, entity=entity, name=name, normal_name=name.lower()
        )
    fact = FactFactory.create(
        agent=store.second, statement="The user likes tigerstaden.", state=State.ACTIVE
    )
    FactEntity.objects.create(owner=store.owner, fact=fact, entity=entity)
    text = written(store.owner, agent=store.second)
    assert "Tigerstaden" in text
    assert "Byen" not in text
    assert "Christiania" not in text
    assert "Byen" in written(store.owner)


def test_facts_alone_come_without_what_was_said(store: Store, stranger: User, file: Path) -> None:
    text = written(store.owner, conversations=False)
    assert '"type":"message"' not in text
    let_in(stranger, text, file)
    assert Fact.objects.filter(owner=stranger).count() == len(store.facts)
    assert not Evidence.objects.filter(owner=stranger).exists()


def test_an_export_holds_nothing_of_others(store: Store, bob: User, bobs_agent: Agent) -> None:
    FactFactory.create(owner=bob, statement="The user owns a bobsled.", state=State.ACTIVE)
    a_store(bob, bobs_agent, bob.agents.get(slug="work"))
    text = written(store.owner)
    assert "kept in alice" in text
    assert "bob" not in text


def test_an_import_leaves_other_owners_alone(store: Store, bob: User, file: Path) -> None:
    a_store(bob, bob.agents.get(slug="main"), bob.agents.get(slug="work"))
    before, text = memory_of(bob), written(bob)
    let_in(store.owner, text, file)
    assert memory_of(bob) == before
    assert Fact.objects.filter(owner=store.owner, statement__contains="kept in bob").count() > 3
    for model in (Fact, Evidence, CorrectionTarget, Message, Entity):
        assert not model.objects.filter(owner=bob).filter(
            Q(pk__in=model.objects.filter(owner=store.owner).values("pk"))
        )


def test_the_trail_says_who_let_it_in(store: Store, file: Path) -> None:
    text = written(store.owner)
    forget_everything()
    let_in(store.owner, text, file)
    event = AuditEvent.objects.filter(row_id=str(store.facts["rejected"].pk)).first()
    assert event is not None
    assert event.actor == f"person:{store.owner.pk}"
    assert "memory.jsonl" in event.reason
    fact = Fact.objects.get(pk=store.facts["rejected"].pk)
    assert fact.imported_by is not None
    assert fact.imported_by.approved_by == store.owner


def test_settings_and_rights_that_were_chosen_here_stay(
    store: Store, bob: User, file: Path
) -> None:
    FactFactory.create(owner=bob)
    work = bob.agents.get(slug="work")
    Agent.objects.filter(pk=work.pk).update(reads="own", name="Mine")
    let_in(bob, written(store.owner), file)
    work.refresh_from_db()
    assert (work.reads, work.name) == ("own", "Mine")
    assert OwnerSettings.objects.get(owner=bob).time_zone == "UTC"


def test_an_agent_that_read_everything_does_not_do_so_beside_another_default(
    store: Store, bob: User, file: Path
) -> None:
    Agent.objects.filter(pk=store.agent.pk).update(reads="all", slug="boss")
    FactFactory.create(owner=bob)
    let_in(bob, written(store.owner), file)
    boss = Agent.objects.get(owner=bob, slug="boss")
    assert (boss.reads, boss.is_default) == ("own_and_global", False)


def test_an_account_that_is_new_takes_over_settings_and_agents(store: Store, file: Path) -> None:
    newcomer = UserFactory.create(username="newcomer")
    AgentFactory.create(owner=newcomer, slug="default", is_default=True, reads="all")
    let_in(newcomer, written(store.owner), file)
    assert OwnerSettings.objects.get(owner=newcomer).time_zone == "Europe/Helsinki"
    assert Agent.objects.get(owner=newcomer, is_default=True).slug == "main"


def test_what_was_forgotten_there_is_not_learned_here(
    store: Store, stranger: User, file: Path
) -> None:
    let_in(stranger, written(store.owner), file)
    forgotten = Fact.objects.get(owner=stranger, archived_reason=ArchivedReason.FORGOTTEN)
    with pytest.raises(Tombstoned):
        lifecycle.propose(
            owner=stranger, agent=None, draft=draft_of(forgotten, conversation=None),
            actor=person(stranger),
        )  # fmt: skip


def ruled(owner: User) -> list[tuple[str, bool]]:
    rows = standing(rules_of(owner)).select_related("agent")
    return [
        (f"{rule.agent.slug if rule.agent else 'all'}: {rule.text}", rule.enabled) for rule in rows
    ]


def test_rules_come_in_their_order_behind_those_that_are_here_and_go_out_again(
    store: Store, file: Path
) -> None:
    text = written(store.owner)
    own = f"{store.agent.slug}: Be brief."
    brought = [
        ("all: Answer in metric units.", True),
        (own, True),
        ("all: Write in Finnish.", False),
    ]
    assert ruled(store.owner) == brought
    forget_everything()
    writing.write(owner=store.owner, agent=None, text="Mine.", actor=person(store.owner))
    writing.write(
        owner=store.owner, agent=None, text="answer in METRIC units", actor=person(store.owner)
    )
    result = let_in(store.owner, text, file)
    assert (result.new["rules"], result.left[rules.HERE]) == (2, 1)
    here = [("all: Mine.", True), ("all: answer in METRIC units", True)]
    assert ruled(store.owner) == [*here, *brought[1:]]
    imported = Import.objects.get(owner=store.owner)
    assert rollback.look_at(imported).rules == 2
    rollback.roll_back(imported=imported, actor=person(store.owner))
    assert ruled(store.owner) == here


def test_a_key_brings_no_rule_in_and_says_so(store: Store, file: Path) -> None:
    text = written(store.owner)
    forget_everything()
    key = ApiKeyFactory.create(owner=store.owner, agent=None, scopes=["review"])
    file.write_text(text)
    result = bring_in(owner=store.owner, path=file, name="f", actor=key_holder(key))
    assert result.left[rules.BY_KEY] == 3
    assert (ruled(store.owner), result.new["facts"]) == ([], len(store.facts))
