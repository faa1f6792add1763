"""The page of cases: what waits, what it rests on, and the steps."""

import pytest
from django.urls import reverse

from memory.models import Case, Derivation
from memory.vocabulary import Origin, State, Withheld
from tests.factories import CaseFactory, ConversationFactory, FactFactory, MessageFactory
from tests.memory.pages import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(agent):
    talk = ConversationFactory.create(agent=agent)
    message = MessageFactory.create(conversation=talk, content="My tyre is flat, <b>help</b>.")
    return CaseFactory.create(conversation=talk, message=message, goal="Mend a <i>flat</i> tyre")


def test_a_case_is_shown_whole_with_its_messages_and_escaped(alices, case):
    page = text(alices, "cases")
    for shown in (case.context, case.approach, case.outcome, case.lessons, "the user", "bicycle"):
        assert shown in page
    assert "Mend a &lt;i&gt;flat&lt;/i&gt; tyre" in page
    assert "My tyre is flat, &lt;b&gt;help&lt;/b&gt;." in page
    assert reverse("conversation", args=[case.conversation_id]) in page


def test_each_state_has_its_tab_and_strangers_have_none(alices, agent, bobs_agent):
    for state in State:
        talk = ConversationFactory.create(agent=agent)
        CaseFactory.create(conversation=talk, state=state, goal=f"A case that is {state.value}")
    CaseFactory.create(conversation=ConversationFactory.create(agent=bobs_agent), goal="Bob's case")
    for state in State:
        page = text(alices, "cases", state=state.value)
        shown = [one for one in State if f"A case that is {one.value}" in page]
        assert shown == [state]
        assert "Bob&#x27;s case" not in page
    assert "A case that is pending" in text(alices, "cases", state="nonsense", after="x")


@pytest.mark.parametrize(
    ("step", "start", "end"),
    [
        ("confirm", State.PENDING, State.ACTIVE),
        ("reject", State.PENDING, State.REJECTED),
        ("take-back", State.ACTIVE, State.PENDING),
        ("take-back", State.REJECTED, State.PENDING),
        ("forget", State.ACTIVE, State.ARCHIVED),
        ("restore", State.ARCHIVED, State.ACTIVE),
    ],
)
def test_a_step_is_taken_once(alices, agent, step, start, end):
    case = CaseFactory.create(conversation=ConversationFactory.create(agent=agent), state=start)
    url = reverse(f"case-{step}", args=[case.pk])
    assert alices.post(url, {"seen": case.revision}).status_code == 302
    case.refresh_from_db()
    assert case.state == end
    again = alices.post(url, {"seen": case.revision - 1})
    assert again.status_code == 409
    assert 'role="alert"' in again.content.decode()


def test_a_decision_over_an_old_view_is_refused(alices, case):
    url = reverse("case-confirm", args=[case.pk])
    answer = alices.post(url, {"seen": case.revision + 1})
    assert answer.status_code == 409
    case.refresh_from_db()
    assert case.state == State.PENDING


def test_a_warning_is_told_with_what_was_found(alices, case):
    Case.objects.filter(pk=case.pk).update(
        withheld_for=[Withheld.DIRECTIVE], withheld_detail="from now on"
    )
    page = text(alices, "case", case.pk)
    assert Withheld.DIRECTIVE.label in page
    assert "from now on" in page


def test_hidden_characters_are_spelled_out(alices, agent):
    CaseFactory.create(
        conversation=ConversationFactory.create(agent=agent), goal="Mend a ty\u202ere of a bike"
    )
    assert "ty⟨U+202E⟩re" in text(alices, "cases")


def test_the_queue_says_that_cases_wait(alices, agent):
    assert "wait for you too" not in text(alices, "review")
    for state in State:
        talk = ConversationFactory.create(agent=agent)
        CaseFactory.create(conversation=talk, state=state)
    assert "1 case</a> waits for you too" in text(alices, "review")


def test_a_page_of_cases_takes_as_many_queries_as_one(alices, agent, django_assert_max_num_queries):
    talk = ConversationFactory.create(agent=agent)
    for _ in range(9):
        CaseFactory.create(conversation=talk, message=MessageFactory.create(conversation=talk))
    with django_assert_max_num_queries(12):
        text(alices, "cases")


def test_an_insight_shows_the_facts_it_was_concluded_from_and_their_words(alices, agent):
    message = MessageFactory.create(
        conversation=ConversationFactory.create(agent=agent), content="I ran before work."
    )
    source = FactFactory.create(
        agent=agent, state=State.ACTIVE, statement="The user ran.", message=message
    )
    gone = FactFactory.create(agent=agent, state=State.ARCHIVED, statement="The user swam.")
    insight = FactFactory.create(
        agent=agent,
        origin=Origin.REFLECTION,
        statement="The user is sporty.",
        withheld_for=[Withheld.DERIVED],
    )
    for fact in (source, gone):
        Derivation.objects.create(owner=agent.owner, fact=insight, source=fact)
    for page in (text(alices, "review"), text(alices, "fact", insight.pk)):
        assert "Concluded from" in page
        assert "I ran before work." in page
        assert "archived now" in page


def test_a_quarantine_of_a_conversation_takes_its_cases_along(alices, agent):
    talk = ConversationFactory.create(agent=agent)
    mine = CaseFactory.create(conversation=talk, state=State.ACTIVE)
    other = CaseFactory.create(
        conversation=ConversationFactory.create(agent=agent), state=State.ACTIVE
    )
    FactFactory.create(agent=agent, conversation=talk, state=State.ACTIVE)
    page = text(alices, "quarantine", "conversation", talk.pk)
    assert "Send 2 back to the queue" in page
    url = reverse("quarantine", args=["conversation", talk.pk])
    answer = alices.post(url, follow=True).content.decode()
    assert "1 fact waits for you again; no assistant is told them. So for 1 case." in answer
    states = {case.pk: case.state for case in Case.objects.all()}
    assert states == {mine.pk: State.PENDING, other.pk: State.ACTIVE}
    back = alices.post(reverse("reinstate", args=["conversation", talk.pk]), follow=True)
    assert "1 fact is active again. So for 1 case." in back.content.decode()
    mine.refresh_from_db()
    assert mine.state == State.ACTIVE
