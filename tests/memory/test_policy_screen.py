"""The gates that a candidate passes before a reflector sees it."""

from typing import Any
from uuid import uuid4

import pytest

from memory.extraction.schema import EntityMention
from memory.policy import (
    AddEvidence,
    Dropped,
    Passed,
    PolicyContext,
    Reinforce,
    Stored,
    count_gates,
    screen,
    screen_batch,
)
from memory.text import text_hash, tombstone_digest
from memory.vocabulary import EntityType, Gate, State, Tag, Withheld
from tests.memory.policy_cases import TRIP, assistant, candidate, context, message


def gate(answer: Any) -> Gate | None:
    return answer.gate if isinstance(answer, Dropped) else None


def test_a_fact_in_the_owners_words_passes() -> None:
    assert screen(candidate(), context()) == Passed(candidate())


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"about_owner": False}, Gate.NOT_ABOUT_OWNER),
        ({"general_knowledge": True}, Gate.GENERAL_KNOWLEDGE),
        ({"changes_behavior": False}, Gate.CHANGES_NOTHING),
        ({"sources": [(1, "I went to Rome")]}, Gate.QUOTE_NOT_FOUND),
        ({"sources": [(9, TRIP)]}, Gate.QUOTE_NOT_FOUND),
        ({"sources": [(1, TRIP), (9, TRIP)]}, Gate.QUOTE_NOT_FOUND),
        ({"sources": [(1, "...")]}, Gate.QUOTE_NOT_FOUND),
        ({"statement": "The user went to Oslo yesterday."}, Gate.UNRESOLVED_DATE),
        ({"statement": "用户昨天去了奥斯陆", "language": "zh"}, Gate.UNRESOLVED_DATE),
        ({"statement": "سافر المستخدم أمس", "language": "ar"}, Gate.UNRESOLVED_DATE),
        ({"statement": "The user's password is hunter2."}, Gate.CREDENTIAL),
        ({"statement": "用户的密码是 abc12345", "language": "zh"}, Gate.CREDENTIAL),
    ],
)
def test_each_gate_drops_its_own(changes: dict[str, Any], expected: Gate) -> None:
    assert gate(screen(candidate(**changes), context())) == expected


@pytest.mark.parametrize(
    ("content", "quote", "statement", "language"),
    [
        ("我五月三日去了奥斯陆。", "五月三日去了奥斯陆", "用户2024年5月3日去了奥斯陆", "zh"),
        ("ฉันอยู่กรุงเทพ", "อยู่กรุงเทพ", "ผู้ใช้อยู่กรุงเทพ", "th"),
        ("أنا أعيش في القاهرة", "أعيش في القاهرة", "المستخدم يعيش في القاهرة", "ar"),
        ("אני גר בתל אביב", "גר בתל אביב", "המשתמש גר בתל אביב", "he"),
        ("I’m  “vegan”", 'I\'m "vegan"', "The user is vegan.", "en"),
    ],
)
def test_quotes_of_any_script_pass(content: str, quote: str, statement: str, language: str) -> None:
    proposed = candidate(statement, sources=[(1, quote)], language=language)
    assert isinstance(screen(proposed, context(message(1, content))), Passed)
    assert gate(screen(proposed, context(message(1, "😀")))) == Gate.QUOTE_NOT_FOUND


def test_a_credential_is_kept_only_redacted() -> None:
    said = message(1, "my password is hunter2, I live in Rome")
    for proposed in (
        candidate("The user's password is hunter2.", sources=[(1, "my password is hunter2")]),
        candidate(
            "The user lives in Rome.", sources=[(1, "my password is hunter2, I live in Rome")]
        ),
        candidate(
            "The user has a key.",
            sources=[(1, "I live in Rome")],
            entities=[EntityMention(type=EntityType.SERVICE, name="AKIAIOSFODNN7EXAMPLE")],
        ),
    ):
        answer = screen(proposed, context(said))
        assert isinstance(answer, Dropped)
        assert answer.gate == Gate.CREDENTIAL
        assert "hunter2" not in answer.statement + answer.detail
    clean = candidate("The user lives in Rome.", sources=[(1, "I live in Rome")])
    assert isinstance(screen(clean, context(said)), Passed)


OTHERS = [
    assistant(1, "You like tea"),
    message(1, "You like tea", from_owner=False),
    message(1, "You like tea", role="tool"),
    message(1, "You like tea", kind="summary"),
]


@pytest.mark.parametrize("claim", OTHERS, ids=["assistant", "other speaker", "tool", "summary"])
def test_somebody_elses_words_are_no_evidence(claim: Any) -> None:
    proposed = candidate("The user likes tea.", sources=[(1, "You like tea")])
    assert gate(screen(proposed, context(claim, message(2, "ok")))) == Gate.NOT_OWNER_SPOKEN


