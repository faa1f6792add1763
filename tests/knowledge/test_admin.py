"""Documents in the admin: repaired by the hundred, deleted after a word, and not read along."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks

from agents.models import AuditEvent, TextAccess, User
from knowledge.models import Collection, Document, DocumentPassage, DocumentText
from knowledge.vocabulary import DocumentState
from tests.factories import UserFactory
from tests.knowledge.shelves import document, failed, shelf

pytestmark = pytest.mark.django_db

LIST = "admin:knowledge_document_changelist"


@pytest.fixture
def boss() -> User:
    return UserFactory.create(username="boss", is_staff=True, is_superuser=True)


@pytest.fixture
def bosss(client: Client, boss: User) -> Client:
    boss.user_permissions.add(Permission.objects.get(codename="read_others_memory"))
    client.force_login(boss)
    return client


def act(client: Client, action: str, *rows: Document, **more: str) -> Any:
    data = {"action": action, "_selected_action": [str(row.pk) for row in rows]} | more
    return client.post(reverse(LIST), data, follow=True)


def test_documents_are_tried_and_read_again_by_the_hundred(
    bosss: Client, boss: User, alice: User
) -> None:
    papers = shelf(alice)
    broken, ready = failed(papers, "Lease"), document(papers, "Bill", "Pay.")
    told = act(bosss, "try_again", broken, ready).content.decode()
    assert "1 tried again." in told
    assert "1 had not failed." in told
    broken.refresh_from_db()
    assert broken.state == DocumentState.WAITING
    act(bosss, "read_again", ready)
    ready.refresh_from_db()
    assert (ready.state, ready.generation) == (DocumentState.WAITING, 1)
    for row in (broken, ready):
        trail = AuditEvent.objects.filter(table="knowledge_document", row_id=row.pk)
        assert trail.latest("id").actor == f"person:{boss.pk}"


@pytest.mark.parametrize(
    ("table", "column"), [("documenttext", "markdown"), ("documentfile", "content")]
)
def test_a_list_of_what_is_large_does_not_read_it(
    bosss: Client, boss: User, table: str, column: str
) -> None:
    document(shelf(boss), "Lease", "Pay the rent.")
    with CaptureQueriesContext(connection) as asked:
        page = bosss.get(reverse(f"admin:knowledge_{table}_changelist"))
    assert "boss" in page.content.decode()
    assert not [one for one in asked if f'"{column}"' in one["sql"]]


@pytest.mark.parametrize("action", ["try_again", "read_again"])
def test_many_at_once_are_one_change_and_one_word_to_the_worker(
    bosss: Client,
    boss: User,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    action: str,
) -> None:
    papers = shelf(boss)
    asked = []
    for number in (3, 6):
        rows = [failed(papers, f"{action} {number} {n}") for n in range(number)]
        with (
            CaptureQueriesContext(connection) as queries,
            django_capture_on_commit_callbacks() as sent,
        ):
            data = {"action": action, "_selected_action": [str(row.pk) for row in rows]}
            bosss.post(reverse(LIST), data)
        assert len(sent) == 1
        asked.append(len(queries))
    assert asked[0] == asked[1]
    assert {row.state for row in Document.objects.all()} == {DocumentState.WAITING}


def test_reading_again_keeps_what_answers_and_drops_what_was_never_complete(
    bosss: Client, boss: User
) -> None:
    ready, other = (document(shelf(boss, name), name, "Pay.") for name in ("Bill", "Lease"))
    for row, generation in ((ready, 2), (other, 1)):
        Document.objects.filter(pk=row.pk).update(generation=generation)
        DocumentText.objects.create(owner=boss, document=row, generation=2, markdown="Paid.")
    act(bosss, "read_again", ready, other)
    left = DocumentText.objects.values_list("document__title", "generation")
    assert set(left) == {("Bill", 2), ("Lease", 1)}
    assert set(DocumentPassage.objects.values_list("document", flat=True)) == {other.pk}


def test_a_long_text_begins_on_its_page_and_is_downloaded_whole(
    bosss: Client, boss: User, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.admin.PIECE", 1_000)
    row = document(shelf(alice), "Book", "Begins <b>here</b>. " + "ž" * 30_000 + " Ends there.")
    text = DocumentText.objects.get(document=row)
    whole = bosss.get(reverse("admin:knowledge_documenttext_download", args=[text.pk]))
    assert "attachment" in whole["Content-Disposition"]
    assert b"".join(whole).decode() == text.markdown
    assert TextAccess.objects.get().owner == alice
    page = bosss.get(reverse("admin:knowledge_documenttext_change", args=[text.pk]))
    shown = page.content.decode()
    assert "Begins &lt;b&gt;here&lt;/b&gt;" in shown
    assert "Ends there" not in shown
    assert "The first 20,000 characters" in shown
    assert len(shown) < 60_000


def test_nobody_downloads_a_text_of_others_without_permission(
    client: Client, boss: User, alice: User
) -> None:
    row = document(shelf(alice), "Book", "Begins here.")
    text = DocumentText.objects.get(document=row)
    place = reverse("admin:knowledge_documenttext_download", args=[text.pk])
    clerk = UserFactory.create(username="clerk", is_staff=True)
    mine = DocumentText.objects.get(document=document(shelf(clerk), "Mine", "Mine."))
    for user, status in ((boss, 404), (clerk, 404), (alice, 302)):
        client.force_login(user)
        assert client.get(place).status_code == status
    client.force_login(clerk)
    own = reverse("admin:knowledge_documenttext_download", args=[mine.pk])
    assert client.get(own).status_code == 404
    clerk.user_permissions.add(Permission.objects.get(codename="view_documenttext"))
    assert b"".join(client.get(own)) == b"Mine."


def test_what_is_deleted_is_shown_first_and_takes_a_word(
    bosss: Client, boss: User, alice: User
) -> None:
    papers = shelf(alice)
    rows = [document(papers, name, "Pay.") for name in ("Lease", "Bill")]
    kept = document(papers, "Oven", "Press.")
    asked = act(bosss, "erase", *rows).content.decode()
    assert "Lease (alice)" in asked
    assert "delete 2" in asked
    assert "Nothing was done" in act(bosss, "erase", *rows, word="delete 3").content.decode()
    assert Document.objects.count() == 3
    assert "2 deleted." in act(bosss, "erase", *rows, word="delete 2").content.decode()
    assert list(Document.objects.all()) == [kept]
    gone = AuditEvent.objects.filter(table="knowledge_document", row_id=rows[0].pk).latest("id")
    assert (gone.action, gone.actor) == ("delete", f"person:{boss.pk}")


def test_a_superuser_reads_others_documents_only_by_permission_and_on_record(
    client: Client, boss: User, alice: User
) -> None:
    row = document(shelf(alice), "Lease of Alice", "Pay.")
    client.force_login(boss)
    assert "Lease of Alice" not in client.get(reverse(LIST)).content.decode()
    page = reverse("admin:knowledge_document_change", args=[row.pk])
    assert "Lease of Alice" not in client.get(page, follow=True).content.decode()
    assert not TextAccess.objects.exists()
    boss.user_permissions.add(Permission.objects.get(codename="read_others_memory"))
    assert "Lease of Alice" in client.get(page).content.decode()
    assert TextAccess.objects.get().owner == alice


def test_a_collection_is_renamed_on_record_and_stays_whose_it_is(
    bosss: Client, boss: User, alice: User, bob: User
) -> None:
    papers = shelf(alice)
    page = reverse("admin:knowledge_collection_change", args=[papers.pk])
    bosss.post(page, {"name": "Flat", "description": "", "owner": str(bob.pk)})
    papers = Collection.objects.get()
    assert (papers.name, papers.owner) == ("Flat", alice)
    told = AuditEvent.objects.filter(table="knowledge_collection").latest("id")
    assert told.actor == f"person:{boss.pk}"
