"""Every page and every form, asked for by somebody whose things they are not."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http.response import HttpResponseBase
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.urls import reverse
from pytest_django.fixtures import Settings

from agents.models import AuditEvent, User
from conversations.models import Conversation, Sketch
from knowledge.models import PinnedCollection
from knowledge.proposals import answering
from memory.models import ConsolidationSchedule, ExtractionRun, ForgetRequest, WebhookDelivery
from memory.vocabulary import State
from tests.isolation import routes
from tests.isolation.household import QUESTION, SHARED, Household

AsUser = Callable[[User], Client]
HTMX = {"HX-Request": "true"}


@dataclass(frozen=True)
class OneRow:
    """A route about one row. `row` picks it; `shows`: a GET of its owner tells the mark."""

    name: str
    row: Callable[[Household], Any]
    method: str = "POST"
    data: dict[str, Any] = field(default_factory=dict)
    id: str = ""
    with_: str = ""
    # Of an address that names more than the row: what stands before and after it.
    lead: tuple[str, ...] = ()
    then: Callable[[Household], Any] | None = None
    heir: bool = False
    shelf: str = ""
    # Sent as a file of this name.
    file: str = ""
    # Only where a language model is set up.
    reads: bool = False
    # A page that shows what is shown once is not left by a redirect.
    status: int = 302

    def url(self, home: Household) -> str:
        others = [self.then(home).pk] if self.then else []
        return reverse(self.name, args=[*self.lead, self.row(home).pk, *others])

    def _others(self, home: Household) -> dict[str, Any]:
        found = {"with": home.facts[self.with_].pk} if self.with_ else {}
        found |= {"collection": home.shelves[self.shelf].pk} if self.shelf else {}
        found |= {"agent": home.main.pk} if self.reads else {}
        return found | ({"heir": home.main.pk} if self.heir else {})

    def ask(self, client: Client, home: Household, headers: dict[str, str]) -> Any:
        kind = "application/x-www-form-urlencoded"
        body: str | bytes = _encoded(self.data | self._others(home))
        if self.file:
            file = SimpleUploadedFile(self.file, b"text")
            kind, body = MULTIPART_CONTENT, encode_multipart(BOUNDARY, {"files": file})
        return client.generic(self.method, self.url(home), body, content_type=kind, headers=headers)


def _encoded(data: dict[str, Any]) -> str:
    from urllib.parse import urlencode

    return urlencode(data, doseq=True)


def _case(name: str) -> Callable[[Household], Any]:
    return lambda home: home.cases[name]


def _fact(name: str) -> Callable[[Household], Any]:
    return lambda home: home.facts[name]


def _consolidation(home: Household) -> Any:
    return home.changes["decay"].run


def _shelf(name: str) -> Callable[[Household], Any]:
    return lambda home: home.shelves[name]


def _document(name: str) -> Callable[[Household], Any]:
    return lambda home: home.documents[name]


def _passage(home: Household) -> Any:
    return answering(home.documents["papers"]).get()


def _entity(name: str) -> Callable[[Household], Any]:
    return lambda home: home.entities[name]


def _rule(name: str) -> Callable[[Household], Any]:
    return lambda home: home.rules[name]


SOURCES: dict[str, Callable[[Household], Any]] = {
    "conversation": lambda home: home.conversation,
    "run": lambda home: home.run,
    "import": lambda home: home.conversation.imported_by,
    "client": lambda home: home.key,
}
EDIT = {"statement": "The user has a plain bell.", "kind": "semantic"}

HOOK = {"address": "https://93.184.215.14/new", "events": "fact.purged"}

ONE_ROW = [
    OneRow("candidate", _fact("pending"), "GET"),
    OneRow("edit", _fact("pending"), "GET", id="edit form"),
    OneRow("edit", _fact("pending"), data=EDIT),
    OneRow("confirm", _fact("other")),
    OneRow("reject", _fact("third"), data={"reason": "no"}),
    OneRow("around", _fact("pending"), "GET"),
    OneRow("snooze", _fact("other"), data={"wait": "week"}),
    OneRow("merge", _fact("pending"), "GET", id="merge form"),
    OneRow("merge", _fact("pending"), with_="other", data=EDIT),
    OneRow("take-back", _fact("asleep"), id="bring back what was snoozed"),
    OneRow("make-rule", _fact("third"), data={"rule": "Ring the bell."}),
    OneRow("rule", _rule("own"), "GET"),
    OneRow("rule", _rule("before"), "GET", id="rule with an earlier wording"),
    OneRow("rule-reword", _rule("own"), data={"text": "Ring it twice."}),
    OneRow("rule-switch", _rule("own"), data={"enabled": "no"}),
    OneRow("rule-move", _rule("works"), data={"way": "up"}),
    OneRow("rule-take-out", _rule("own")),
    OneRow("rule-put-back", _rule("gone")),
    OneRow("rule-purge", _rule("own"), data={"sure": "yes"}),
    OneRow("rules-import-take-out", lambda home: home.conversation.imported_by),
    OneRow("reconfirm-answer", _fact("unconfirmed"), data={"answer": "still"}),
    OneRow("reconfirm-undo", _fact("head")),
    OneRow("take-back", _fact("rejected"), id="take back a rejection"),
    OneRow("take-back", _fact("active"), id="take back a confirmation"),
    *(
        OneRow("fact", _fact(name), "GET", id=f"fact {name}")
        for name in ("active", "pending", "rejected", "archived", "expired", "superseded", "head")
    ),
    OneRow("fact-correct", _fact("movable"), data=EDIT),
    OneRow("fact-forget", _fact("forgettable")),
    OneRow("fact-restore", _fact("archived")),
    OneRow("fact-reconsider", _fact("rejected")),
    OneRow("fact-pin", _fact("active"), data={"pinned": "yes"}),
    OneRow("fact-move", _fact("movable"), data={"agent": ""}),
    OneRow("fact-validity", _fact("head"), data={"since": "2026-03-02"}),
    OneRow("entity", _entity("one"), "GET"),
    OneRow("entity-merge-preview", _entity("one"), "GET", then=_entity("other")),
    OneRow("entity-merge", _entity("one"), then=_entity("other")),
    OneRow("entity-unmerge", lambda home: home.merge),
    OneRow("assistant", lambda home: home.work, "GET"),
    OneRow(
        "assistant",
        lambda home: home.work,
        data={"name": "W", "slug": "work", "reads": "own"},
        id="change an assistant",
    ),
    OneRow("assistant-delete", lambda home: home.work, heir=True),
    OneRow("import", lambda home: home.conversation.imported_by, "GET"),
    *(
        OneRow(name, row, method, lead=(kind,), id=f"{method} {name} {kind}")
        for kind, row in SOURCES.items()
        for name, method in (("quarantine", "GET"), ("quarantine", "POST"))
        if (kind, method) != ("client", "POST")  # nothing came from it
    ),
    OneRow("reinstate", lambda home: home.works, lead=("conversation",)),
    OneRow("fact-purge", _fact("active"), "GET"),
    OneRow("conversation-forget", lambda home: home.conversation, "GET"),
    OneRow("forget-accept", lambda home: home.asked),
    OneRow("forget-decline", lambda home: home.asked),
    *(
        OneRow("case", _case(name), "GET", id=f"case {name}")
        for name in ("waiting", "known", "refused", "gone")
    ),
    OneRow("case-confirm", _case("waiting")),
    OneRow("case-reject", _case("other"), data={"reason": "no"}),
    OneRow("case-take-back", _case("refused"), id="take back a case's rejection"),
    OneRow("case-take-back", _case("known"), id="take back a case's confirmation"),
    OneRow("case-forget", _case("known")),
    OneRow("case-restore", _case("gone")),
    OneRow("conversation", lambda home: home.conversation, "GET"),
    OneRow("sketch-keep", lambda home: home.sketch, data={"kept": "yes"}),
    OneRow("sketch-remove", lambda home: home.sketch),
    OneRow("conversation-retry", lambda home: home.stuck),
    OneRow("conversation-skip", lambda home: home.conversation),
    OneRow("run", lambda home: home.run, "GET"),
    OneRow("consolidation-run", _consolidation, "GET"),
    OneRow("consolidation-undo", _consolidation),
    OneRow("consolidation-go-on", _consolidation),
    OneRow("consolidation-undo-one", lambda home: home.changes["decay"]),
    OneRow("consolidation-merge", lambda home: home.changes["offer"], "GET", id="merge an offer"),
    OneRow("consolidation-merge", lambda home: home.changes["offer"], data=EDIT),
    OneRow("key-revoke", lambda home: home.key),
    OneRow("webhook", lambda home: home.hook, "GET"),
    OneRow("webhook", lambda home: home.hook, data=HOOK, id="change a webhook"),
    OneRow("webhook-switch", lambda home: home.hook, data={"on": "no"}),
    OneRow("webhook-secret", lambda home: home.hook, status=200),
    OneRow("webhook-test", lambda home: home.hook),
    OneRow("webhook-send-again", lambda home: home.told),
    OneRow("webhook-remove", lambda home: home.hook),
    OneRow("collection", _shelf("papers"), "GET"),
    OneRow("collection-edit", _shelf("papers"), "GET", id="collection form"),
    OneRow("collection-edit", _shelf("papers"), data={"name": "New"}),
    OneRow("collection-delete", _shelf("papers"), "GET", id="what deleting takes"),
    OneRow("collection-delete", _shelf("papers"), data={"word": "delete"}),
    OneRow("collection-retry", _shelf("papers")),
    OneRow("document-upload", _shelf("papers"), file="new.txt"),
    OneRow("document-address", _shelf("papers"), data={"address": "https://example.org/"}),
    OneRow("document-text", _shelf("papers"), data={"title": "New", "text": "text"}),
    *(
        OneRow("document", _document(name), "GET", id=f"document {name}")
        for name in ("papers", "works", "failed")
    ),
    OneRow("document-original", _document("papers"), "GET"),
    OneRow("document-retry", _document("failed")),
    OneRow("document-reingest", _document("papers")),
    OneRow("document-delete", _document("papers"), "GET", id="what deleting a document takes"),
    OneRow("document-delete", _document("papers")),
    OneRow("document-extract", _document("papers"), reads=True),
    OneRow("passage-extract", _passage, reads=True),
    OneRow("conversation-pin", lambda home: home.conversation, shelf="empty"),
    OneRow("conversation-unpin", lambda home: home.conversation, shelf="papers"),
]

# Routes without an id: the page, and what to ask for so that everything of its owner is on it.
LISTS: list[tuple[str, dict[str, str]]] = [
    ("review", {}),
    ("review", {"view": "one"}),
    ("decided", {}),
    ("snoozed", {}),
    ("reconfirm", {}),
    ("digest", {}),
    ("bulk", {}),
    ("facts", {}),
    *[("facts", {"state": state.value}) for state in State],
    *[("facts", {"state": state.value, "q": SHARED}) for state in State],
    ("facts", {"sort": "unconfirmed", "used": "no", "agent": "global"}),
    ("entities", {}),
    ("entities", {"q": SHARED}),
    ("imports", {}),
    ("dropped", {"gate": "skipped"}),
    ("dashboard", {}),
    ("conversations", {}),
    ("conversations", {"only": "stuck"}),
    ("conversations", {"only": "unread"}),
    ("runs", {"state": "failed"}),
    ("runs", {}),
    ("recall", {}),
    ("rules", {}),
    ("rules", {"agent": "work"}),
    ("profile", {}),
    ("cases", {}),
    *[("cases", {"state": state.value}) for state in State],
    ("consolidation", {}),
    ("consolidation-preview", {}),
    ("settings", {}),
    ("webhooks", {}),
    ("forget", {}),
    ("knowledge", {}),
    ("knowledge-search", {}),
]
# Have a test of their own below.
FORMS = {
    "assistant-new",
    "bulk-decide",
    "collection-new",
    "consolidation-start",
    "fact-nearest",
    "fact-new",
    "import-new",
    "key-new",
    "knowledge-retry",
    "language-model-ask",
    "preferences",
    "retry-all",
    "rule-new",
    "rules-bring-in",
    "rules-import",
}
# Lead to a page of one row, or are about the server.
LEADS = {"language-model", "merge-selected"}
# By key only: tests/memory/test_mcp.py.
KEYED = {"mcp"}
# For everybody, and about nobody: tests/agents/test_sign_in.py and tests/config/test_health.py.
OPEN = {
    "home", "waiting-count", "digest-stop", "healthz", "login", "logout", "sign-in",
    "api-reference",
}  # fmt: skip

ids = [case.id or case.name for case in ONE_ROW]
one_row = pytest.mark.parametrize("case", ONE_ROW, ids=ids)


def told(answer: Any) -> str:
    assert isinstance(answer, HttpResponseBase)
    content: bytes = answer.getvalue()
    return content.decode() + str(answer.headers)


def test_no_route_was_forgotten() -> None:
    pages = {case.name for case in ONE_ROW} | {name for name, _ in LISTS} | FORMS | LEADS
    listed = pages | KEYED | OPEN
    assert routes.names() == listed


@one_row
def test_a_row_exists_for_its_owner_only(
    case: OneRow,
    hers: Household,
    his: Household,
    stranger: User,
    as_user: AsUser,
    client: Client,
    settings: Settings,
) -> None:
    if case.reads:
        nowhere = {"model": "none", "base_url": "http://127.0.0.1:9/v1", "api_key": "none"}
        settings.LLM_ROUTES = {"general": nowhere, "private": {"model": ""}}
    before = _changes(hers)
    for headers in ({}, HTMX):
        for somebody in (his.owner, stranger):
            answer = case.ask(as_user(somebody), hers, headers)
            assert answer.status_code == 404
            assert hers.mark not in told(answer)
        _assert_sent_to_sign_in(case.ask(client, hers, headers), hers)
    bearer = {"authorization": f"Bearer {hers.key.plaintext}"}
    _assert_sent_to_sign_in(case.ask(client, hers, bearer), hers)
    assert _changes(hers) == before

    answer = case.ask(as_user(hers.owner), hers, {})
    assert not answer.headers.get("Location", "").startswith(reverse("login"))
    if case.method == "GET":
        assert answer.status_code == 200
        assert hers.mark in told(answer)
    else:
        assert answer.status_code == case.status
        assert _changes(hers) != before


def _assert_sent_to_sign_in(answer: Any, hers: Household) -> None:
    """A swap is told to leave by a header."""
    assert answer.status_code in {200, 302}
    place = answer.headers.get("HX-Redirect") or answer["Location"]
    assert place.startswith(reverse("login"))
    assert not answer.content
    assert hers.mark not in told(answer)


def _changes(home: Household) -> tuple[int, ...]:
    """Grows with every step on a fact, a key, a setting, a run or a request of this owner."""
    owner = home.owner.pk
    home.stuck.refresh_from_db()
    return (
        AuditEvent.objects.filter(owner_id=owner).count(),
        ExtractionRun.objects.filter(owner=owner).count(),
        home.stuck.attempts,
        ForgetRequest.objects.filter(owner=owner).exclude(state="open").count(),
        -Sketch.objects.filter(owner=owner, kept=False).count(),
        Conversation.objects.filter(owner=owner).count(),
        PinnedCollection.objects.filter(owner=owner).count(),
        WebhookDelivery.objects.filter(owner=owner, state="waiting").count(),
    )


@pytest.mark.parametrize(("name", "asked"), LISTS)
def test_a_list_holds_only_the_rows_of_who_asks(
    name: str,
    asked: dict[str, str],
    hers: Household,
    his: Household,
    stranger: User,
    as_user: AsUser,
) -> None:
    def page(user: User) -> str:
        answers = [
            as_user(user).get(reverse(name), asked, headers=headers) for headers in ({}, HTMX)
        ]
        assert [answer.status_code for answer in answers] == [200, 200]
        return " ".join(told(answer) for answer in answers)

    assert hers.mark in page(hers.owner)
    assert hers.mark not in page(his.owner)
    assert his.mark in page(his.owner)
    assert hers.mark not in page(stranger)
    assert his.mark not in page(hers.owner)


def test_lists_and_forms_need_a_session(hers: Household, client: Client) -> None:
    for name in {name for name, _ in LISTS} | FORMS | LEADS | {"home"}:
        send = client.post if name in FORMS else client.get
        answer = send(reverse(name), follow=True)
        assert answer.redirect_chain[-1][0].startswith(reverse("login")), name
        assert hers.mark not in told(answer)


def test_a_place_in_anothers_list_leads_to_ones_own(
    hers: Household, his: Household, as_user: AsUser
) -> None:
    fact, client = hers.facts["pending"], as_user(his.owner)
    for name in ("review", "facts", "conversations", "runs"):
        for after in (str(fact.pk), f"{fact.created_at.isoformat()}_{fact.pk}"):
            answer = client.get(reverse(name), {"after": after})
            assert answer.status_code == 200
            assert hers.mark not in told(answer)


def test_the_recall_page_tells_only_ones_own(
    hers: Household, his: Household, as_user: AsUser
) -> None:
    def ask(who: Household, of: Household) -> Any:
        data = {"message": QUESTION, "agent": str(of.main.pk)}
        return as_user(who.owner).post(reverse("recall"), data)

    assert hers.text("statement active.") in told(ask(hers, hers))
    own = told(ask(his, his))
    assert his.text("statement active.") in own
    assert hers.mark not in own
    answer = ask(his, hers)
    assert answer.status_code == 422
    assert hers.mark not in told(answer)


def test_a_fact_can_not_be_moved_to_anothers_assistant(
    hers: Household, his: Household, as_user: AsUser
) -> None:
    fact = his.facts["movable"]
    url = reverse("fact-move", args=[fact.pk])
    answer = as_user(his.owner).post(url, {"agent": str(hers.work.pk)})
    assert answer.status_code == 422
    assert hers.mark not in told(answer)
    assert as_user(his.owner).post(url, {"agent": str(his.work.pk)}).status_code == 302


def test_no_entity_is_merged_across_owners(
    hers: Household, his: Household, as_user: AsUser
) -> None:
    client = as_user(his.owner)
    for kept, gone in ((his, hers), (hers, his)):
        ids = [kept.entities["one"].pk, gone.entities["other"].pk]
        assert client.get(reverse("entity-merge-preview", args=ids)).status_code == 404
        assert client.post(reverse("entity-merge", args=ids)).status_code == 404
    url = reverse("entity", args=[his.entities["one"].pk])
    answer = told(client.get(url, {"q": SHARED}))
    assert his.entities["other"].name in answer
    assert hers.mark not in answer


def test_a_new_fact_is_shown_beside_ones_own_only(
    hers: Household, his: Household, as_user: AsUser
) -> None:
    data = {"statement": hers.facts["active"].statement, "kind": "semantic"}
    for name in ("fact-new", "fact-nearest"):
        answer = told(as_user(his.owner).post(reverse(name), data))
        assert his.text("statement") in answer
        assert hers.text("statement pending.") not in answer
        assert str(hers.facts["active"].pk) not in answer


def test_all_that_is_stuck_means_ones_own(hers: Household, his: Household, as_user: AsUser) -> None:
    as_user(his.owner).post(reverse("retry-all"))
    hers.stuck.refresh_from_db()
    his.stuck.refresh_from_db()
    assert (hers.stuck.attempts, his.stuck.attempts) == (5, 0)


def test_nothing_of_anothers_is_decided_in_bulk_or_merged(
    hers: Household, his: Household, as_user: AsUser
) -> None:
    client, theirs, own = as_user(his.owner), hers.facts["pending"].pk, his.facts["pending"].pk
    before = _changes(hers), _changes(his)
    for step in ("confirm", "reject", "undo"):
        answer = client.post(reverse("bulk-decide"), {"id": [own, theirs], "step": step})
        assert answer.status_code == 404
    merge = reverse("merge", args=[own])
    assert client.post(merge, EDIT | {"with": str(theirs)}).status_code == 404
    for url in (merge, reverse("merge-selected")):
        asked = {"id": [str(own), str(theirs)], "with": str(theirs)}
        answer = client.get(url, asked, follow=True)
        assert answer.status_code == 404
        assert hers.mark not in told(answer)
    for name, row in (("id", theirs), ("like", theirs), ("conversation", hers.conversation.pk)):
        assert hers.mark not in told(client.get(reverse("bulk"), {name: str(row)}))
    assert (_changes(hers), _changes(his)) == before


def test_the_count_is_ones_own_and_keeps_quiet_for_who_is_signed_out(
    hers: Household, stranger: User, as_user: AsUser, client: Client
) -> None:
    answer = client.get(reverse("waiting-count"))
    assert (answer.status_code, answer.content) == (204, b"")
    assert "waiting</span>" in told(as_user(hers.owner).get(reverse("waiting-count")))
    assert "waiting</span>" not in told(as_user(stranger).get(reverse("waiting-count")))


def test_a_key_can_not_be_made_for_anothers_assistant(
    hers: Household, his: Household, as_user: AsUser
) -> None:
    def make(agent: Any) -> Any:
        data = {"name": "k", "agent": str(agent.pk), "scopes": ["recall"]}
        return as_user(his.owner).post(reverse("key-new"), data)

    before = hers.main.api_keys.count()
    answer = make(hers.main)
    assert answer.status_code == 422
    assert hers.mark not in told(answer)
    assert hers.main.api_keys.count() == before
    assert make(his.main).status_code == 200


def test_preferences_are_ones_own(hers: Household, his: Household, as_user: AsUser) -> None:
    data = {"memory": "off", "time_zone": "Asia/Tokyo"}
    assert as_user(his.owner).post(reverse("preferences"), data).status_code == 302
    hers.owner.settings.refresh_from_db()
    his.owner.settings.refresh_from_db()
    assert hers.owner.settings.memory_enabled is None
    assert his.owner.settings.memory_enabled is False


def test_a_run_is_asked_for_oneself_only(hers: Household, his: Household, as_user: AsUser) -> None:
    assert as_user(his.owner).post(reverse("consolidation-start")).status_code == 302
    asked = ConsolidationSchedule.objects.filter(requested_at__isnull=False)
    assert [row.owner for row in asked] == [his.owner]


def test_documents_are_searched_by_ones_own_assistants_in_ones_own_collections(
    hers: Household, his: Household, as_user: AsUser
) -> None:
    def ask(agent: Any, collection: str = "") -> Any:
        data = {"q": SHARED, "agent": str(agent.pk), "collection": collection}
        return as_user(his.owner).post(reverse("knowledge-search"), data)

    assert his.text("passage papers.") in told(ask(his.main))
    for wrong in (ask(hers.main), ask(his.main, str(hers.shelves["papers"].pk))):
        assert wrong.status_code == 422
        assert hers.mark not in told(wrong)
    assert his.text("passage works.") not in told(ask(his.main))


def test_collections_are_made_and_tried_again_for_oneself(
    hers: Household, his: Household, as_user: AsUser
) -> None:
    client, broken = as_user(his.owner), hers.documents["failed"]
    assert client.post(reverse("knowledge-retry")).status_code == 302
    for row, state in ((broken, "failed"), (his.documents["failed"], "waiting")):
        row.refresh_from_db()
        assert row.state == state
    before = hers.owner.collections.count()
    made = {"name": "New", "agent": str(hers.main.pk)}
    answer = client.post(reverse("collection-new"), made)
    assert answer.status_code == 422
    assert hers.mark not in told(answer)
    extract = reverse("document-extract", args=[his.documents["papers"].pk])
    assert client.post(extract, {"agent": str(hers.main.pk)}).status_code == 422
    pin = reverse("conversation-pin", args=[his.conversation.pk])
    shelf = {"collection": str(hers.shelves["papers"].pk)}
    assert client.post(pin, shelf).status_code == 404
    assert hers.owner.collections.count() == before
