from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from agents.models import Agent, OwnerSettings
from memory import embedding
from memory.recall.service import Recall, recall
from memory.recall.trace import Leg, Outcome, Why
from memory.text.language import detect_language, language_config
from memory.vocabulary import Kind, Tag
from tests.factories import ConversationFactory, FactFactory
from tests.memory.recalling import end_threads, known, model, named

pytestmark = pytest.mark.usefixtures("model")
__all__ = ["model"]

NOW = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)
TOMORROW = NOW + timedelta(days=1)
HOME = "The user's home is in the Kallio district of Helsinki."
OTHERS = (
    "The user is not a morning person.",
    "The user drinks tea, and coffee only on Sundays.",
    "The user's sister is called Anna and studies medicine.",
    "The user drives a red Volvo.",
    "The user works as a nurse at the city hospital.",
    "The user went to a concert of the Grateful Dead.",
    "The user is allergic to peanuts.",
    "The user usually says hello to the neighbours.",
)


def ask(agent: Agent, message: str, *recent: str, **values: object) -> Recall:
    return recall(agent=agent, message=message, recent=recent, **{"now": NOW} | values)  # type: ignore[arg-type]


def statements(result: Recall) -> list[str]:
    return [item.fact.statement for item in result.items]


def leg(result: Recall, which: Leg) -> Outcome:
    return next(report.outcome for report in result.trace.legs if report.leg == which)


def test_where_do_i_live_finds_home_though_no_word_is_shared(agent: Agent) -> None:
    known(agent, HOME, *OTHERS)
    result = ask(agent, "where do I live")
    assert HOME in result.block
    home = next(item for item in result.items if item.fact.statement == HOME)
    assert home.candidate is not None
    assert set(home.candidate.legs) == {Leg.VECTOR}


PASTED = (
    """
Traceback (most recent call last): the deploy script stopped at step nine.
Server alpha answered with status 502 after thirty seconds of silence.
Retrying the upload of build artefacts to the mirror failed twice.
Disk usage of the volume reached ninety eight percent overnight.
"""
    + "The scheduler printed another line about packages, queues and timeouts.\n" * 20
)


def test_a_question_before_or_behind_what_was_pasted_is_answered(agent: Agent) -> None:
    known(agent, HOME, *OTHERS)
    assert statements(ask(agent, PASTED)) == []
    for message in (f"{PASTED}\nWhere do I live?", f"Where do I live?\n{PASTED}"):
        assert HOME in statements(ask(agent, message))


def test_each_topic_of_a_message_is_answered(agent: Agent) -> None:
    known(agent, HOME, *OTHERS)
    told = statements(
        ask(
            agent,
            "The winter tyres arrived this morning and the garage called about them."
            " Which car do I drive? The bakery also asked whether anything is dangerous for me,"
            " am I allergic to anything? And what does my sister study these days?",
        )
    )
    assert {
        "The user drives a red Volvo.",
        "The user is allergic to peanuts.",
        "The user's sister is called Anna and studies medicine.",
    } <= set(told)
    assert "The user went to a concert of the Grateful Dead." not in told


PLUMBER = "The user's plumber is Pekka, telephone 040 1234567."
BOAT = "The user's friend Mikko has a sailing boat in Naantali."
LEAK = (
    "There is water all over the kitchen floor and the sink is leaking badly."
    " I need to call somebody immediately. Whom do I usually call?"
)
LETTERS = (
    "Hi there. I hope that this finds you well after the holidays abroad. Mikko wrote to me about"
    " the winter yesterday evening. The office has sent new prices for berths and storage. I also"
    " got a letter from the bank about the mortgage. The electricity contract ends in January and"
    " must be renewed soon. Please draft a friendly reply for the office about the berth."
)


def test_several_sentences_about_one_thing_are_read_as_one(agent: Agent) -> None:
    known(agent, PLUMBER, HOME)
    assert PLUMBER in statements(ask(agent, LEAK))


