"""What a purge by words, key, import, assistant or time takes of documents, notes and rules."""

from functools import partial
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from agents.audit import key_holder, person
from agents.models import Agent, User
from conversations.sketches import writing as sketches
from knowledge import ingest
from knowledge.ingest import job
from knowledge.models import Collection, Document
from knowledge.proposals import propose
from memory.models import Fact, Rule
from memory.purge.execute import purge
from memory.purge.plan import Deed, plan_of
from memory.purge.selection import chosen
from memory.rules import imports, writing
from tests.factories import MONDAY, ApiKeyFactory, ConversationFactory, FactFactory
from tests.knowledge.shelves import document, failed, shelf
from tests.memory.dumping import dump, found

pytestmark = pytest.mark.django_db

WORD = "Zebrawood"


@pytest.fixture
def papers(alice: User) -> Collection:
    return shelf(alice)


def gone(owner: User, **rules: Any) -> None:
    purge(selection=chosen(owner=owner, **rules), actor=person(owner))


def titles() -> set[str]:
    return set(Document.objects.values_list("title", flat=True))


def test_words_are_gone_from_wherever_a_document_holds_them(
    papers: Collection, agent: Agent, bob: User
) -> None:
    document(papers, "In its text", "Of the zebrawood chest.")
    document(papers, "Of zebrawood", "Nothing else.")
    document(papers, "By its file", "Nothing here.", file_name="zebrawood.md")
    document(papers, "By its page", "Nothing there.", address="https://example.org/zebrawood/")
    document(papers, "By its notes", "Nothing at all.", notes="An image of ZEBRAWOOD was left out.")
    failed(papers, "Failed", failure_detail="zebrawood.pdf is damaged.")
    talk = ConversationFactory.create(agent=agent)
    sketches.write(
        agent=agent, source=talk.source, external_id=talk.external_id, key="chest",
        text="Made of zebrawood.",
    )  # fmt: skip
    writing.write(
        owner=papers.owner, agent=None, text="Call it zebrawood.", actor=person(papers.owner)
    )
    FactFactory.create(agent=agent, statement="The user owns a zebrawood chest.")
    document(papers, "Kept", "Of zebras and wood.")
    bobs = document(shelf(bob), "Bob's", "Of the zebrawood chest.")
    gone(papers.owner, match=WORD)
    assert titles() == {"Kept", "Bob's"}
    ingest.delete(document=bobs, actor=person(bob))
    assert found(dump(), WORD, WORD.lower().encode().hex()) == set()


def test_a_phrase_is_found_across_marks_of_a_page_and_of_emphasis(papers: Collection) -> None:
    document(papers, "Marked", "behind the **quince** tree")
    document(papers, "Turned", "behind the quince\n\f12\ntree")
    document(papers, "Apart", "a quince is no tree")
    document(papers, "Signed", "by jane_roe*")
    gone(papers.owner, match="quince tree")
    assert titles() == {"Apart", "Signed"}
    gone(papers.owner, match="jane_roe")
    assert titles() == {"Apart"}


def test_what_was_read_out_of_a_document_goes_along(
    papers: Collection, agent: Agent, settings: Settings
) -> None:
    settings.LLM_ROUTES = {
        "general": {"model": "none", "base_url": "http://127.0.0.1:9", "api_key": "key"},
        "private": {"model": ""},
    }
    row = document(papers, "Chest", "Of the zebrawood chest.", "A quince tree.")
    talk = propose(document=row, agent=agent).conversation
    fact = FactFactory.create(
        agent=agent, conversation=talk, message=talk.messages.get(seq=2), statement="A quince."
    )
    plan = plan_of(chosen(owner=papers.owner, match=WORD), Deed.PURGE)
    assert plan.documents == ("Chest",)
    assert (plan.facts_in_all, plan.messages) == (1, 2)
    gone(papers.owner, match=WORD)
    assert found(dump(), "zebrawood", "quince") == set()
    fact.refresh_from_db()
    assert fact.statement == Fact.PURGED


