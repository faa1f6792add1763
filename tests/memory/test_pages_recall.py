"""The tables of the page Recall: what each item is worth, and why the near misses were not told."""

import json
import math
import re
from collections.abc import Callable
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.models import Agent, OwnerSettings
from memory.models import FactEntity
from memory.recall.trace import Why
from tests.factories import IssuedKey
from tests.memory.recalling import known, model, named

pytestmark = pytest.mark.usefixtures("model")
__all__ = ["model"]

ASKED = "which city did my sister Anna visit?"
HEADINGS = ["Fact", "Meaning", "Words", "Length", "Times", "Name", "Period"]
HEADINGS += ["Fades to", "Score", "Found by"]
TOLD = "The user's sister Anna visited Lima city."
FADED = "The user's sister Anna visited Oslo city."
WIDE = [
    f"The user's sister Anna visited the {city} " + "where it rained from morning to night " * 7
    for city in ("city of Rome", "city of Riga")
]
FAR = "The user travels with relatives."
GATED = "The user is allergic to peanuts."
LONG = "of the long list of wishes that the user keeps for another day " * 7
PINS = [f"The user's pin {name} {LONG.strip()}." for name in ("one", "two", "three")]


class Tables(HTMLParser):
    """The texts of the cells of each row, by the heading that the table stands under."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: dict[str, list[list[str]]] = {}
        self.heading, self.within = "", ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "h2":
            self.heading = ""
        elif tag == "tr":
            self.rows.setdefault(self.heading, []).append([])
        elif tag in {"td", "th"}:
            self.rows[self.heading][-1].append("")
        if tag in {"h2", "td", "th"}:
            self.within = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self.within:
            self.within = ""

    def handle_data(self, data: str) -> None:
        if self.within == "h2":
            self.heading = " ".join(f"{self.heading} {data}".split())
        elif self.within:
            row = self.rows[self.heading][-1]
            row[-1] = " ".join(f"{row[-1]} {data}".split())


@pytest.fixture
def store(agent: Agent) -> Agent:
    """Room for two of the pinned facts, and beside them for two short ones."""
    OwnerSettings.objects.filter(owner=agent.owner).update(recall_budget=400)
    now = timezone.now()
    known(agent, *PINS, pinned=True, last_confirmed_at=now)
    of_anna = known(agent, TOLD, *WIDE, last_confirmed_at=now)
    of_anna += known(agent, FADED, last_confirmed_at=now - timedelta(days=360))
    anna = named(of_anna[0], "Anna")
    for fact in of_anna[1:]:
        FactEntity.objects.create(owner=agent.owner, fact=fact, entity=anna)
    known(agent, FAR, GATED, last_confirmed_at=now)
    return agent


@pytest.fixture
def tables(store: Agent) -> Tables:
    desk = Client()
    desk.force_login(store.owner)
    answer = desk.post(reverse("recall"), {"message": ASKED, "agent": str(store.pk)})
    return Tables(answer.content.decode())


def test_it_shows_what_each_item_is_worth(tables: Tables) -> None:
    heading, *rows = tables.rows["What each is worth"]
    assert heading == HEADINGS
    assert [row[0] for row in rows] == [f"{PINS[0]} pinned", f"{PINS[1]} pinned", TOLD, FADED]
    # Only its pin brought it.
    assert set(rows[0][1:]) == {""}
    told, faded = (dict(zip(HEADINGS, row, strict=True)) for row in rows[2:])
    assert (told["Fades to"], faded["Fades to"]) == ("1.00", "0.50")
    for row in (told, faded):
        assert (row["Name"], row["Times"], row["Period"]) == ("3.00", "", "")
        parts = sum(float(row[part]) for part in HEADINGS[1:7] if row[part])
        left = parts + math.log(float(row["Fades to"]))
        assert float(row["Score"]) == pytest.approx(left, abs=0.03)
        for leg in (r"Meaning [12]", r"Words [1-4] \([^)]*city[^)]*\)", r"Names [1-4] \(anna\)"):
            assert re.search(leg, row["Found by"])


def test_it_says_of_each_near_miss_why_it_was_not_told(tables: Tables) -> None:
    heading, *rows = tables.rows["Near misses"]
    assert heading == HEADINGS
    assert sorted(row[0] for row in rows) == sorted(
        [
            f"{PINS[2]} pinned, but over the budget of pinned facts",
            *(f"{statement.strip()} over the budget" for statement in WIDE),
            f"{FAR} far behind the best",
            f"{GATED} not relevant enough",
        ]
    )
    # A search has seen each of them, and its worth is shown.
    for row in rows:
        assert float(row[HEADINGS.index("Score")]) > 0
        assert "Meaning" in row[-1]


def test_a_key_is_told_the_same_reasons(
    api: Callable[[IssuedKey], Client], alice_key: IssuedKey, store: Agent
) -> None:
    body = json.dumps({"message": ASKED, "explain": True})
    answer = api(alice_key).post("/api/v1/recall", body, content_type="application/json")
    misses = [(miss["statement"], miss["why"]) for miss in answer.json()["trace"]["near_misses"]]
    assert sorted(misses) == sorted(
        [
            (PINS[2], Why.PINNED_BUDGET),
            *((statement, Why.BUDGET) for statement in WIDE),
            (FAR, Why.CUT),
            (GATED, Why.GATE),
        ]
    )