def test_whoever_is_named_in_the_middle_of_a_message_is_known(agent: Agent) -> None:
    boat, *_ = known(agent, BOAT, *OTHERS)
    named(boat, "Mikko")
    for message in (LETTERS, f"{PASTED[:700]}\n{LETTERS}\n{PASTED[:700]}"):
        assert BOAT in statements(ask(agent, message))


def test_a_request_before_or_behind_pasted_data_is_met(agent: Agent) -> None:
    known(agent, *OTHERS)
    data = ", ".join(f'{{"id": {n}, "state": "running", "load": {n * 3.1:.1f}}}' for n in range(30))
    for message in (f"Tell me about my sister\n{data}", f"{data}\nTell me about my sister"):
        assert OTHERS[2] in statements(ask(agent, message))


def test_each_question_beside_what_was_pasted_is_answered(agent: Agent) -> None:
    known(agent, HOME, *OTHERS)
    asked = "Where do I live? Which car do I drive? What is my sister called?"
    for message in (f"{asked}\n\n{PASTED}", f"{PASTED}\n\n{asked}"):
        assert {HOME, OTHERS[2], OTHERS[3]} <= set(statements(ask(agent, message)))


@pytest.mark.parametrize(
    "message", ["Good morning!", "Hello, how are you doing today?", "thanks a lot", "👋", ""]
)
def test_a_greeting_gets_nothing(agent: Agent, message: str) -> None:
    known(agent, HOME, *OTHERS)
    result = ask(agent, message)
    assert (result.block, result.tokens, result.items) == ("", 0, ())
    assert result.trace.empty_because == Why.SMALL_TALK
    assert result.is_empty


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ("The user started a new job.", "Good job!"),
        ("The user flies to Rome.", "See you tomorrow!"),
        ("The user flies to Rome.", "Merci, à demain"),
        ("Käyttäjä juo paljon kahvia aamulla.", "Kiitos paljon!"),
        ("Der Nutzer hat morgen einen Termin.", "Alles klar, bis morgen"),
    ],
)
def test_a_saying_asks_for_nothing_though_a_fact_has_its_words(
    agent: Agent, fact: str, message: str
) -> None:
    known(agent, fact, language=language_config(detect_language(fact)), valid_from=TOMORROW)
    assert ask(agent, message).block == ""
    assert ask(agent, "what do I do tomorrow?").items != ()


@pytest.mark.parametrize(
    "message",
    [
        "Explain quantum entanglement",
        "Write a regex that matches IPv4 addresses",
        "How do I add a new user to a Postgres database?",
        "What is the capital of Mongolia?",
    ],
)
def test_an_unrelated_question_gets_nothing(agent: Agent, message: str) -> None:
    known(agent, HOME, *OTHERS)
    result = ask(agent, message)
    assert result.block == ""
    assert result.trace.empty_because == Why.NOTHING_RELEVANT
    assert leg(result, Leg.VECTOR) == leg(result, Leg.TEXT) == Outcome.OK


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("What is my sister's name?", OTHERS[2]),
        ("am I allergic to anything?", OTHERS[6]),
        ("what kind of car do I have", OTHERS[3]),
        ("where do i work?", OTHERS[4]),
        ("what should I drink this afternoon, coffee?", OTHERS[1]),
    ],
)
def test_a_question_about_the_owner_finds_its_fact_first(
    agent: Agent, message: str, found: str
) -> None:
    known(agent, HOME, *OTHERS)
    assert statements(ask(agent, message))[0] == found


def test_full_text_finds_any_form_of_a_word(agent: Agent) -> None:
    known(agent, "The user repaired three bicycles.", *OTHERS)
    result = ask(agent, "how long does repairing a bicycle take")
    (item,) = result.items
    assert item.candidate is not None
    assert set(item.candidate.legs[Leg.TEXT].matched) == {"bicycle", "repairing"}


