"""Whatever text comes in, the pure functions answer, and keep their promises."""

from datetime import UTC, datetime

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory.extraction.rules import observe
from memory.policy import WindowMessage, differs
from memory.sensitive import (
    addresses_assistant,
    contact_or_payment,
    credentials,
    directive,
    hidden_text,
    redact,
    show_hidden,
)
from memory.text import (
    contains_quote,
    detect_language,
    find_quotes,
    normalise,
    relative_date,
    text_hash,
    tombstone_digest,
    typed_spans,
    words,
)

PIECES = st.sampled_from([
    "I ", "my ", "password is ", "hunter2", "Bearer ", "```", '"', "“", "<memory>", "</memory>",
    "\n\n", "> ", "昨天", "في ", "👨\u200d👩", "\u202e", "\ufe0f", "٣", "1,250", ".", " last week ",
    "@x.org", "\ud800", "İ", "ﬃ",
])  # fmt: skip
TEXT = st.one_of(
    st.text(max_size=80),
    st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=20).map("".join),
)
few = settings(max_examples=150, deadline=None)


@few
@given(TEXT)
@example("\u0345\u0399")
def test_a_normal_form_is_stable(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert text_hash(text) == text_hash(once)
    assert tombstone_digest(text, b"k") == tombstone_digest(once, b"k")
    assert differs(text, text) is None
    assert all(words(text))


@few
@given(TEXT, TEXT, TEXT)
def test_what_was_cut_out_of_a_message_is_found_in_it(before: str, quote: str, after: str) -> None:
    message = before + quote + after
    if any(char.isalnum() for char in quote):
        assert contains_quote(message, quote)
    for start, end in find_quotes(message, quote):
        assert 0 <= start < end <= len(message)


@few
@given(TEXT)
def test_typed_spans_are_apart_and_in_order(text: str) -> None:
    position = 0
    for start, end in typed_spans(text):
        assert position <= start < end <= len(text)
        position = end


@few
@given(TEXT)
def test_secrets_are_gone_once_redacted(text: str) -> None:
    assert all(start < end for start, end in credentials(text))
    clean = redact(text)
    assert bool(credentials(text)) == (clean != text)
    assert credentials(clean) == []


@few
@given(TEXT)
def test_what_is_shown_hides_nothing(text: str) -> None:
    assert hidden_text(text) == (show_hidden(text) != text)
    assert not hidden_text(show_hidden(text))


@few
@given(TEXT)
def test_every_question_about_a_text_has_an_answer(text: str) -> None:
    detect_language(text), relative_date(text, "en"), relative_date(text, "xx")
    directive(text), addresses_assistant(text), contact_or_payment(text)
    said = WindowMessage(1, "user", True, text, datetime(2024, 2, 29, tzinfo=UTC))
    for candidate in observe([said]):
        assert contains_quote(text, candidate.sources[0].quote)
