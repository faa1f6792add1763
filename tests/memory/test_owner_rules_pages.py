"""The page of rules, their import, and a rule out of the review queue."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from agents.audit import key_holder, person
from agents.models import Agent, AuditEvent, OwnerSettings, User
from conversations.models import Import
from memory.bulk.steps import STEPS
from memory.lifecycle import NotAllowed
from memory.models import BulkJob, Fact, Rule
from memory.rules import from_candidate, imports, screen, writing
from memory.rules.scope import rules_of, standing
from memory.rules.values import SameRule
from memory.transfer.reading import BadFile
from memory.vocabulary import Repair, State, Withheld
from tests.factories import AgentFactory, ApiKeyFactory, FactFactory
from tests.memory.ruling import ruled

pytestmark = pytest.mark.django_db

METRIC = "Answer in metric units."
KEY = "sk-ant-api03-" + "q7Zx" * 20


@pytest.fixture
def desk(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def text_of(answer: Any) -> str:
    assert isinstance(answer, HttpResponse)
    return answer.content.decode()


def listed(owner: User) -> list[str]:
    return [rule.text for rule in standing(rules_of(owner))]


def test_a_newcomer_writes_orders_switches_and_takes_out(
    desk: Client, alice: User, agent: Agent
) -> None:
    assert "None yet" in text_of(desk.get(reverse("rules")))
    for text in (METRIC, "Be <b>brief</b>."):
        data = {"text": text, "scope": "all"}
        page = text_of(desk.post(reverse("rule-new"), data, follow=True))
        assert "Added." in page
    assert "Be &lt;b&gt;brief&lt;/b&gt;." in page
    assert f"For {agent.name} 2 ride" in page
    second = Rule.objects.get(text="Be <b>brief</b>.")
    page = text_of(desk.post(reverse("rule-move", args=[second.pk]), {"way": "up"}, follow=True))
    assert listed(alice) == ["Be <b>brief</b>.", METRIC]
    assert page.count("autofocus") == 0  # it is the first: there is no Up any more
    page = text_of(
        desk.post(reverse("rule-switch", args=[second.pk]), {"enabled": "no"}, follow=True)
    )
    assert f"For {agent.name} 1 ride" in page
    page = text_of(desk.post(reverse("rule-take-out", args=[second.pk]), follow=True))
    assert "Put back" in page
    assert listed(alice) == [METRIC]
    desk.post(reverse("rule-put-back", args=[second.pk]))
    assert listed(alice) == ["Be <b>brief</b>.", METRIC]


@pytest.mark.parametrize(
    ("text", "status", "why"),
    [
        ("", 422, "This field is required"),
        (f"Use {KEY} to sign in", 422, screen.LEAKS.split("'")[0]),
        ("x" * 600, 422, "at most 500 characters"),
        ("answer in METRIC units", 409, "The same rule is there already"),
    ],
)
def test_bad_input_says_what_to_do_and_keeps_what_was_typed(
    desk: Client, alice: User, text: str, status: int, why: str
) -> None:
    ruled(alice, METRIC)
    answer = desk.post(reverse("rule-new"), {"text": text, "scope": "all"})
    assert answer.status_code == status
    assert why in text_of(answer)
    assert listed(alice) == [METRIC]


def test_the_page_tells_what_does_not_ride_and_why(desk: Client, alice: User, agent: Agent) -> None:
    other = AgentFactory.create(owner=alice, name="Garden", slug="garden")
    ruled(alice, "Off one.", enabled=False)
    ruled(alice, "Garden one.", other)
    for number in range(9):
        ruled(alice, f"Rule {number} is about " + "good order and clean tools " * 6)
    page = text_of(desk.get(reverse("rules"), {"agent": agent.slug}))
    assert page.count(">over the budget<") > 0
    assert page.count(">rides<") > 0
    assert page.count(">off<") == 1
    assert page.count(">not for this assistant<") == 1
    assert "On, but over the budget: " in page
    OwnerSettings.objects.filter(owner=alice).update(memory_enabled=False)
    assert "Memory is off, so no rule rides" in text_of(desk.get(reverse("rules")))


def test_a_new_wording_keeps_the_old_one_to_be_looked_at_and_used_again(
    desk: Client, alice: User, agent: Agent
) -> None:
    first = ruled(alice, METRIC)
    data = {"text": "Answer in feet.", "scope": str(agent.pk)}
    page = text_of(desk.post(reverse("rule-reword", args=[first.pk]), data, follow=True))
    assert page.index("Answer in feet.") < page.index(METRIC)
    assert "Replaced by a new wording" in page
    late = desk.post(reverse("rule-reword", args=[first.pk]), {"text": "Late."})
    assert late.status_code == 409
    assert "has a newer wording" in text_of(late)
    second = Rule.objects.get(text="Answer in feet.")
    assert second.agent == agent
    desk.post(reverse("rule-reword", args=[second.pk]), {"text": METRIC})
    assert listed(alice) == [METRIC]
    assert Rule.objects.count() == 3


def test_a_purge_leaves_no_word_of_any_wording(desk: Client, alice: User) -> None:
    first = ruled(alice, "Call me Quetzal.")
    last = writing.reword(rule=first, text="Call me Quetzalcoatl.", actor=person(alice))
    keep = ruled(alice, METRIC)
    place = reverse("rule-purge", args=[last.pk])
    assert desk.post(place).status_code == 422
    assert Rule.objects.count() == 3
    desk.post(place, {"sure": "yes"})
    assert list(Rule.objects.all()) == [keep]
    trail = AuditEvent.objects.filter(table="memory_rule")
    assert not any("Quetzal" in f"{row.before}{row.after}{row.reason}" for row in trail)
    assert any(METRIC in str(row.after) for row in trail)
    assert desk.get(reverse("rule", args=[first.pk])).status_code == 404


FILE = f"""# How to work with me