def test_a_finnish_question_finds_a_finnish_fact(agent: Agent) -> None:
    known(agent, "Käyttäjä asuu Turussa.", language="finnish")
    known(agent, "Käyttäjä omistaa kaksi koiraa.", language="finnish")
    result = ask(agent, "Missä kaupungissa minä asun?")
    assert statements(result) == ["Käyttäjä asuu Turussa."]
    assert set(result.items[0].candidate.legs) == {Leg.TEXT}  # type: ignore[union-attr]


def test_the_model_is_not_asked_in_a_script_it_can_not_read(agent: Agent) -> None:
    known(agent, "ผู้ใช้ชอบดื่มชา", "ผู้ใช้มีสุนัขสองตัว", language="simple")
    result = ask(agent, "ฉันอยู่ที่ไหน")
    assert result.block == ""
    assert leg(result, Leg.VECTOR) == Outcome.SKIPPED


def test_an_alias_finds_the_facts_of_its_entity(agent: Agent) -> None:
    fact, _ = known(agent, "The user's deployment runs on Kubernetes.", OTHERS[3])
    named(fact, "Kubernetes", "k8s", "kube")
    result = ask(agent, "how would k8s's scheduler see it?")
    assert statements(result) == [fact.statement]
    (item,) = result.items
    assert item.candidate is not None
    assert item.candidate.legs[Leg.ENTITY].matched == ("k8s",)


def test_a_month_finds_what_happened_then(agent: Agent) -> None:
    moved, _, said = (
        *known(
            agent,
            "The user moved into a bigger flat.",
            valid_from=datetime(2023, 5, 8, tzinfo=UTC),
            kind=Kind.EPISODIC,
        ),
        *known(agent, "The user bought a canoe.", valid_from=datetime(2023, 8, 1, tzinfo=UTC)),
        *known(agent, "The user ran a marathon.", observed_at=datetime(2023, 5, 30, tzinfo=UTC)),
    )
    result = ask(agent, "what happened in May 2023?")
    assert set(statements(result)) == {moved.statement, said.statement}


def test_what_is_of_two_periods_is_found_once_and_the_newest_first(agent: Agent) -> None:
    days = [datetime(2025, 3, day, 12, 0, tzinfo=UTC) for day in (4, 9, 21)]
    for day in days:
        known(agent, f"Something of the {day.day}th.", observed_at=day, created_at=day)
    begun = datetime(2025, 3, 15, tzinfo=UTC)
    known(agent, "Something that began then.", valid_from=begun, observed_at=days[1])
    known(agent, "Something of a year later.", observed_at=NOW, created_at=NOW)
    result = ask(agent, "in March 2025, in 2025?")
    report = next(report for report in result.trace.legs if report.leg == Leg.TIME)
    assert report.found.hits[0].matched == ("March 2025", "in 2025")
    told = {item.fact.pk: item.fact.statement for item in result.items}
    assert [told[hit.fact_id] for hit in report.found.hits] == [
        "Something of the 21th.",
        "Something of the 9th.",
        "Something that began then.",
        "Something of the 4th.",
    ]


def test_a_date_beside_another_topic_only_supports(agent: Agent) -> None:
    in_may = {"observed_at": datetime(2023, 5, 30, tzinfo=UTC)}
    known(agent, "The user ran a marathon.", **in_may)
    known(agent, "The user stayed at a small hotel by the sea in Porto.", **in_may)
    result = ask(agent, "which small hotel by the sea in Porto did we book in May 2023")
    assert statements(result) == ["The user stayed at a small hotel by the sea in Porto."]
    assert {miss.why for miss in result.trace.near_misses} == {Why.GATE}


def test_the_turns_before_it_complete_a_short_question(agent: Agent) -> None:
    known(agent, *OTHERS)
    assert statements(ask(agent, "and since when?")) == []
    completed = ask(agent, "and since when?", "Where do I work?")
    assert statements(completed)[:1] == [OTHERS[4]]


