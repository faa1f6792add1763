"""The pages of the knowledge base, as the owner of documents sees and uses them."""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.client import encode_multipart
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks
from pytest_django.fixtures import Settings

from agents.models import Agent, AuditEvent, OwnerSettings, User
from conversations.models import Conversation, Message
from knowledge.models import Collection, Document, DocumentPassage
from knowledge.pins import pins_of
from knowledge.vocabulary import DocumentState, Failure
from memory.extraction.run import extract
from memory.models import Evidence, Fact
from memory.vocabulary import State, Trigger
from tests.factories import ConversationFactory, FactFactory
from tests.knowledge.shelves import document, failed, shelf
from tests.llm_server import ScriptedLlm, scripted_llm
from tests.memory.extraction_cases import candidate, observed
from tests.memory.pages import text

pytestmark = pytest.mark.django_db

JSON = {"Accept": "application/json"}
RENT = "The tenant pays a rent of 1,250 euro a month."


@pytest.fixture
def alices(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def papers(alice: User) -> Collection:
    return shelf(alice)


@pytest.fixture
def llm(settings: Settings) -> Iterator[ScriptedLlm]:
    with scripted_llm() as server:
        general = {"model": "scripted", "base_url": server.url, "api_key": "key"}
        settings.LLM_ROUTES = {"general": general, "private": {"model": ""}}
        yield server


def file(name: str, content: bytes = b"Bees dance.") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def upload(client: Client, row: Collection, *files: SimpleUploadedFile, **headers: Any) -> Any:
    return client.post(reverse("document-upload", args=[row.pk]), {"files": files}, **headers)


def said(answer: Any) -> list[str]:
    return [str(message) for message in answer.context["messages"]]


# --- collections ---------------------------------------------------------------------------------


def test_an_empty_page_says_what_to_do(alices: Client) -> None:
    page = text(alices, "knowledge")
    assert "New collection" in page
    assert "None yet." in page


def test_a_collection_is_made_changed_and_listed(alices: Client, agent: Agent) -> None:
    made = {"name": "  House   papers ", "description": "Lease and bills", "agent": ""}
    answer = alices.post(reverse("collection-new"), made)
    row = Collection.objects.get()
    assert answer["Location"] == reverse("collection", args=[row.pk])
    assert (row.name, row.agent) == ("House papers", None)
    assert "for every assistant that reads what is global" in text(alices, "collection", row.pk)
    changed = {"name": "Flat", "description": "", "agent": str(agent.pk)}
    alices.post(reverse("collection-edit", args=[row.pk]), changed)
    listed = text(alices, "knowledge")
    assert "Flat" in listed
    assert "only for Main" in listed


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "This field is required"),
        ("   ", "This field is required"),
        ("Papers", "There is a collection of that name already"),
        ("x" * 121, "at most 120 characters"),
    ],
)
def test_a_name_that_can_not_be_is_told(
    alices: Client, papers: Collection, name: str, fault: str
) -> None:
    answer = alices.post(reverse("collection-new"), {"name": name, "agent": ""})
    assert answer.status_code == 422
    assert fault in answer.content.decode()
    assert Collection.objects.count() == 1


def test_two_assistants_may_each_have_a_collection_of_a_name(
    alices: Client, papers: Collection, agent: Agent
) -> None:
    answer = alices.post(reverse("collection-new"), {"name": "Papers", "agent": str(agent.pk)})
    assert answer.status_code == 302


# --- documents come in ---------------------------------------------------------------------------


def test_several_files_go_up_at_once_without_a_script(alices: Client, papers: Collection) -> None:
    answer = upload(alices, papers, file("a.md"), file("b.txt", b"Bees sleep."), follow=True)
    assert said(answer) == ["“a”, “b” are stored, and read now."]
    assert {row.state for row in Document.objects.all()} == {DocumentState.WAITING}
    again = upload(alices, papers, file("c.md"), follow=True)
    assert said(again) == ["“a” is there already."]
    assert Document.objects.count() == 2


def test_a_script_is_told_in_json(alices: Client, papers: Collection) -> None:
    first = upload(alices, papers, file("a.md"), headers=JSON)
    row = Document.objects.get()
    url = reverse("document", args=[row.pk])
    assert first.json() == {
        "stored": [{"title": "a", "url": url, "known": False}], "problems": []
    }  # fmt: skip
    assert upload(alices, papers, file("a.md"), headers=JSON).json()["stored"][0]["known"]
    empty = upload(alices, papers, file("empty.md", b""), headers=JSON)
    assert empty.status_code == 422
    assert empty.json()["problems"][0]["name"] == "empty.md"
    nothing = upload(alices, papers, headers=JSON)
    assert nothing.json()["problems"][0]["why"] == "choose a file first."


