"""Facts over HTTP: listed, read, corrected, pinned; asked for by assistants, decided by people."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from agents.audit import person
from agents.models import Agent, User
from memory import lifecycle
from memory.models import Fact
from memory.vocabulary import Kind, Origin, State, Tag
from tests.factories import (
    MONDAY,
    ApiKeyFactory,
    ConversationFactory,
    FactFactory,
    IssuedKey,
    MessageFactory,
)

pytestmark = pytest.mark.django_db
Api = Callable[[IssuedKey], Client]
NOWHERE = "0190c0de-0000-7000-8000-000000000000"


@pytest.fixture
def owners(api: Api, alice: User) -> Client:
    """Of the owner's own program."""
    scopes = ["search", "propose", "review", "remember"]
    return api(ApiKeyFactory.create(owner=alice, scopes=scopes))


@pytest.fixture
def assistants(api: Api, agent: Agent) -> Client:
    return api(ApiKeyFactory.create(agent=agent, scopes=["search", "propose", "remember"]))


@pytest.fixture
def tea(agent: Agent) -> Fact:
    return FactFactory.create(
        agent=agent, statement="The user prefers tea over coffee.", state=State.ACTIVE,
        tags=[Tag.PREFERENCE],
    )  # fmt: skip


def send(client: Client, method: str, path: str, **body: Any) -> Any:
    return client.generic(method, f"/api/v1/{path}", _json(body), content_type="application/json")


def _json(body: dict[str, Any]) -> str:
    import json

    return json.dumps(body)


def ids(answer: Any) -> set[str]:
    return {one["id"] for one in answer.json()["items"]}


def test_the_list_is_paged_by_a_key_that_new_rows_do_not_shift(owners: Client, alice: User) -> None:
    old = [FactFactory.create(owner=alice, state=State.ACTIVE) for _ in range(5)]
    first = owners.get("/api/v1/facts", {"limit": 2}).json()
    FactFactory.create(owner=alice, state=State.ACTIVE)
    second = owners.get("/api/v1/facts", {"limit": 2, "after": first["next"]}).json()
    third = owners.get("/api/v1/facts", {"limit": 2, "after": second["next"]}).json()
    told = [one["id"] for page in (first, second, third) for one in page["items"]]
    assert told == [str(fact.pk) for fact in reversed(old)]
    assert third["next"] is None


@pytest.mark.parametrize(
    "query",
    [
        {"after": "nonsense"},
        {"after": "bm9uc2Vuc2U="},
        {"after": "é"},
        {"state": "x"},
        {"limit": 0},
        {"entity": "x"},
        {"text": "a\x00"},
    ],
    ids=str,
)
def test_a_list_says_what_is_wrong_with_the_question(owners: Client, query: Any) -> None:
    answer = owners.get("/api/v1/facts", query)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


def test_filters_narrow_each_other(owners: Client, alice: User, tea: Fact) -> None:
    ski = FactFactory.create(
        owner=alice, statement="The user skied in Oslo.", state=State.ACTIVE,
        kind=Kind.EPISODIC, origin=Origin.EXTRACTION,
    )  # fmt: skip
    pending = FactFactory.create(owner=alice, statement="The user rows.")
    for query, found in (
        ({}, {tea, ski}),
        ({"kind": "episodic"}, {ski}),
        ({"tag": "preference"}, {tea}),
        ({"text": "skied"}, {ski}),
        ({"text": "skied", "tag": "preference"}, set()),
        ({"state": "pending"}, {pending}),
        ({"origin": "manual"}, set()),
        ({"agent": "work"}, {ski}),
    ):
        answer = owners.get("/api/v1/facts", query)
        assert ids(answer) == {str(fact.pk) for fact in found}, query


def test_words_to_look_for_need_not_stand_in_the_address(
    owners: Client, assistants: Client, tea: Fact
) -> None:
    FactFactory.create(owner=tea.owner, statement="The user skis.", state=State.ACTIVE)
    questions: list[dict[str, Any]] = [{"text": "tea"}, {"tag": "preference", "limit": 1}]
    for asked in questions:
        answer = send(owners, "POST", "facts/search", **asked)
        assert answer.json() == owners.get("/api/v1/facts", asked).json()
        assert ids(answer) == {str(tea.pk)}
    assert send(assistants, "POST", "facts/search", state="pending").status_code == 403
    assert send(owners, "POST", "facts/search", txt="tea").status_code == 422