def test_pinned_facts_ride_on_every_turn(agent: Agent) -> None:
    known(agent, "The user wants short answers.", pinned=True)
    known(agent, *OTHERS)
    result = ask(agent, "Hello!")
    assert statements(result) == ["The user wants short answers."]
    assert "The user wants short answers." in result.block
    assert result.is_empty


def test_an_old_fact_can_still_be_asked_for(agent: Agent) -> None:
    long_ago = NOW - timedelta(days=2000)
    known(agent, HOME, observed_at=long_ago)
    known(agent, "The user lives near a tram stop.")
    result = ask(agent, "where do I live")
    assert set(statements(result)) == {HOME, "The user lives near a tram stop."}
    assert statements(result)[-1] == HOME
    assert "last confirmed 5 years ago" in result.block


def test_what_has_expired_leaves_by_itself(agent: Agent) -> None:
    known(agent, HOME, valid_until=NOW)
    known(agent, "The user's home town is Turku.", valid_until=NOW + timedelta(seconds=1))
    result = ask(agent, "where is my home")
    assert statements(result) == ["The user's home town is Turku."]


def test_the_budget_leaves_out_the_least_and_says_so(agent: Agent) -> None:
    known(agent, *(f"The user's sister Anna visited city number {n}." for n in range(20)))
    result = ask(agent, "which cities did my sister visit", budget=200)
    assert 0 < len(result.items) < 20
    assert result.tokens <= 200
    assert Why.BUDGET in {miss.why for miss in result.trace.near_misses}


def test_the_trace_shows_what_a_gate_kept_back(agent: Agent) -> None:
    known(agent, HOME, "The user is allergic to peanuts.")
    result = ask(agent, "where do I live")
    assert statements(result) == [HOME]
    (miss,) = result.trace.near_misses
    assert (miss.fact.statement, miss.why) == ("The user is allergic to peanuts.", Why.GATE)


def test_the_same_question_gets_the_same_block_but_for_the_nonce(agent: Agent) -> None:
    known(agent, HOME, *OTHERS)
    one, other = ask(agent, "tell me about my sister"), ask(agent, "tell me about my sister")
    assert one.block.split("\n")[1:-1] == other.block.split("\n")[1:-1]
    assert one.block != other.block


def test_more_facts_cost_no_more_queries(agent: Agent) -> None:
    known(agent, *(f"The user's sister Anna visited city number {n}." for n in range(5)))
    with CaptureQueriesContext(connection) as few:
        ask(agent, "which city did my sister visit last month")
    known(agent, *(f"The user's sister Anna went to town number {n}." for n in range(25)))
    with CaptureQueriesContext(connection) as many:
        ask(agent, "which city did my sister visit last month")
    assert len(_reads(few)) == len(_reads(many)) == 5


def _reads(context: CaptureQueriesContext) -> list[str]:
    """Without the savepoints that only a surrounding transaction needs."""
    statements = [query["sql"] for query in context.captured_queries]
    return [sql for sql in statements if "SAVEPOINT" not in sql]


@pytest.mark.parametrize(
    ("mode", "choice", "works"),
    [
        ("default_on", None, True),
        ("default_on", False, False),
        ("default_off", None, False),
        ("default_off", True, True),
        ("disabled", True, False),
    ],
)
def test_it_tells_nothing_while_memory_is_off(
    agent: Agent, settings: Settings, mode: str, choice: bool | None, works: bool
) -> None:
    known(agent, HOME)
    known(agent, "The user wants short answers.", pinned=True)
    settings.MEMORY_MODE = mode
    OwnerSettings.objects.filter(owner=agent.owner).update(memory_enabled=choice)
    result = ask(agent, "where do I live")
    assert (HOME in result.block) == works
    assert ("short answers" in result.block) == works
    assert (result.trace.empty_because == Why.MEMORY_OFF) == (not works)


