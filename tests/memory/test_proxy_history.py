"""Where a client's copy of a conversation goes on from what is stored."""

import pytest

from memory.proxy.answers import Answer, Plain, Streamed, reader_for
from memory.proxy.history import Stored, continued, names, openings
from memory.proxy.wire import Turn
from tests.upstream_server import event, says, streams


def turns(texts: str) -> list[Turn]:
    """`u: a: u:` by turns: "hi|hello|ok" is what user, assistant and user said."""
    roles = ("user", "assistant")
    return [Turn(roles[n % 2], text) for n, text in enumerate(texts.split("|") if texts else ())]


def stored(texts: str) -> list[Stored]:
    return [Stored(f"m{n}", turn.role, turn.text) for n, turn in enumerate(turns(texts))]


@pytest.mark.parametrize(
    ("ours", "theirs", "fresh", "after"),
    [
        ("", "hi|hello", "hi hello", 0),
        ("hi|hello", "hi|hello|how|so", "how so", 2),
        ("hi|hello|how|so", "hi|hello|how|so", "", 4),  # sent again
        ("hi|hello", "hi|other", "other", 1),  # the only answer, written again
        ("hi|hello|how|so", "hi|hello|how|else", "else", 3),  # the last answer
        ("hi|hello|how|so|x|y", "hi|hello|why|then", "why then", 2),  # an edit
        ("hi|hello|how|so", "how|so|x|y", "x y", 4),  # only the end of the history
        ("hi|hello|how|so", "hi|hello there|how|so|x|y", "x y", 4),  # an old answer mended
        ("hi|hello|ok|fine", "hi|hello|ok|fine|ok|fine", "ok fine", 4),  # said twice
        ("hi|hello|ok|fine|x|y", "ok|other", "ok other", 6),  # no history at all
        ("hi|hello", "a|b|c|d", "c d", 2),  # a history that nobody saw
        ("", "a|b|c|d", "c d", 0),
        ("hi|[purged]|how|so", "hi|hello|how|so|x|y", "x y", 4),
        ("hi|hello|[purged]|so", "hi|hello|how|so|x|y", "x y", 4),
        ("hi|<think>hm</think> hello", "hi|hello|how", "how", 2),
    ],
)
def test_the_longest_run_of_turns_that_both_have_decides(
    ours: str, theirs: str, fresh: str, after: int
) -> None:
    found = continued(stored(ours), turns(theirs))
    assert (" ".join(turn.text for turn in found.fresh), found.after) == (fresh, after)


def test_an_answer_without_a_question_is_not_taken_up() -> None:
    assert continued([], [Turn("assistant", "Welcome!")]).fresh == ()


def test_names_are_the_same_each_time_and_differ_by_what_went_before() -> None:
    said = turns("ok|fine|ok")
    assert names("m1", "", said) == names("m1", "", said)
    assert len({*names("m1", "", said), *names("m2", "", said), *names("m1", "m2", said)}) == 9


def test_a_conversation_without_a_name_is_known_by_how_it_begins() -> None:
    assert openings(turns("hi"), "key") == ()
    begun = openings(turns("hi|hello"), "key")
    assert openings(turns("hi|hello|how"), "key")[:1] == begun
    assert openings([Turn("user", "hi "), Turn("assistant", "hello")], "key") == begun
    others = {begun, openings(turns("hi|hello"), "other"), openings(turns("hi|oh"), "key")}
    assert len(others) == 3
    assert openings(turns("hi|hello|how"), "key")[1] != openings(turns("hi|hello|why"), "key")[1]


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_stream_is_read_wherever_it_is_cut(size: int) -> None:
    whole = b"".join(streams("Hé", "llo \U0001f600").pieces)
    reader = Streamed()
    for start in range(0, len(whole), size):
        reader.feed(whole[start : start + size])
    assert reader.answer() == Answer(whole=True, text="Héllo \U0001f600")


DONE = b"data: [DONE]\n\n"


@pytest.mark.parametrize(
    ("pieces", "answer"),
    [
        ([], Answer(whole=False)),
        ([DONE], Answer(whole=False)),
        (streams("Half", end=False).pieces, Answer(whole=False)),
        ([event({"content": "All"}), DONE], Answer(whole=True, text="All")),
        ([event({"content": "All"}, "stop")], Answer(whole=True, text="All")),
        ([event({"content": "a"}), b'data: {"error": {}}\n\n', DONE], Answer(whole=False)),
        ([event({"content": "a"}), b"data: {nonsense\n\n", DONE], Answer(whole=False)),
        ([event({"content": "a"}), event({"content": "b"}, index=1), DONE], Answer(whole=True)),
        ([event({"tool_calls": []}, "tool_calls"), DONE], Answer(whole=True)),
    ],
)
def test_only_what_came_to_its_end_counts(pieces: list[bytes], answer: Answer) -> None:
    reader = Streamed()
    for piece in pieces:
        reader.feed(piece)
    assert reader.answer() == answer


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        (says("Hello.").pieces[0], Answer(whole=True, text="Hello.")),
        (says("One.", "Two.").pieces[0], Answer(whole=True)),
        (says("Hello.").pieces[0][:-9], Answer(whole=False)),
        (b'{"choices": [{"message": 7}]}', Answer(whole=True)),
        (b'{"choices": [7]}', Answer(whole=False)),
        (b"[]", Answer(whole=False)),
        (
            b'{"choices": [{"message": {"content": "a\\u0000\\ud800"}}]}',
            Answer(True, "a\ufffd\ufffd"),
        ),
    ],
)
def test_a_plain_answer_is_read(body: bytes, answer: Answer) -> None:
    reader = Plain()
    reader.feed(body)
    assert reader.answer() == answer


def test_what_is_compressed_is_not_read() -> None:
    reader = reader_for("application/json", "gzip")
    reader.feed(says("Hello.").pieces[0])
    assert reader.answer() == Answer(whole=False)
