"""Recall and search as of an earlier day. The trail's clock is the database's own, so what a test
changes is always changed today; yesterday is the day that is asked for."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone

from agents.audit import person
from agents.models import Agent, OwnerSettings, User
from conversations.models import Message
from memory.models import Fact
from memory.purge.execute import purge
from memory.purge.selection import Selection
from memory.recall import record
from memory.recall.as_of import DayToCome, end_of
from memory.recall.service import Recall, recall
from memory.recall.trace import Why
from memory.search.service import search
from memory.vocabulary import ArchivedReason, State
from tests.factories import ApiKeyFactory, FactFactory, IssuedKey
from tests.memory.recalling import known, model, named
from tests.memory.searching import said

pytestmark = pytest.mark.usefixtures("model")
__all__ = ["model"]

Api = Callable[[IssuedKey], Client]
NOW = timezone.now()
YESTERDAY = (NOW - timedelta(days=1)).date()
LONG_AGO = NOW - timedelta(days=30)
ASKED = "where does my sister Anna live?"
TURKU, OSLO = "The user's sister Anna lives in Turku.", "The user's sister Anna lives in Oslo."


def ask(agent: Agent, day: date | None = YESTERDAY, message: str = ASKED, **values: Any) -> Recall:
    return recall(agent=agent, message=message, as_of=day, **values)


def told(agent: Agent, day: date | None = YESTERDAY, **values: Any) -> set[str]:
    return {item.fact.statement for item in ask(agent, day, **values).items}


def since_long(agent: Agent, *statements: str, **values: Any) -> list[Fact]:
    return known(agent, *statements, **{"created_at": LONG_AGO, "observed_at": LONG_AGO} | values)


def change(fact: Fact, **values: Any) -> None:
    Fact.objects.filter(pk=fact.pk).update(**values)


def archive(fact: Fact, why: str, successor: Fact | None = None) -> None:
    fact.refresh_from_db(fields=["state"])
    change(
        fact,
        state=State.ARCHIVED,
        archived_from=fact.state,
        archived_reason=why,
        superseded_by=successor,
    )


UNDECIDED = {"state": State.PENDING, "reviewer": None, "reviewed_at": None}


def test_a_superseded_fact_is_told_as_of_when_it_was_active(agent: Agent) -> None:
    (old,) = since_long(agent, TURKU)
    (new,) = known(agent, OSLO)
    named(old, "Anna")
    archive(old, ArchivedReason.SUPERSEDED, new)
    assert told(agent, None) == told(agent, timezone.now().date()) == {OSLO}
    assert told(agent) == {TURKU}
    result = ask(agent)
    assert "As it was known at the end of " + YESTERDAY.isoformat() in result.block
    assert result.items[0].candidate is not None
    assert {"vector", "full_text", "entity"} <= set(result.items[0].candidate.legs)
    assert result.items[0].fact.state == State.ACTIVE


@pytest.mark.parametrize("why", ["stale", "undone"])
def test_whatever_ended_it_since_it_was_told_then(agent: Agent, why: str) -> None:
    (fact,) = since_long(agent, TURKU)
    archive(fact, why)
    assert (told(agent, None), told(agent)) == (set(), {TURKU})


def test_what_came_later_is_absent(agent: Agent) -> None:
    since_long(agent, TURKU)
    known(agent, OSLO)
    assert told(agent, None) == {TURKU, OSLO}
    assert told(agent) == {TURKU}


def test_what_waited_then_is_absent_though_it_is_active_now(agent: Agent) -> None:
    (fact,) = since_long(agent, TURKU, state=State.PENDING)
    change(fact, state=State.ACTIVE, reviewer=agent.owner, reviewed_at=timezone.now())
    assert (told(agent, None), told(agent)) == ({TURKU}, set())


def test_of_several_changes_the_first_since_tells_what_was(agent: Agent) -> None:
    (pending,) = since_long(agent, OSLO, state=State.PENDING)
    (active,) = since_long(agent, TURKU)
    review = {"reviewer": agent.owner, "reviewed_at": timezone.now()}
    for fact in (pending, active):
        change(fact, **UNDECIDED)
        change(fact, state=State.ACTIVE, **review)
        archive(fact, ArchivedReason.STALE)
    assert told(agent) == {TURKU}


def test_validity_is_that_of_the_day(agent: Agent) -> None:
    ended = datetime.combine(YESTERDAY, datetime.min.time(), tzinfo=UTC)
    since_long(agent, TURKU, valid_until=ended)
    since_long(agent, OSLO, valid_until=ended + timedelta(days=1))
    before = YESTERDAY - timedelta(days=1)
    assert told(agent, None) == set()
    assert told(agent) == {OSLO}
    assert told(agent, before) == {TURKU, OSLO}
    (fact,) = since_long(agent, "The user's sister Anna lives in Bergen.")
    change(fact, valid_until=ended)
    assert told(agent) == {OSLO, fact.statement}


def test_pin_confidence_and_confirmation_are_those_of_the_day(agent: Agent) -> None:
    (unpinned,) = since_long(agent, "The user wants short answers.", pinned=True)
    (pinned,) = since_long(agent, "The user wants long answers.")
    (fact,) = since_long(agent, TURKU, confidence=0.6)
    change(unpinned, pinned=False)
    change(pinned, pinned=True)
    change(fact, confidence=1.0, last_confirmed_at=timezone.now())
    items = {item.fact.statement: item for item in ask(agent).items}
    assert {statement for statement, item in items.items() if item.pinned} == {unpinned.statement}
    assert items[TURKU].fact.confidence == 0.6
    assert items[TURKU].fact.last_confirmed_at == LONG_AGO
    assert pinned.statement not in items


def test_a_purged_text_is_told_of_no_day(agent: Agent) -> None:
    (gone,) = since_long(agent, TURKU)
    since_long(agent, OSLO)
    assert told(agent) == {TURKU, OSLO}
    purge(selection=Selection(owner=agent.owner, facts=(gone.pk,)), actor=person(agent.owner))
    result = ask(agent)
    assert told(agent) == {OSLO}
    assert "Turku" not in str(result)
    assert Message.PURGED not in str(result)


def test_scope_is_todays_and_nobody_elses(
    agent: Agent, second_agent: Agent, bobs_agent: Agent
) -> None:
    for other, place in ((agent, "Turku"), (second_agent, "Oslo"), (bobs_agent, "Bergen")):
        (fact,) = since_long(other, f"The user's sister Anna lives in {place}.")
        archive(fact, ArchivedReason.STALE)
    for asking, place in ((agent, "Turku"), (second_agent, "Oslo"), (bobs_agent, "Bergen")):
        assert told(asking) == {f"The user's sister Anna lives in {place}."}
        text = str(ask(asking))
        assert [name for name in ("Turku", "Oslo", "Bergen") if name in text] == [place]


def test_before_anything_was_known_it_says_so(agent: Agent) -> None:
    since_long(agent, TURKU)
    early = ask(agent, date(1999, 1, 1))
    assert (early.block, early.trace.empty_because) == ("", Why.NOTHING_YET)
    assert ask(agent, message="Explain quarks").trace.empty_because == Why.NOTHING_RELEVANT
    assert ask(agent, date.min).block == ""


def test_a_day_ends_on_the_owners_clock(agent: Agent) -> None:
    evening = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)  # 3 March in Helsinki
    now = datetime(2026, 3, 20, 9, 0, tzinfo=UTC)
    known(agent, TURKU, created_at=evening, observed_at=evening)
    assert told(agent, date(2026, 3, 2), now=now) == {TURKU}
    OwnerSettings.objects.filter(owner=agent.owner).update(time_zone="Europe/Helsinki")
    assert told(agent, date(2026, 3, 2), now=now) == set()
    assert told(agent, date(2026, 3, 3), now=now) == {TURKU}


def test_today_is_now_and_tomorrow_is_refused() -> None:
    now = datetime(2026, 3, 2, 23, 30, tzinfo=UTC).astimezone(ZoneInfo("Europe/Helsinki"))
    assert end_of(date(2026, 3, 3), now) is None
    with pytest.raises(DayToCome, match="2026-03-03"):
        end_of(date(2026, 3, 4), now)
    end = end_of(date(2026, 3, 2), now)
    assert end is not None
    assert end.isoformat() == "2026-03-02T23:59:59.999999+02:00"


# Over HTTP


def post(client: Client, to: str, **body: Any) -> Any:
    return client.post(f"/api/v1/{to}", json.dumps(body), content_type="application/json")


@pytest.mark.parametrize("day", ["tomorrow", "2026-3-2", 20260302, "2026-02-30", "9999-01-01", ""])
def test_a_bad_day_is_one_clear_answer(api: Api, alice_key: IssuedKey, day: Any) -> None:
    for to, body in (("recall", {"message": "x"}), ("search", {"query": "x"})):
        answer = post(api(alice_key), to, as_of=day, **body)
        assert answer.status_code == 422, to
        assert answer["Content-Type"] == "application/problem+json"


def test_recall_and_search_take_a_day(api: Api, alice_key: IssuedKey, agent: Agent) -> None:
    (old,) = since_long(agent, TURKU)
    (new,) = known(agent, OSLO)
    archive(old, ArchivedReason.SUPERSEDED, new)
    day = YESTERDAY.isoformat()
    answer = post(api(alice_key), "recall", message=ASKED, as_of=day).json()
    assert [item["statement"] for item in answer["items"]] == [TURKU]
    assert answer["trace"]["as_of"].startswith(day)
    assert post(api(alice_key), "recall", message=ASKED).json()["trace"]["as_of"] is None
    found = post(api(alice_key), "search", query=ASKED, scope="facts", as_of=day).json()
    assert [hit["text"] for hit in found["hits"]] == [TURKU]


def test_who_may_not_review_is_not_told_again_what_the_owner_took_back(
    api: Api, agent: Agent
) -> None:
    forgotten, quarantined, kept = since_long(
        agent, TURKU, OSLO, "The user's sister Anna lives in Bergen."
    )
    archive(forgotten, ArchivedReason.FORGOTTEN)
    change(quarantined, **UNDECIDED)
    assert told(agent) == {TURKU, OSLO, kept.statement}
    day = YESTERDAY.isoformat()
    for scopes, expected in ((("recall", "search"), 1), (("recall", "search", "review"), 3)):
        client = api(ApiKeyFactory.create(agent=agent, scopes=scopes))
        answer = post(client, "recall", message=ASKED, as_of=day, explain=True)
        assert len(answer.json()["items"]) == expected
        found = post(client, "search", query=ASKED, as_of=day)
        assert len(found.json()["hits"]) == expected
        assert ("Turku" in answer.content.decode() + found.content.decode()) == (expected == 3)


def test_what_was_stored_later_is_not_found_in_the_record(agent: Agent) -> None:
    said(agent, "The red cello is broken.")
    assert [hit.text for hit in search(agent=agent, query="red cello")]
    assert search(agent=agent, query="red cello", as_of=YESTERDAY) == []
    later = timezone.now() + timedelta(days=2)
    found = search(agent=agent, query="red cello", as_of=later.date() - timedelta(1), now=later)
    assert [hit.text for hit in found] == ["The red cello is broken."]


def test_looking_back_is_no_use_of_a_fact(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, alice: User
) -> None:
    since_long(agent, TURKU)
    hints: list[Any] = []
    monkeypatch.setattr(record, "_hint", lambda *values: hints.append(values))
    record.told(recall=ask(agent), talk=None, conversation=None)
    assert hints == []
    record.told(recall=ask(agent, None), talk=None, conversation=None)
    assert len(hints) == 1


def test_what_ended_before_it_had_a_vector_is_found_by_its_words(agent: Agent) -> None:
    """The worker embeds no archived fact, and the index of terms has let go of it."""
    fact = FactFactory.create(
        owner=agent.owner,
        agent=agent,
        state=State.ACTIVE,
        statement="The user's dentist is Dr. Molar.",
        created_at=LONG_AGO,
        observed_at=LONG_AGO,
    )
    archive(fact, "stale")
    assert told(agent, message="Who is my dentist?") == {fact.statement}
    assert told(agent, None, message="Who is my dentist?") == set()


def test_words_count_for_what_has_ended_as_for_what_has_not(agent: Agent) -> None:
    (fact,) = since_long(agent, TURKU)
    today = ask(agent, None).items[0].candidate
    archive(fact, "stale")
    then = ask(agent).items[0].candidate
    assert today is not None
    assert then is not None
    assert then.parts.keys() == today.parts.keys()