@pytest.mark.parametrize("mode", ["default_on", "disabled"])
def test_a_server_without_memory_works_out_no_vector_of_a_message(
    agent: Agent, settings: Settings, mode: str
) -> None:
    settings.MEMORY_MODE = mode
    before = list(embedding.known.vectors)
    ask(agent, f"where did I leave my {mode} umbrella")
    end_threads()
    assert (list(embedding.known.vectors) == before) == (mode == "disabled")


def test_a_conversation_of_another_agent_is_refused(agent: Agent, bobs_agent: Agent) -> None:
    with pytest.raises(ValueError, match="another agent"):
        ask(agent, "where do I live", conversation=ConversationFactory.create(agent=bobs_agent))


def test_recall_writes_nothing(agent: Agent) -> None:
    known(agent, HOME)
    with CaptureQueriesContext(connection) as context:
        ask(agent, "where do I live", conversation=ConversationFactory.build(agent=agent))
    assert all(sql.lstrip().startswith(("SELECT", "WITH")) for sql in _reads(context))


def test_the_newest_facts_come_by_themselves_only_where_that_is_switched_on(
    agent: Agent, settings: Settings
) -> None:
    yesterday, before = NOW - timedelta(days=1), NOW - timedelta(days=9)
    known(agent, "The user bought a canoe.", created_at=yesterday, observed_at=yesterday)
    known(agent, "The user ran a marathon.", created_at=before, observed_at=before)
    # From a backfill: recorded yesterday, said before.
    known(agent, "The user sold a piano.", created_at=yesterday, observed_at=before)
    message = "Explain quantum entanglement"
    assert ask(agent, message).items == ()
    settings.RECALL = {"recency_leg": True}
    assert statements(ask(agent, message)) == ["The user bought a canoe."]


def test_words_that_mean_something_to_the_search_language_are_only_words(agent: Agent) -> None:
    known(agent, "The user plays rock & roll | jazz on a !guitar.")
    for message in (
        "'rock' & !roll | (",
        "a:* <-> b",
        "\\'; DROP TABLE memory_fact; --",
        "%_[rock",
    ):
        ask(agent, message)
    assert statements(ask(agent, "guitar & (jazz | 'rock\\")) == [
        "The user plays rock & roll | jazz on a !guitar."
    ]


def test_a_megabyte_is_no_trouble(agent: Agent) -> None:
    known(agent, HOME)
    result = ask(agent, "lorem ipsum " * 90_000 + " where is my home?")
    assert all(report.outcome != Outcome.FAILED for report in result.trace.legs)


def test_a_fact_without_a_vector_is_found_by_its_words(agent: Agent) -> None:
    FactFactory.create(
        agent=agent, state="active", statement="The user drives a red Volvo.", tags=[Tag.FACT]
    )
    assert statements(ask(agent, "is the Volvo fast?")) == ["The user drives a red Volvo."]


def test_a_question_taken_for_another_language_still_reaches_english_facts(agent: Agent) -> None:
    known(agent, "The user studied quantum entanglement at university.", *OTHERS)
    result = ask(agent, "Explain quantum entanglement")
    assert statements(result) == ["The user studied quantum entanglement at university."]
    assert leg(result, Leg.VECTOR) == Outcome.OK


DONE = ("The user baked rye bread with Ella.", "The user swam across the bay.")


def test_who_asks_of_a_day_alone_is_told_of_that_day_first(agent: Agent) -> None:
    long_ago, yesterday = NOW - timedelta(days=300), NOW - timedelta(days=1)
    song = "The user's favourite song of the Beatles is Yesterday."
    known(agent, song, *OTHERS, observed_at=long_ago)
    known(agent, *DONE, observed_at=yesterday)
    result = ask(agent, "What did I do yesterday?")
    assert set(statements(result)[:2]) == set(DONE)
    # Who asks of something else as well is told of it.
    other = statements(ask(agent, "Which song did I like yesterday?"))
    assert other[0] == song
    assert set(DONE) <= set(other)