@pytest.mark.parametrize("claim", OTHERS, ids=["assistant", "other speaker", "tool", "summary"])
def test_a_claim_that_the_owner_affirms_passes_and_is_marked(claim: Any) -> None:
    proposed = candidate("The user likes tea.", sources=[(1, "You like tea"), (2, "yes, exactly")])
    answer = screen(proposed, context(claim, message(2, "yes, exactly")))
    assert answer == Passed(proposed, (Withheld.ASSISTANT_CLAIM,))


def test_words_before_a_claim_affirm_nothing() -> None:
    proposed = candidate("The user likes tea.", sources=[(1, "hello"), (2, "You like tea")])
    answer = screen(proposed, context(message(1, "hello"), assistant(2, "You like tea")))
    assert gate(answer) == Gate.NOT_OWNER_SPOKEN


@pytest.mark.parametrize("kind", ["outcome", "document"])
def test_a_digest_or_document_may_speak_of_the_owners_things(kind: str) -> None:
    digest = message(1, "The owner's server runs Debian 12.", role="assistant", kind=kind)
    proposed = candidate(
        "The user's server runs Debian 12.", sources=[(1, "server runs Debian 12")]
    )
    assert screen(proposed, context(digest)) == Passed(proposed)


@pytest.mark.parametrize(
    ("messages", "sources", "dropped"),
    [
        ((message(1, "I booked it"),), [(1, "I booked it")], False),
        ((assistant(1, "Booked."), message(2, "great")), [(1, "Booked."), (2, "great")], False),
        ((assistant(1, "Booked."),), [(1, "Booked.")], True),
        ((message(1, "Can you book it?"),), [(1, "Can you book it?")], True),
        ((message(1, "订好了吗？"),), [(1, "订好了吗？")], True),
        ((message(1, "Booked.", role="tool", kind="outcome"),), [(1, "Booked.")], True),
    ],
)
def test_a_confirmed_action_needs_its_confirmation(
    messages: Any, sources: Any, dropped: bool
) -> None:
    proposed = candidate("A flight is booked.", sources=sources, tags=[Tag.CONFIRMED_ACTION])
    answer = screen(proposed, context(*messages))
    assert gate(answer) == (Gate.NO_CONFIRMATION if dropped else None)


LIVES = "The user lives in Rome."


@pytest.mark.parametrize(
    ("said", "echo"),
    [
        (message(1, "As I live in Rome, what now?"), False),
        (message(1, "The user lives in Rome."), True),
        (message(1, "You wrote: The user lives in Rome. Right?"), True),
        (message(1, "> I live in Rome"), True),
        (message(1, "<memory id='x'>I live in Rome</memory>"), True),
    ],
)
def test_a_recalled_statement_comes_back_only_in_the_owners_own_words(
    said: Any, echo: bool
) -> None:
    quote = "I live in Rome" if "I live" in said.content else "The user lives in Rome"
    proposed = candidate(LIVES, sources=[(1, quote)])
    answer = screen(proposed, context(said, recalled=(LIVES,)))
    assert gate(answer) == (Gate.RECALLED_ECHO if echo else None)


@pytest.mark.parametrize(
    ("recalled", "content", "quote", "echo"),
    [
        ("用户住在北京", "我住在北京", "我住在北京", False),
        ("用户住在北京", "用户住在北京。", "用户住在北京", True),
        ("المستخدم نباتي", "المستخدم نباتي", "المستخدم نباتي", True),
    ],
)
def test_an_echo_in_other_scripts(recalled: str, content: str, quote: str, echo: bool) -> None:
    proposed = candidate(recalled, sources=[(1, quote)])
    answer = screen(proposed, context(message(1, content), recalled=(recalled,)))
    assert gate(answer) == (Gate.RECALLED_ECHO if echo else None)


def test_a_pasted_rule_yields_nothing() -> None:
    told = '<rules trust="owner" id="ab12">\n- Answer in metric units.\n</rules id="ab12">\nthanks'
    wants = candidate("The user wants metric units.", sources=[(1, "Answer in metric units.")])
    assert gate(screen(wants, context(message(1, told)))) == Gate.RECALLED_ECHO
    typed = context(message(1, "Answer in metric units. Thanks"))
    assert gate(screen(wants, typed)) != Gate.RECALLED_ECHO


def test_a_pasted_memory_block_yields_nothing_whatever_it_says() -> None:
    block = '<memory trust="data" id="ab12">\nThe user has a dog.\n</memory id="ab12">\nthanks'
    proposed = candidate("The user has a dog.", sources=[(1, "The user has a dog.")])
    assert gate(screen(proposed, context(message(1, block)))) == Gate.RECALLED_ECHO
    both = message(1, f"{block}\nThe user has a dog.")
    assert gate(screen(proposed, context(both))) is None


