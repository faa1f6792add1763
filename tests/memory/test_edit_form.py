"""Days at the edge of the calendar: what a person may type, and what is stored of it."""

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse

from agents.models import Agent
from memory.models import Fact
from tests.memory.candidates import candidate

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
@pytest.mark.parametrize(
    ("field", "day", "status"),
    [
        ("until", "9999-12-31", 422),
        ("since", "9999-12-31", 422),
        ("since", "0001-01-01", 422),
        ("until", "0001-01-01", 422),
        ("until", "9998-12-31", 302),
        ("since", "1000-01-01", 302),
    ],
)
def test_days_that_no_calendar_can_go_beyond_are_refused(
    client: "Client", agent: Agent, zone: str, field: str, day: str, status: int
) -> None:
    agent.owner.settings.time_zone = zone
    agent.owner.settings.save()
    fact = candidate(agent, "The user keeps bees.")
    client.force_login(agent.owner)
    data = {"statement": fact.statement, "kind": fact.kind, field: day}
    answer = client.post(reverse("edit", args=[fact.pk]), data)
    assert answer.status_code == status
    if status == 302:
        follow = client.get(reverse("fact", args=[Fact.objects.latest("created_at").pk]))
        assert follow.status_code == 200
        assert day[:4] in follow.content.decode()


@pytest.mark.parametrize("statement", ["\u200b\u200b", "…", "\u202e \u202c", "🐝"])
def test_a_statement_needs_a_letter_or_digit(
    client: "Client", agent: Agent, statement: str
) -> None:
    fact = candidate(agent, "The user keeps bees.")
    client.force_login(agent.owner)
    url = reverse("edit", args=[fact.pk])
    assert client.post(url, {"statement": statement, "kind": fact.kind}).status_code == 422
    assert client.post(url, {"statement": "养蜂", "kind": fact.kind}).status_code == 302