def test_a_file_over_the_limit_is_named_and_the_others_are_taken(
    alices: Client, papers: Collection, settings: Settings
) -> None:
    settings.KNOWLEDGE_MAX_BYTES = 100_000
    assert 'data-most-bytes="100000"' in text(alices, "collection", papers.pk)
    big = file("big.pdf", b"x" * 300_000)
    answer = upload(alices, papers, big, file("small.md"), follow=True)
    assert said(answer) == [
        "“small” is stored, and read now.",
        "big.pdf: is larger than 100 kB, the most that fits. Split it and add the parts.",
    ]
    assert Document.objects.get().title == "small"


def test_a_form_that_breaks_off_leaves_nothing(
    alices: Client, papers: Collection, settings: Settings, tmp_path: Path
) -> None:
    """Neither the file that was on its way, nor those before it: who sent them was told of none."""
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE, settings.FILE_UPLOAD_TEMP_DIR = 0, tmp_path
    url = reverse("document-upload", args=[papers.pk])
    body = encode_multipart("x", {"files": [file("a.md"), file("b.md", b"Bees sing. " * 20_000)]})

    def send(content: bytes) -> Any:
        sent: dict[str, Any] = {"CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(content)}
        return alices.generic("POST", url, CONTENT_TYPE="multipart/form-data; boundary=x", **sent)

    broken = send(body[:-500])
    assert broken.status_code == 400
    assert not Document.objects.exists()
    assert list(tmp_path.iterdir()) == []
    assert send(body).status_code == 302
    assert Document.objects.count() == 2


def test_what_is_far_too_large_is_refused_unread(alices: Client, papers: Collection) -> None:
    answer = alices.post(
        reverse("document-upload", args=[papers.pk]),
        b"",
        content_type="multipart/form-data; boundary=x",
        CONTENT_LENGTH="2000000000",
    )
    assert answer.status_code == 413
    assert "500 MB" in answer.content.decode()
    text_alone = reverse("document-text", args=[papers.pk])
    other = alices.post(
        text_alone, b"", content_type="multipart/form-data; boundary=x", CONTENT_LENGTH="20000000"
    )
    assert other.status_code == 413


def test_an_upload_needs_the_token_of_its_form(papers: Collection, alice: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    assert upload(strict, papers, file("a.md")).status_code == 403
    assert not Document.objects.exists()


def test_an_address_is_stored_and_fetched_later(alices: Client, papers: Collection) -> None:
    url = reverse("document-address", args=[papers.pk])
    assert alices.post(url, {"address": "example.org/bees"}).status_code == 302
    assert Document.objects.get().address == "https://example.org/bees"
    for wrong in ("ftp://example.org", "https://me:pass@example.org", ""):
        answer = alices.post(url, {"address": wrong})
        assert answer.status_code == 422
        assert "errorlist" in answer.content.decode()
    assert Document.objects.count() == 1


def test_a_text_is_pasted(alices: Client, papers: Collection) -> None:
    url = reverse("document-text", args=[papers.pk])
    assert alices.post(url, {"title": "Bees", "text": "Bees dance."}).status_code == 302
    answer = alices.post(url, {"title": "Nothing", "text": "   "})
    assert answer.status_code == 422
    assert Document.objects.get().title == "Bees"


def test_while_memory_is_off_nothing_is_stored_and_the_pages_are_served(
    alices: Client, alice: User, papers: Collection
) -> None:
    OwnerSettings.objects.filter(owner=alice).update(memory_enabled=False)
    assert said(upload(alices, papers, file("a.md"), follow=True)) == [
        "a.md: Memory is switched off, so nothing is stored."
    ]
    url = reverse("document-text", args=[papers.pk])
    answer = alices.post(url, {"title": "Bees", "text": "Bees dance."})
    assert "Memory is switched off" in answer.content.decode()
    assert not Document.objects.exists()


# --- the list ------------------------------------------------------------------------------------


def test_the_list_asks_again_until_all_is_read(alices: Client, papers: Collection) -> None:
    row = document(
        papers, "Lease", state=DocumentState.CONVERTING, stage="converting",
        progress=3, progress_of=12, generation=None,
    )  # fmt: skip
    part = alices.get(
        reverse("collection", args=[papers.pk]), headers={"HX-Request": "true"}
    ).content.decode()
    assert "<html" not in part
    assert "every 2s" in part
    assert re.search(r'<progress max="12"\s+value="3"', part)
    assert "3 of 12" in part
    Document.objects.filter(pk=row.pk).update(state=DocumentState.READY, generation=1)
    done = text(alices, "collection", papers.pk)
    assert "every" not in re.search(r'hx-trigger="([^"]*)"', done.split('id="documents"')[1])[1]  # type: ignore[index]
    assert "1 of 1 is ready" in re.sub(r"\s+", " ", done)


def test_what_failed_says_why_and_is_tried_again(alices: Client, papers: Collection) -> None:
    first, second = failed(papers, "Lease"), failed(papers, "Bill")
    listed = text(alices, "collection", papers.pk)
    assert listed.count("It is protected with a password.") == 2
    assert "2 documents could not be read" in re.sub(r"\s+", " ", text(alices, "knowledge"))
    alices.post(reverse("document-retry", args=[first.pk]))
    first.refresh_from_db()
    assert first.state == DocumentState.WAITING
    alices.post(reverse("collection-retry", args=[papers.pk]))
    second.refresh_from_db()
    assert second.state == DocumentState.WAITING
    answer = alices.post(reverse("knowledge-retry"), follow=True)
    assert said(answer)[-1] == "None has failed."
    for row in (first, second):
        trail = AuditEvent.objects.filter(table="knowledge_document", row_id=row.pk)
        assert trail.latest("id").actor == f"person:{papers.owner_id}"


@pytest.mark.parametrize("url", ["knowledge-retry", "collection-retry"])
def test_many_failed_ones_are_one_change_and_one_word_to_the_worker(
    alices: Client,
    papers: Collection,
    bob: User,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    url: str,
) -> None:
    bobs = failed(shelf(bob), "Bob's")
    place = reverse(url, args=[papers.pk] if url == "collection-retry" else [])
    asked = []
    for number in (3, 6):
        for _ in range(number):
            failed(papers, f"Lease {Document.objects.count()}")
        with (
            CaptureQueriesContext(connection) as queries,
            django_capture_on_commit_callbacks() as sent,
        ):
            answer = alices.post(place)
        assert (answer.status_code, len(sent)) == (302, 1)
        asked.append(len(queries))
        assert not Document.objects.filter(collection=papers, state=DocumentState.FAILED).exists()
    assert asked[0] == asked[1]
    bobs.refresh_from_db()
    assert bobs.state == DocumentState.FAILED


def test_what_is_tried_again_by_itself_says_when(alices: Client, papers: Collection) -> None:
    from django.utils import timezone

    document(
        papers, "Site", generation=None, attempts=1, failure=Failure.UNREACHABLE,
        failure_detail="It can't be reached.", next_attempt_at=timezone.now(),
    )  # fmt: skip
    page = text(alices, "collection", papers.pk)
    assert "It can&#x27;t be reached." in page
    assert "It is tried again at" in page
    assert "Try it now" in page


def test_a_long_list_has_pages(
    alices: Client, papers: Collection, django_assert_max_num_queries: Any
) -> None:
    for number in range(31):
        document(papers, f"Bill {number}", RENT)
    with django_assert_max_num_queries(20):
        page = text(alices, "collection", papers.pk)
    assert page.count('id="document-') == 30
    after = re.search(r'href="\?after=([^"]+)"', page)
    assert after
    older = text(alices, "collection", papers.pk, after=unquote(after[1]))
    assert older.count('id="document-') == 1


# --- one document --------------------------------------------------------------------------------


def test_a_document_shows_each_passage_with_its_place(alices: Client, papers: Collection) -> None:
    hidden = "Pay at once.\u200b <script>alert(1)</script>"
    row = document(papers, "Lease", RENT, hidden)
    page = text(alices, "document", row.pk)
    assert RENT in page
    assert "Part 1" in page
    assert "<span>page 2</span>" in page
    assert "<script>alert" not in page
    assert "\u200b" not in page
    DocumentPassage.objects.filter(document=row).update(page_to=2)
    page = text(alices, "document", row.pk)
    assert "<span>pages 1 to 2</span>" in page
    assert "<span>page 2</span>" in page


def test_many_passages_come_in_pages_and_a_link_finds_its_own(
    alices: Client, papers: Collection
) -> None:
    row = document(papers, "Book", *[f"Sentence number {n}." for n in range(70)])
    assert text(alices, "document", row.pk).count("<article") == 30
    found = text(alices, "document", row.pk, at=65)
    assert "Sentence number 65." in found
    assert 'id="passage-65"' in found
    assert "Earlier passages" in found
    assert "No passages here" in text(alices, "document", row.pk, **{"from": 900})


def test_the_original_is_a_download_and_never_a_page(alices: Client, papers: Collection) -> None:
    row = document(papers, "Lease", "<script>alert(1)</script>", file_name='Lä"se\\.html')
    answer: Any = alices.get(reverse("document-original", args=[row.pk]))
    assert b"".join(answer.streaming_content) == b"<script>alert(1)</script>"
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Disposition"] == "attachment; filename*=utf-8''L%C3%A4%22se%5C.html"
    assert answer["Content-Length"] == str(row.size)
    unfetched = document(papers, "Site", size=0, digest="", address="https://example.org/")
    assert alices.get(reverse("document-original", args=[unfetched.pk])).status_code == 404


def test_a_document_that_is_read_tells_when_it_is_done(alices: Client, papers: Collection) -> None:
    def ask(seen: int) -> Any:
        url = reverse("document", args=[row.pk])
        return alices.get(url, {"seen": seen}, headers={"HX-Request": "true"})

    row = document(papers, "Lease", generation=None)
    assert "every 2s" in ask(0).content.decode()
    Document.objects.update(state=DocumentState.READY, generation=1)
    assert ask(0)["HX-Refresh"] == "true"
    Document.objects.update(generation=2)
    anew = ask(1).content.decode()
    assert "Show what was read" in anew
    assert "every" not in anew
    assert "Show what was read" not in ask(2).content.decode()


def test_a_document_is_read_again(alices: Client, papers: Collection) -> None:
    row = document(papers, "Lease", RENT)
    alices.post(reverse("document-reingest", args=[row.pk]))
    row.refresh_from_db()
    assert (row.state, row.generation) == (DocumentState.WAITING, 1)
    assert RENT in text(alices, "document", row.pk)


# --- facts out of it -----------------------------------------------------------------------------


def test_without_a_model_nothing_is_offered(
    alices: Client, papers: Collection, agent: Agent, settings: Settings
) -> None:
    settings.LLM_ROUTES = {"general": {"model": ""}, "private": {"model": ""}}
    row = document(papers, "Lease", RENT)
    page = text(alices, "document", row.pk)
    assert "Only a language model can read documents" in page
    assert "Propose facts from this<" not in page
    answer = alices.post(reverse("document-extract", args=[row.pk]), {"agent": str(agent.pk)})
    assert answer.status_code == 409
    assert not Conversation.objects.exists()


def read(client: Client, llm: ScriptedLlm, row: Document, agent: Agent) -> Fact:
    """Extracts from the whole document; the model finds the rent."""
    client.post(reverse("document-extract", args=[row.pk]), {"agent": str(agent.pk)})
    llm.observer(observed(candidate("The user pays a rent of 1,250 euro a month.", RENT)))
    extract(conversation=Conversation.objects.get(source="document"), trigger=Trigger.REQUEST)
    return Fact.objects.get(state=State.PENDING)


def test_facts_of_a_document_wait_with_the_passage_as_evidence(
    alices: Client, papers: Collection, agent: Agent, llm: ScriptedLlm
) -> None:
    row = document(papers, "Lease", RENT, "It may not be sublet.")
    fact = read(alices, llm, row, agent)
    evidence = Evidence.objects.select_related("message").get()
    assert (evidence.fact, evidence.quote) == (fact, RENT)
    assert evidence.message.speaker == "Lease › Part 1, page 1"
    queue = text(alices, "review")
    assert "Read from a document, not said by you" in queue
    assert "Lease › Part 1, page 1" in queue
    talk = Conversation.objects.get()
    assert reverse("document", args=[row.pk]) in text(alices, "conversation", talk.pk)
    again = alices.post(
        reverse("document-extract", args=[row.pk]), {"agent": str(agent.pk)}, follow=True
    )
    assert said(again) == ["That was read before. Nothing new was asked."]


@pytest.mark.usefixtures("llm")
def test_one_passage_alone_is_read(alices: Client, papers: Collection, agent: Agent) -> None:
    row = document(papers, "Lease", RENT, "It may not be sublet.")
    (_, second) = row_passages(row)
    alices.post(reverse("passage-extract", args=[second.pk]), {"agent": str(agent.pk)})
    assert [m.content for m in Message.objects.all()] == ["It may not be sublet."]


@pytest.mark.usefixtures("llm")
def test_a_very_long_document_is_not_read_as_a_whole(
    alices: Client, papers: Collection, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.proposals.MOST", 2)
    row = document(papers, "Book", "one", "two", "three")
    answer = alices.post(reverse("document-extract", args=[row.pk]), {"agent": str(agent.pk)})
    assert answer.status_code == 409
    assert "Choose the passages that speak of you" in answer.content.decode()
    assert not Message.objects.exists()


# --- pins ---------------------------------------------------------------------------------------


def test_a_collection_is_pinned_to_a_conversation_on_its_page(
    alices: Client, papers: Collection, agent: Agent, second_agent: Agent
) -> None:
    shelf(agent.owner, "Not for this one", agent=second_agent)
    talk = ConversationFactory.create(agent=agent)
    page = text(alices, "conversation", talk.pk)
    assert "Papers" in page
    assert "Not for this one" not in page
    url = reverse("conversation-pin", args=[talk.pk])
    alices.post(url, {"collection": str(papers.pk)})
    assert [row.name for row in pins_of(talk)] == ["Papers"]
    assert "Unpin" in text(alices, "conversation", talk.pk)
    alices.post(reverse("conversation-unpin", args=[talk.pk]), {"collection": str(papers.pk)})
    assert pins_of(talk) == []
    assert alices.post(url, {"collection": "nonsense"}).status_code == 404


# --- deletion ------------------------------------------------------------------------------------


def test_deleting_a_document_takes_quotes_and_candidates_along(
    alices: Client, papers: Collection, agent: Agent, llm: ScriptedLlm
) -> None:
    row = document(papers, "Lease", RENT, "The tenant owns a bicycle called Zephyr.")
    waiting = read(alices, llm, row, agent)
    talk = Conversation.objects.get()
    second = talk.messages.get(seq=2)
    kept = FactFactory.create(
        agent=agent, conversation=talk, message=second, state=State.ACTIVE,
        statement="The user has a bicycle.",
    )  # fmt: skip
    page = re.sub(r"\s+", " ", text(alices, "document-delete", row.pk))
    assert "1 that rests on nothing else, whether waiting, rejected" in page
    assert "1, without the quotes" in page
    assert "purge what was read for Main" in page
    assert alices.post(reverse("document-delete", args=[row.pk])).status_code == 302
    assert not Document.objects.exists()
    waiting.refresh_from_db()
    kept.refresh_from_db()
    assert waiting.statement == Fact.PURGED
    assert (kept.statement, kept.state) == ("The user has a bicycle.", State.ACTIVE)
    assert {m.content for m in talk.messages.all()} == {Message.PURGED}
    assert {e.quote for e in Evidence.objects.all()} <= {Message.PURGED}
    talk.refresh_from_db()
    assert talk.title == Message.PURGED


def test_a_candidate_that_rests_on_more_than_the_document_stays(
    alices: Client, papers: Collection, agent: Agent, llm: ScriptedLlm
) -> None:
    row = document(papers, "Lease", RENT)
    waiting = read(alices, llm, row, agent)
    twin = FactFactory.create(
        agent=None, owner=agent.owner, state=State.ACTIVE, statement=waiting.statement
    )
    alices.post(reverse("document-delete", args=[row.pk]))
    for fact in (waiting, twin):
        fact.refresh_from_db()
        assert fact.statement == "The user pays a rent of 1,250 euro a month."


def test_a_collection_goes_with_all_that_is_in_it_after_a_word(
    alices: Client, papers: Collection, alice: User
) -> None:
    document(papers, "Lease", RENT)
    other = document(shelf(alice, "Manuals"), "Oven", "Press twice.")
    url = reverse("collection-delete", args=[papers.pk])
    assert "1" in text(alices, "collection-delete", papers.pk)
    assert alices.post(url, {"word": "yes"}).status_code == 422
    assert Collection.objects.count() == 2
    assert alices.post(url, {"word": "delete"}).status_code == 302
    assert list(Document.objects.all()) == [other]


def row_passages(row: Document) -> list[Any]:
    from knowledge.proposals import answering

    return list(answering(row))