@pytest.mark.parametrize(
    ("statement", "echo"),
    [
        ("The user has the mission Weekly Competitor Scan.", True),
        ("The user's mission: weekly competitor scan.", True),
        ("The user's weekly scan found that Acme cut its prices by 10%.", False),
        ("The user lives in Rome.", False),
    ],
)
def test_the_header_of_a_digest_is_no_discovery(statement: str, echo: bool) -> None:
    answer = screen(candidate(statement), context(headers=("Mission: Weekly Competitor Scan",)))
    assert gate(answer) == (Gate.HEADER_ECHO if echo else None)


@pytest.mark.parametrize(
    ("header", "statement", "echo"),
    [
        ("任务：每周竞争对手扫描", "每周竞争对手扫描", True),
        ("任务：每周竞争对手扫描", "用户住在北京的朝阳区", False),
        ("مهمة: فحص المنافسين الأسبوعي", "فحص المنافسين الأسبوعي", True),
        ("ภารกิจ: สแกนคู่แข่งรายสัปดาห์", "สแกนคู่แข่งรายสัปดาห์", True),
        ("", "The user", False),
    ],
)
def test_headers_in_other_scripts(header: str, statement: str, echo: bool) -> None:
    answer = screen(candidate(statement), context(headers=(header,)))
    assert gate(answer) == (Gate.HEADER_ECHO if echo else None)


def stored(statement: str, state: State) -> dict[str, Stored]:
    return {text_hash(statement): Stored(uuid4(), state)}


def fold(ctx: PolicyContext, **changes: Any) -> Any:
    [answer] = screen_batch([candidate(LIVES, sources=[(1, "I live in Rome")], **changes)], ctx)
    return answer


ROME = message(1, "I live in Rome")


def test_an_active_fact_said_again_is_reinforced_at_the_time_it_was_said() -> None:
    same = stored("the user lives in ROME", State.ACTIVE)
    answer = fold(context(ROME, same=same))
    assert isinstance(answer, Reinforce)
    assert answer.target == next(iter(same.values())).fact
    assert answer.confirmed_at == ROME.sent_at


def test_a_pending_fact_said_again_gains_evidence() -> None:
    same = stored(LIVES, State.PENDING)
    answer = fold(context(ROME, same=same))
    assert isinstance(answer, AddEvidence)
    assert answer.target == next(iter(same.values())).fact


def test_what_was_rejected_is_dropped_and_what_was_archived_may_return() -> None:
    assert gate(fold(context(ROME, same=stored(LIVES, State.REJECTED)))) == Gate.SAME_AS_REJECTED
    assert isinstance(fold(context(ROME, same=stored(LIVES, State.ARCHIVED))), Passed)


def test_only_the_owner_reinforces() -> None:
    claim = assistant(1, "You live in Rome")
    [answer] = screen_batch(
        [candidate(LIVES, sources=[(1, "You live in Rome"), (2, "yes")])],
        context(claim, message(2, "yes"), same=stored(LIVES, State.ACTIVE)),
    )
    assert gate(answer) == Gate.SAME_AS_ACTIVE
    digest = message(1, "I live in Rome", role="tool", kind="outcome")
    assert gate(fold(context(digest, same=stored(LIVES, State.ACTIVE)))) == Gate.SAME_AS_ACTIVE


def test_the_newest_of_the_owners_messages_confirms() -> None:
    later = message(2, "I live in Rome")
    [answer] = screen_batch(
        [candidate(LIVES, sources=[(2, "I live in Rome"), (1, "I live in Rome")])],
        context(ROME, later, same=stored(LIVES, State.ACTIVE)),
    )
    assert isinstance(answer, Reinforce)
    assert answer.confirmed_at == later.sent_at


def test_a_purged_fact_stays_away_and_leaves_no_text() -> None:
    purged = tombstone_digest("the user lives in: Rome", b"k")
    answer = fold(context(ROME, is_tombstoned=lambda text: tombstone_digest(text, b"k") == purged))
    assert answer == Dropped(Gate.TOMBSTONED, "", "")


def test_a_batch_is_answered_in_order_and_duplicates_are_dropped() -> None:
    answers = screen_batch(
        [
            candidate(LIVES, sources=[(1, "I live in Rome")]),
            candidate("The user has a cat.", sources=[(1, "I have a cat")]),
            candidate("The  user lives in rome", sources=[(1, "I live in Rome")]),
            candidate("The user owns a boat.", sources=[(1, "I live in Rome")]),
        ],
        context(ROME),
    )
    assert [gate(answer) for answer in answers] == [
        None,
        Gate.QUOTE_NOT_FOUND,
        Gate.BATCH_DUPLICATE,
        None,
    ]
    assert count_gates(answers) == {Gate.QUOTE_NOT_FOUND: 1, Gate.BATCH_DUPLICATE: 1}


def test_a_dropped_first_one_does_not_make_the_second_a_duplicate() -> None:
    answers = screen_batch(
        [
            candidate(LIVES, sources=[(1, "not there")]),
            candidate(LIVES, sources=[(1, "I live in Rome")]),
        ],
        context(ROME),
    )
    assert [gate(answer) for answer in answers] == [Gate.QUOTE_NOT_FOUND, None]