def test_what_a_key_brought_goes_with_it(papers: Collection, alice: User, agent: Agent) -> None:
    key = ApiKeyFactory.create(owner=alice, agent=agent, scopes=["ingest"])
    add = partial(ingest.add_text, owner=alice, collection=papers)
    add(title="Hers", text="one", actor=person(alice))
    for title, text in (("Brought", "two"), ("With the word", "zebrawood")):
        add(title=title, text=text, actor=key_holder(key), client=key)
    add(title="Her word", text="zebrawood too", actor=person(alice))
    for row in Document.objects.all():
        job.work(row.pk)
    gone(alice, match=WORD, client=key)
    assert titles() == {"Hers", "Brought", "Her word"}
    gone(alice, client=key)
    assert titles() == {"Hers", "Her word"}


def test_what_an_import_brought_of_rules_goes_with_it(alice: User) -> None:
    brought = imports.bring_in(
        owner=alice, agent=None, name="CLAUDE.md", texts=["Be brief."], actor=person(alice)
    )
    kept = writing.write(owner=alice, agent=None, text="Be kind.", actor=person(alice))
    gone(alice, imported=brought.imported)
    assert list(Rule.objects.all()) == [kept]


@pytest.mark.parametrize("rule", ["agent", "conversation", "since", "source"])
def test_other_rules_leave_documents_and_say_so(
    papers: Collection, alice: User, agent: Agent, rule: str
) -> None:
    talk = ConversationFactory.create(agent=agent, source="api")
    FactFactory.create(agent=agent, conversation=talk)
    mine = shelf(alice, "Mine", agent=agent)
    document(mine, "Chest", "Of the zebrawood chest.")
    rules = {"agent": agent, "conversation": talk, "since": MONDAY, "source": "api"}
    selection = chosen(owner=alice, **{rule: rules[rule]})
    assert plan_of(selection, Deed.PURGE).staying == (
        "1 document stays: delete what should go on its own page.",
    )
    narrowed = chosen(owner=alice, match=WORD, **{rule: rules[rule]})
    assert plan_of(narrowed, Deed.PURGE).staying == (
        "1 document with these words stays: delete what should go on its own page.",
    )
    for one in (selection, narrowed):
        purge(selection=one, actor=person(alice))
    assert titles() == {"Chest"}


def test_what_nobody_can_look_into_is_told(papers: Collection, alice: User) -> None:
    document(papers, "Waiting")
    Document.objects.get().texts.all().delete()
    Collection.objects.create(owner=alice, name="Zebrawood and others")
    FactFactory.create(owner=alice, statement="The user owns a zebrawood chest.")
    assert plan_of(chosen(owner=alice, match=WORD), Deed.PURGE).staying == (
        "1 document not read yet or failed: nobody knows what is in it.",
        "The collection “Zebrawood and others” keeps its name and description.",
    )


def test_what_stays_is_told_where_nothing_else_matches(
    client: Client, papers: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = document(papers, "Waiting")
    waiting.texts.all().delete()
    client.force_login(papers.owner)
    page = client.post(reverse("forget"), {"match": WORD}).content.decode()
    assert "Nothing matches" in page
    assert "1 document not read yet or failed" in page
    call_command("purge", match=WORD, owner=papers.owner.username)
    told = capsys.readouterr().out
    assert "Nothing matches" in told
    assert "Stays: 1 document not read yet or failed" in told


def test_page_and_command_name_the_documents_before(
    client: Client, papers: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    document(papers, "Chest", "Of the zebrawood chest.")
    document(papers, "Pears", "Of pears.")
    client.force_login(papers.owner)
    page = client.post(reverse("forget"), {"match": WORD}).content.decode()
    assert "1, each as a whole" in page
    assert "“Chest”" in page
    assert "Pears" not in page
    with pytest.raises(SystemExit):
        call_command("purge", match=WORD, owner=papers.owner.username)
    told = capsys.readouterr().out
    assert "1 document as a whole, with its original" in told
    assert "“Chest”" in told
    assert titles() == {"Chest", "Pears"}