- {METRIC}
- Be brief.
- be brief
- Sign in with {KEY}
- Mind the\u200b gap.

```sh
rm -rf /
```

Prefer tables
over long lists.
"""


def test_a_preview_flags_what_can_not_be_a_rule_and_stores_nothing(
    desk: Client, alice: User
) -> None:
    ruled(alice, METRIC)
    file = SimpleUploadedFile("CLAUDE.md", FILE.encode())
    page = text_of(desk.post(reverse("rules-import"), {"file": file, "scope": "all"}))
    found = imports.preview(owner=alice, agent=None, text=FILE)
    assert [(line.text[:10], line.fault) for line in found.lines] == [
        ("Answer in ", imports.SAME),
        ("Be brief.", ""),
        ("be brief", imports.TWICE),
        ("Sign in wi", screen.LEAKS),
        ("Mind the\u200b ", screen.HIDDEN),
        ("Prefer tab", ""),
    ]
    assert "2 of 6 can become rules" in page
    assert page.count(" checked") == 2
    assert page.count(" disabled") == 4
    assert KEY not in page
    assert "rm -rf" not in page
    assert (Rule.objects.count(), Import.objects.count()) == (1, 0)


def test_what_is_ticked_comes_in_and_goes_out_as_a_whole(
    desk: Client, alice: User, agent: Agent
) -> None:
    ruled(alice, METRIC)
    data = {
        "name": "CLAUDE.md",
        "scope": str(agent.pk),
        "text": ["Be brief.", "Prefer tables.", "Be brief", f"Use {KEY}", "Third."],
    }
    page = text_of(desk.post(reverse("rules-bring-in"), data, follow=True))
    assert "3 came in" in page
    assert page.count("Left out:") == 2
    assert KEY not in page
    assert listed(alice) == [METRIC, "Be brief.", "Prefer tables.", "Third."]
    imported = Import.objects.get()
    assert (imported.file_name, imported.counts) == ("CLAUDE.md", {"rules": 3, "left_out": 2})
    assert {rule.agent for rule in Rule.objects.filter(imported_by=imported)} == {agent}
    kept = Rule.objects.get(text="Third.")
    writing.reword(rule=kept, text="Third, reworded.", actor=person(alice))
    place = reverse("rules-import-take-out", args=[imported.pk])
    assert "Taken out: 2" in text_of(desk.post(place, follow=True))
    assert listed(alice) == [METRIC, "Third, reworded."]
    assert "Taken out: 0" in text_of(desk.post(place, follow=True))
    again = text_of(desk.post(reverse("rules-bring-in"), {"scope": "all"}, follow=True))
    assert "Nothing was ticked" in again
    desk.post(reverse("rules-bring-in"), {"scope": "all", "text": [METRIC]})
    assert Import.objects.count() == 1


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({}, "There is nothing in it"),
        ({"pasted": "x" * 250_000}, "is larger than"),
        ({"pasted": "- x\n" * 400}, "more than 300 points"),
        ({"file": b"\xff\xfe\x00"}, "save it as UTF-8"),
        ({"file": b"a\x00b"}, "holds NUL characters"),
        ({"file": b"x" * 300_000}, "larger than 200 kB"),
    ],
)
def test_a_file_that_is_none_is_refused(desk: Client, data: dict[str, Any], why: str) -> None:
    if isinstance(data.get("file"), bytes):
        data = {"file": SimpleUploadedFile("../x\r.md", data["file"])}
    answer = desk.post(reverse("rules-import"), data)
    assert answer.status_code == 422
    assert why in text_of(answer)


def test_a_preview_is_a_pure_look(alice: User) -> None:
    with pytest.raises(BadFile):
        imports.preview(owner=alice, agent=None, text="- x\n" * 400)
    assert imports.preview(owner=alice, agent=None, text="").lines == []


def instruction(agent: Agent, **values: Any) -> Fact:
    fields = {"state": State.PENDING, "withheld_for": [Withheld.DIRECTIVE]} | values
    return FactFactory.create(
        owner=agent.owner, agent=agent, statement="The user always wants metric units.", **fields
    )


def test_a_candidate_that_reads_like_an_instruction_becomes_a_rule_and_comes_back(
    desk: Client, alice: User, agent: Agent
) -> None:
    plain = FactFactory.create(owner=alice, agent=agent, statement="The user has a boat.")
    fact = instruction(agent)
    assert "Make this a rule" not in text_of(desk.get(reverse("candidate", args=[plain.pk])))
    assert "Make this a rule" in text_of(desk.get(reverse("candidate", args=[fact.pk])))
    place = reverse("make-rule", args=[fact.pk])
    answer = desk.post(place, {"rule": METRIC, "for_agent": "yes"}, headers={"HX-Request": "true"})
    assert "Made a rule" in text_of(answer)
    rule = Rule.objects.get()
    assert (rule.text, rule.agent, rule.candidate, rule.origin) == (METRIC, agent, fact, "review")
    fact.refresh_from_db()
    assert fact.state == State.REJECTED
    assert desk.post(place, {"rule": METRIC}).status_code == 409
    assert "Made a rule" in text_of(desk.get(reverse("decided")))
    writing.reword(rule=rule, text="Answer in meters.", actor=person(alice))
    desk.post(reverse("take-back", args=[fact.pk]))
    fact.refresh_from_db()
    assert (fact.state, listed(alice)) == (State.PENDING, [])


def by_the_facts_page(desk: Client, fact: Fact) -> None:
    page = text_of(desk.get(reverse("fact", args=[fact.pk])))
    assert "You made a rule of it" in page
    assert "Answer in meters." in page
    answer = desk.post(reverse("fact-reconsider", args=[fact.pk]), follow=True)
    assert "The rule that was made of it is taken out" in text_of(answer)


def by_the_decisions(desk: Client, fact: Fact) -> None:
    desk.post(reverse("take-back", args=[fact.pk]))


def by_bulk_repair(desk: Client, fact: Fact) -> None:
    job = BulkJob(owner=fact.owner, started_by=fact.owner, step=Repair.RECONSIDER, reason="anew")
    STEPS[Repair.RECONSIDER].take(fact, person(fact.owner), job)


@pytest.mark.parametrize("way", [by_the_facts_page, by_the_decisions, by_bulk_repair])
def test_reconsidering_a_candidate_takes_out_the_rule_that_was_made_of_it(
    desk: Client, alice: User, agent: Agent, way: Callable[[Client, Fact], None]
) -> None:
    fact = instruction(agent)
    rule = from_candidate.make(fact=fact, text=METRIC, agent=None, actor=person(alice))
    writing.reword(rule=rule, text="Answer in meters.", actor=person(alice))
    ruled(alice, "Be brief.")
    way(desk, fact)
    fact.refresh_from_db()
    assert (fact.state, listed(alice)) == (State.PENDING, ["Be brief."])


def test_a_rule_that_is_refused_leaves_the_candidate_where_it_was(
    desk: Client, alice: User, agent: Agent
) -> None:
    fact = instruction(agent)
    ruled(alice, METRIC)
    answer = desk.post(reverse("make-rule", args=[fact.pk]), {"rule": METRIC})
    assert answer.status_code == 409
    assert "The same rule is there already" in text_of(answer)
    assert desk.post(reverse("make-rule", args=[fact.pk]), {"rule": " "}).status_code == 422
    with pytest.raises(SameRule):
        from_candidate.make(fact=fact, text=METRIC, agent=None, actor=person(alice))
    fact.refresh_from_db()
    assert (fact.state, Rule.objects.count()) == (State.PENDING, 1)


def test_a_purge_of_the_candidate_takes_the_rule_along(alice: User, agent: Agent) -> None:
    from memory.purge.execute import erase

    fact = instruction(agent)
    made = from_candidate.make(fact=fact, text=METRIC, agent=None, actor=person(alice))
    writing.reword(rule=made, text="Answer in meters.", actor=person(alice))
    ruled(alice, "the user ALWAYS wants metric units.")
    keep = ruled(alice, "Be brief.")
    erase(owner=alice, actor=person(alice), facts=[fact.pk])
    assert list(Rule.objects.all()) == [keep]


def test_a_key_takes_back_no_decision_that_made_a_rule(alice: User, agent: Agent) -> None:
    fact = instruction(agent)
    made = from_candidate.make(fact=fact, text=METRIC, agent=None, actor=person(alice))
    key = ApiKeyFactory.create(agent=agent, scopes=["review"])
    with pytest.raises(NotAllowed, match="in a browser"):
        from_candidate.take_back(fact=fact, actor=key_holder(key))
    fact.refresh_from_db()
    made.refresh_from_db()
    assert (fact.state, made.stands) == (State.REJECTED, True)
