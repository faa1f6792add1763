"""Assistants are made, renamed and deleted; what a deleted one knew goes to its heir."""

import dataclasses

import pytest
from django.urls import reverse

from agents.audit import POLICY, person
from agents.models import Agent, ApiKey
from memory import lifecycle
from memory.cases import lifecycle as case_lifecycle
from memory.cases.scope import cases_readable_by
from memory.cases.values import CaseDraft, SameCase
from memory.models import Fact, Rule
from memory.rules import writing
from memory.rules.scope import riding, rules_of, standing
from memory.scope import facts_readable_by
from memory.vocabulary import State
from tests.factories import (
    AgentFactory,
    ApiKeyFactory,
    CaseFactory,
    ConversationFactory,
    FactFactory,
)
from tests.memory.candidates import candidate
from tests.memory.pages import text
from tests.memory.ruling import ruled

pytestmark = pytest.mark.django_db
FORM = {"name": "Garden", "slug": "", "reads": "own_and_global"}


def test_one_is_made_renamed_and_told_what_to_read(alices, alice):
    alices.post(reverse("assistant-new"), FORM | {"name": "Kitchen garden"})
    row = Agent.objects.get(owner=alice, slug="kitchen-garden")
    url = reverse("assistant", args=[row.pk])
    alices.post(url, FORM | {"slug": "kitchen-garden", "reads": "own"})
    row.refresh_from_db()
    assert (row.name, row.reads) == ("Garden", "own")
    assert "Garden" in text(alices, "settings")


@pytest.mark.parametrize(
    "data",
    [{"name": ""}, {"name": "木"}, {"slug": "main"}, {"reads": "all"}, {"slug": "a b"}],
    ids=str,
)
def test_it_says_what_is_wrong(alices, alice, data):
    response = alices.post(reverse("assistant-new"), FORM | data)
    assert response.status_code == 422
    assert "errorlist" in response.content.decode()
    assert alice.agents.count() == 2


def test_another_becomes_the_default_one(alices, alice, agent, second_agent):
    agent.reads = Agent.Reads.ALL
    agent.save()
    url = reverse("assistant", args=[second_agent.pk])
    alices.post(url, {"name": "Work", "slug": "work", "reads": "all", "is_default": "on"})
    assert Agent.objects.get(owner=alice, is_default=True) == second_agent
    agent.refresh_from_db()
    assert agent.reads == Agent.Reads.OWN_AND_GLOBAL


def delete(client, agent, heir):
    return client.post(reverse("assistant-delete", args=[agent.pk]), {"heir": str(heir.pk)})


def test_what_a_deleted_one_knew_goes_to_its_heir(alices, alice, agent, second_agent):
    FactFactory.create(agent=second_agent, statement="The user keeps bees.", state=State.ACTIVE)
    candidate(second_agent, "The user keeps hens.")
    FactFactory.create(agent=second_agent, statement="The user keeps ants.", state=State.REJECTED)
    key = ApiKeyFactory.create(agent=second_agent)
    assert "1 active and 1 pending" in text(alices, "assistant", second_agent.pk)
    assert delete(alices, second_agent, agent).status_code == 302
    here = dict(facts_readable_by(agent).values_list("statement", "state"))
    assert here == {
        "The user keeps bees.": State.ACTIVE,
        "The user keeps hens.": State.PENDING,
    }
    moved = Fact.objects.get(agent=agent, statement="The user keeps hens.")
    assert moved.evidence.count() == 1
    assert not Fact.objects.filter(agent=second_agent, state__in=["active", "pending"]).exists()
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert "Work" not in [row.name for row in alices.get(reverse("settings")).context["agents"]]
    assert alices.get(reverse("assistant", args=[second_agent.pk])).status_code == 404


def test_what_both_knew_is_there_once(alices, agent, second_agent):
    for owner_of_it in (agent, second_agent):
        candidate(owner_of_it, "The user keeps bees.", state=State.ACTIVE)
    delete(alices, second_agent, agent)
    kept = Fact.objects.get(state=State.ACTIVE)
    assert kept.agent == agent
    assert kept.evidence.count() == 2


def test_a_correction_follows_what_it_corrects(alices, agent, second_agent):
    from memory.vocabulary import Kind, Origin
    from tests.factories import MONDAY

    old = FactFactory.create(agent=second_agent, statement="The rent is 900.", state=State.ACTIVE)
    draft = lifecycle.Draft("The rent is 950.", Kind.SEMANTIC, Origin.EXTRACTION, MONDAY)
    lifecycle.propose(
        owner=agent.owner, agent=second_agent, draft=draft, actor=POLICY, targets=[old]
    )
    delete(alices, second_agent, agent)
    waiting = Fact.objects.get(agent=agent, state=State.PENDING)
    (target,) = waiting.targets.filter(open=True)
    assert target.target.statement == "The rent is 900."
    assert target.target.agent == agent


def test_its_conversations_stay_and_teach_the_heir(alices, agent, second_agent):
    talk = ConversationFactory.create(agent=second_agent)
    delete(alices, second_agent, agent)
    talk = type(talk).objects.get(pk=talk.pk)
    assert talk.agent == second_agent
    assert talk.agent.acting() == agent