def test_a_list_takes_as_many_queries_for_many_as_for_few(
    owners: Client, alice: User, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        FactFactory.create(owner=alice, state=State.ACTIVE)
    with django_assert_max_num_queries(9):
        assert len(ids(owners.get("/api/v1/facts"))) == 12


def test_a_fact_is_told_with_its_version_and_offsets(owners: Client, tea: Fact) -> None:
    answer = owners.get(f"/api/v1/facts/{tea.pk}")
    told = answer.json()
    assert told["statement"] == tea.statement
    assert (told["agent"], told["kind"], told["tags"]) == ("main", "semantic", ["preference"])
    assert answer["ETag"] == f'"{told["version"]}"'
    assert told["observed_at"].endswith(("Z", "+00:00"))


def test_a_secret_is_masked(owners: Client, alice: User) -> None:
    secret = "AKIA" + "Z7QW4E2RT6YU9PLK"
    fact = FactFactory.create(
        owner=alice, statement=f"The user's key is {secret}.", state=State.ACTIVE
    )
    assert secret not in owners.get(f"/api/v1/facts/{fact.pk}").content.decode()


def test_a_reviewers_correction_takes_the_place_at_once(owners: Client, tea: Fact) -> None:
    version = owners.get(f"/api/v1/facts/{tea.pk}").json()["version"]
    answer = send(
        owners, "POST", f"facts/{tea.pk}/correct",
        statement="The user prefers  coffee.", version=version,
    )  # fmt: skip
    assert answer.status_code == 200
    told = answer.json()
    assert (told["statement"], told["state"]) == ("The user prefers coffee.", "active")
    assert told["tags"] == ["preference"]
    tea.refresh_from_db()
    assert str(tea.superseded_by_id) == told["id"]
    history = owners.get(f"/api/v1/facts/{told['id']}/history").json()
    assert [one["id"] for one in history["chain"]] == [str(tea.pk), told["id"]]
    old = owners.get(f"/api/v1/facts/{tea.pk}/history").json()["events"]
    assert old[0]["changes"]["state"] == {"before": "active", "after": "archived"}
    assert old[0]["who"].startswith("key “")


def test_an_assistants_correction_waits(assistants: Client, tea: Fact) -> None:
    answer = send(
        assistants, "POST", f"facts/{tea.pk}/correct", statement="The user prefers coffee."
    )
    assert (answer.status_code, answer.json()["outcome"]) == (202, "pending")
    waits = Fact.objects.get(pk=answer.json()["fact"])
    assert waits.state == State.PENDING
    assert [row.target_id for row in waits.targets.all()] == [tea.pk]
    tea.refresh_from_db()
    assert tea.state == State.ACTIVE


@pytest.mark.parametrize("by_header", [True, False])
@pytest.mark.parametrize("what", ["correct", "pin", "validity"])
def test_a_stale_edit_is_told_what_is_there_now(
    owners: Client, tea: Fact, what: str, by_header: bool
) -> None:
    version = owners.get(f"/api/v1/facts/{tea.pk}").json()["version"]
    lifecycle.set_pinned(fact=tea, pinned=True, actor=person(tea.owner))
    bodies: dict[str, Any] = {
        "correct": ("POST", {"statement": "The user prefers coffee."}),
        "pin": ("PUT", {"pinned": False}),
        "validity": ("PUT", {"valid_from": "2026-01-01T00:00:00Z"}),
    }
    method, body = bodies[what]
    headers = {"if-match": f'"{version}"'} if by_header else {}
    body |= {} if by_header else {"version": version}
    answer = owners.generic(
        method, f"/api/v1/facts/{tea.pk}/{what}", _json(body), "application/json", headers=headers
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "stale")
    current = answer.json()["current"]
    assert (current["id"], current["pinned"]) == (str(tea.pk), True)
    assert current["version"] != version
    tea.refresh_from_db()
    assert (tea.pinned, tea.valid_from, tea.state) == (True, None, State.ACTIVE)


def test_a_fact_is_pinned_and_unpinned(owners: Client, tea: Fact) -> None:
    for pinned in (True, False):
        answer = send(owners, "PUT", f"facts/{tea.pk}/pin", pinned=pinned)
        assert (answer.status_code, answer.json()["pinned"]) == (200, pinned)
        tea.refresh_from_db()
        assert tea.pinned is pinned


def test_validity_is_set_and_cleared(owners: Client, tea: Fact) -> None:
    path = f"facts/{tea.pk}/validity"
    answer = send(owners, "PUT", path, valid_from="2026-01-01T00:00:00+01:00")
    assert answer.json()["valid_from"] in ("2025-12-31T23:00:00Z", "2026-01-01T00:00:00+01:00")
    assert send(owners, "PUT", path).json()["valid_from"] is None
    wrong = send(
        owners, "PUT", path, valid_from="2026-01-01T00:00:00Z", valid_until="2025-01-01T00:00:00Z"
    )
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid")
    assert send(owners, "PUT", path, valid_from="2026-01-01T00:00:00").status_code == 422
    assert send(owners, "PUT", path, valid_from=1_700_000_000).status_code == 422


def test_a_fact_by_hand_is_active_once(owners: Client, alice: User) -> None:
    body = {"statement": "The user has a kiln.", "tags": ["fact"], "pinned": True}
    answer = send(owners, "POST", "facts", **body)
    assert answer.status_code == 201
    fact = Fact.objects.get(pk=answer.json()["id"])
    assert (fact.state, fact.origin, fact.agent, fact.pinned) == ("active", "manual", None, True)
    again = send(owners, "POST", "facts", **body)
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
    for_one = send(owners, "POST", "facts", agent="work", statement="The user rows.")
    assert for_one.json()["agent"] == "work"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"statement": " "},
        {"statement": "…"},
        {"statement": "x" * 501},
        {"statement": "The user rows.", "kind": "x"},
        {"statement": "The user rows.", "tags": ["x"]},
        {"statement": "The user rows.", "owner": 1},
    ],
    ids=str,
)
def test_bad_input_stores_nothing(owners: Client, body: dict[str, Any]) -> None:
    answer = send(owners, "POST", "facts", **body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert not Fact.objects.exists()


def test_a_purged_fact_is_gone_for_a_reviewer_and_missing_for_others(
    owners: Client, assistants: Client, tea: Fact
) -> None:
    from memory.purge import execute
    from memory.purge.selection import chosen

    execute.purge(selection=chosen(owner=tea.owner, facts=(tea.pk,)), actor=person(tea.owner))
    assert owners.get(f"/api/v1/facts/{tea.pk}").status_code == 410
    assert assistants.get(f"/api/v1/facts/{tea.pk}").status_code == 404
    assert owners.get("/api/v1/facts", {"state": "archived"}).json()["items"] == []


def test_remember_is_active_where_the_owner_said_it(assistants: Client, agent: Agent) -> None:
    talk = ConversationFactory.create(agent=agent, external_id="trip")
    MessageFactory.create(
        conversation=talk, content="Remember that I play the cello.", sent_at=MONDAY
    )
    cited = {"conversation": "trip", "quote": "I play the cello"}
    answer = send(
        assistants, "POST", "remember", statement="The user plays the cello.", cited=cited
    )
    assert answer.status_code == 200
    assert answer.json()["outcome"] in ("active", "pending")
    fact = Fact.objects.get(pk=answer.json()["fact"])
    assert (fact.origin, fact.evidence.count()) == ("remember", 1)
    again = send(assistants, "POST", "remember", statement="The user plays the cello.", cited=cited)
    assert again.json()["fact"] == str(fact.pk)
    assert Fact.objects.count() == 1


def test_remember_without_the_owners_words_waits(assistants: Client, agent: Agent) -> None:
    answer = send(assistants, "POST", "remember", statement="The user plays the cello.")
    assert answer.json()["outcome"] == "pending"
    assert "not_typed" in answer.json()["withheld"]
    for cited, status in (
        ({"conversation": "nowhere"}, 404),
        ({"conversation": "trip", "message": "m9"}, 404),
        ({"quote": "x"}, 422),
    ):
        ConversationFactory.create(agent=agent) if status == 404 else None
        answer = send(assistants, "POST", "remember", statement="The user rows.", cited=cited)
        assert answer.status_code == status, cited
    short = send(assistants, "POST", "remember", statement="x")
    assert (short.status_code, short.json()["code"]) == (422, "invalid")


def test_a_proposal_always_waits_even_with_the_review_scope(
    owners: Client, assistants: Client, tea: Fact
) -> None:
    answer = send(owners, "POST", "propose", agent="main", statement="The user rows.")
    assert (answer.status_code, answer.json()["outcome"]) == (202, "pending")
    correction = send(
        assistants, "POST", "propose",
        statement="The user prefers coffee.", corrects=[str(tea.pk)],
    )  # fmt: skip
    waits = Fact.objects.get(pk=correction.json()["fact"])
    assert [row.target_id for row in waits.targets.all()] == [tea.pk]
    nobody = send(assistants, "POST", "propose", statement="The user bows.", corrects=[NOWHERE])
    assert nobody.status_code == 404


def test_a_key_that_reads_nothing_is_not_told_a_text_by_being_late(
    api: Callable[[IssuedKey], Client], tea: Fact
) -> None:
    key = api(ApiKeyFactory.create(agent=tea.agent, scopes=["propose"]))
    body = {"statement": "The user prefers coffee.", "version": "stale"}
    answer = key.post(f"/api/v1/facts/{tea.pk}/correct", body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (409, "stale")
    assert "current" not in answer.json()