def test_its_cases_are_told_to_the_heir_and_to_the_heirs_heir(alices, alice, agent, second_agent):
    last = AgentFactory.create(owner=alice, slug="last", name="Last")
    talk = ConversationFactory.create(agent=second_agent)
    told = CaseFactory.create(conversation=talk, state=State.ACTIVE, goal="Mend the roof.")
    waits = CaseFactory.create(conversation=talk, goal="Mend the fence.")
    here = ConversationFactory.create(agent=agent)
    other = CaseFactory.create(conversation=here, state=State.ACTIVE, goal="Paint the boat.")
    assert "2 cases" in text(alices, "assistant", second_agent.pk)
    for row, heir in ((second_agent, last), (last, agent)):
        assert delete(alices, row, heir).status_code == 302
        assert {told, waits} <= set(cases_readable_by(heir))
        assert "2 cases" in text(alices, "settings")
    assert set(cases_readable_by(agent)) == {told, waits, other}
    assert Agent.objects.get(pk=second_agent.pk).heir == agent


def test_its_rules_stand_for_the_heir_and_the_owner_is_told_before(
    alices, alice, agent, second_agent
):
    ruled(alice, "Be brief.", agent)
    twin = ruled(alice, "be brief", second_agent)
    moved = ruled(alice, "Answer in French.", second_agent)
    off = ruled(alice, "Answer in verse.", second_agent, enabled=False)
    out = writing.retire(rule=ruled(alice, "Hum.", second_agent), actor=person(alice))
    page = text(alices, "assistant", second_agent.pk)
    assert "also follows its rules" in page
    for said in ("Answer in French.", "Answer in verse.", "(off)"):
        assert said in page
    assert "Hum." not in page
    delete(alices, second_agent, agent)
    assert "3 rules" in text(alices, "settings")
    assert [rule.text for rule in riding(agent)] == ["Be brief.", "Answer in French."]
    for row in (twin, moved, off):
        row.refresh_from_db()
        assert not row.stands
    heads = Rule.objects.filter(predecessors__in=[moved, off]).order_by("place")
    assert [(head.agent, head.enabled) for head in heads] == [(agent, True), (agent, False)]
    assert not standing(rules_of(alice)).filter(agent=second_agent).exists()
    assert writing.restore(rule=out, actor=person(alice)).agent == agent


def test_what_comes_back_after_it_was_deleted_comes_back_for_the_heir(
    alices, alice, agent, second_agent
):
    by = person(alice)
    forgotten = FactFactory.create(
        agent=second_agent, statement="The user keeps bees.", state=State.ARCHIVED
    )
    rejected = FactFactory.create(
        agent=second_agent, statement="The user keeps hens.", state=State.REJECTED
    )
    known = FactFactory.create(
        agent=second_agent, statement="The user keeps geese.", state=State.ARCHIVED
    )
    there = FactFactory.create(agent=agent, statement="The user keeps geese.", state=State.ACTIVE)
    delete(alices, second_agent, agent)
    for row in (forgotten, rejected, known):
        row.refresh_from_db()
    back = lifecycle.restore(fact=forgotten, actor=by)
    assert (back.agent, back.state, back.statement) == (agent, State.ACTIVE, forgotten.statement)
    waits = lifecycle.reconsider(fact=rejected, actor=by)
    assert (waits.agent, waits.state) == (agent, State.PENDING)
    assert lifecycle.restore(fact=known, actor=by) == there
    assert not Fact.objects.filter(agent=second_agent, state__in=["active", "pending"]).exists()
    assert {back, there, waits} <= set(facts_readable_by(agent))


def test_what_was_rejected_before_it_was_deleted_is_not_proposed_to_the_heir(
    alices, alice, agent, second_agent
):
    talk = ConversationFactory.create(agent=second_agent)
    case = CaseFactory.create(conversation=talk)
    case_lifecycle.reject(case=case, actor=person(alice))
    delete(alices, second_agent, agent)
    fields = [field.name for field in dataclasses.fields(CaseDraft)]
    values = {name: getattr(case, name) for name in fields if hasattr(case, name)}
    values |= {"conversation": type(talk).objects.get(pk=talk.pk), "sources": (), "cited": set()}
    draft = CaseDraft(**values)
    assert draft.agent == agent
    with pytest.raises(SameCase):
        case_lifecycle.propose(draft=draft, actor=POLICY)
    other = dataclasses.replace(draft, goal="Mend another thing.")
    assert case_lifecycle.propose(draft=other, actor=POLICY).agent == agent


def test_a_deleted_one_speaks_no_more(alices, agent, second_agent, api):
    key = ApiKeyFactory.create(owner=agent.owner)
    delete(alices, second_agent, agent)
    asked = {"message": "Hello", "agent": "work"}
    answer = api(key).post("/api/v1/recall", asked, content_type="application/json")
    assert answer.status_code == 404


def test_it_is_refused_without_an_heir_for_the_default_one_and_at_the_cap(
    alices, alice, agent, second_agent, bobs_agent
):
    FactFactory.create(agent=second_agent, statement="The user keeps bees.", state=State.ACTIVE)
    FactFactory.create(agent=agent, statement="The user keeps hens.", state=State.ACTIVE)
    alice.settings.cap_per_agent = 1
    alice.settings.save()
    for row, heir, status in (
        (second_agent, second_agent, 422),
        (second_agent, bobs_agent, 422),
        (agent, second_agent, 409),
        (second_agent, agent, 409),
    ):
        assert delete(alices, row, heir).status_code == status
    assert not Agent.objects.filter(retired_at__isnull=False).exists()
    assert not ApiKey.objects.filter(revoked_at__isnull=False).exists()
