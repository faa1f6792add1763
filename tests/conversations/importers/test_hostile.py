"""Broken and hostile files: one line says what and where, the sound part comes in."""

import json
import random
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.models import User
from conversations.importers import scan
from conversations.importers.base import ParsedConversation, Report, format_of, formats
from conversations.importers.files import TextFile
from conversations.importers.mending import ready
from conversations.models import Message
from tests.conversations.conftest import message
from tests.conversations.importers.conftest import Bring

Write = Callable[..., Path]

TALK = {
    "uuid": "c1",
    "name": "Café",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "Ich wohne in Köln.", "created_at": "2026-01-02"}
    ],
}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("encoding", "noted"),
    [
        ("utf-8", False),
        ("utf-8-sig", False),
        ("utf-16", False),
        ("utf-16-le", False),
        ("utf-16-be", False),
        ("utf-32", False),
        ("latin-1", True),
        ("cp1252", True),
    ],
)
def test_encodings(
    tmp_path: Path, bring_in: Bring, alice: User, encoding: str, noted: bool
) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(json.dumps([TALK], ensure_ascii=False).encode(encoding))
    told = bring_in(path)
    assert told.code == 0
    assert Message.objects.get().content == "Ich wohne in Köln."
    assert ("taken for Windows' Western alphabet: 2." in told.out) == noted


@pytest.mark.django_db
def test_every_truncation_gives_one_line_or_the_whole(
    write: Write, bring_in: Bring, alice: User
) -> None:
    whole = json.dumps([TALK, TALK | {"uuid": "c2"}])
    for cut in (len(whole) - 1, len(whole) - 10, len(whole) // 2 + 10):
        told = bring_in(write(whole[:cut], name="conversations.json"))
        assert told.code == 3
        assert len(told.err.splitlines()) == 1
        assert "conversations.json: " in told.err
        assert Message.objects.filter(conversation__external_id="c1").count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    "time", ["1969-12-31T23:59:59Z", "2999-01-01T00:00:00Z", "0001-01-01T00:00:00", "9999-12-31"]
)
def test_times_before_1970_and_in_the_future_are_none(
    write: Write, bring_in: Bring, alice: User, time: str
) -> None:
    odd = {"uuid": "m2", "sender": "human", "text": "When?", "created_at": time}
    talk = TALK | {"created_at": time, "chat_messages": [*TALK["chat_messages"], odd]}
    told = bring_in(write([talk]))
    assert "Adjusted: impossible times dropped: 1." in told.out
    assert {m.sent_at.year for m in Message.objects.all()} == {2026}


@pytest.mark.django_db
def test_a_conversation_that_began_in_the_future_began_at_no_time(
    write: Write, bring_in: Bring, alice: User
) -> None:
    odd = {"uuid": "m1", "sender": "human", "text": "When?"}
    told = bring_in(write([TALK | {"created_at": "2999-01-01", "chat_messages": [odd]}]))
    assert "messages given the time of the import, as the file has none: 1." in told.out


@pytest.mark.django_db
def test_what_is_too_large_for_memory_is_passed_over(
    write: Write, bring_in: Bring, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "LIMIT", 2 << 20)
    huge = TALK | {"uuid": "c2", "name": "x" * (3 << 20)}
    told = bring_in(write([TALK, huge, TALK | {"uuid": "c3"}], name="conversations.json"))
    assert told.code == 3
    assert "conversations.json, item 2 (line 1): is larger than 2 MB" in told.err
    assert Message.objects.count() == 2


@pytest.mark.django_db
def test_a_huge_line_is_passed_over(
    write: Write, bring_in: Bring, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    from conversations.importers import files

    monkeypatch.setattr(files, "LIMIT", 2 << 20)
    lines = [
        {"id": "c1", "messages": [message(1)]},
        {"id": "c2", "messages": [message(1)], "title": "x" * (3 << 20)},
        {"id": "c3", "messages": [message(1)]},
    ]
    told = bring_in(write(*lines))
    assert told.code == 3
    assert "talks.jsonl, line 2: is larger than" in told.err
    assert Message.objects.count() == 2


def test_many_broken_lines_are_counted_not_kept() -> None:
    report = Report()
    for number in range(5000):
        report.broken.append(f"line {number}")
    assert (len(report.broken), len(report.broken.lines)) == (5000, 1000)


def _large_chat(path: Path, size: int) -> None:
    entry = {"type": "message", "from": "Ann", "from_id": "user1", "text": "Hello. " * 100}
    with path.open("w") as file:
        file.write('{"name": "Ann", "type": "private_group", "id": 1, "messages": [')
        for number in range(size // 800):
            joint = "," if number else ""
            file.write(joint + json.dumps(entry | {"id": number, "date_unixtime": "1767323045"}))
        file.write("]}")


def _large_list(path: Path, size: int) -> None:
    with path.open("w") as file:
        file.write("[")
        for number in range(size // 5000):
            said = [{"uuid": "m", "sender": "human", "text": "Hello. " * 700}]
            joint = "," if number else ""
            file.write(joint + json.dumps({"uuid": str(number), "chat_messages": said}))
        file.write("]")


@pytest.mark.parametrize("make", [_large_chat, _large_list])
def test_a_large_file_is_read_in_pieces(tmp_path: Path, make: Callable[[Path, int], None]) -> None:
    path = tmp_path / "large.json"
    make(path, 24 << 20)
    file = TextFile(path)
    format = format_of(file)
    tracemalloc.start()
    count = sum(len(conversation.messages) for conversation in format.parse(file, Report()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count > 3000
    assert peak < 10 << 20


def _changed(value: Any, chance: random.Random) -> Any:
    """The same with some of its values replaced by ones of another type."""
    if chance.random() < 0.06:
        return chance.choice([None, True, -1, 10**30, 1e308, "", "x\x00", [], {}, [[]], [{"a": 1}]])
    if isinstance(value, dict):
        return {key: _changed(one, chance) for key, one in value.items() if chance.random() > 0.04}
    if isinstance(value, list):
        changed = [_changed(one, chance) for one in value]
        return changed + changed[:1] if chance.random() < 0.1 else changed
    return value


def _samples(folder: Path) -> Iterator[tuple[str, list[Any]]]:
    for path in sorted(folder.rglob("*.json*")):
        text = path.read_text()
        lines = path.suffix == ".jsonl"
        values = [json.loads(line) for line in text.splitlines()] if lines else [json.loads(text)]
        if len(text) < 100_000:
            yield format_of(TextFile(path)).name, values


def _parsed(name: str, path: Path) -> list[ParsedConversation]:
    report = Report()
    found = [ready(one, report) for one in formats()[name].parse(TextFile(path), report)]
    assert all("\n" not in line for line in report.broken)
    return found


def test_no_shape_of_data_stops_an_importer(sample_data: Path, tmp_path: Path) -> None:
    chance = random.Random(7)
    path = tmp_path / "changed"
    kept = 0
    for name, values in _samples(sample_data / "exports"):
        for _ in range(60):
            lines = [json.dumps(_changed(value, chance)) for value in values]
            path.write_text("\n".join(lines))
            for conversation in _parsed(name, path):
                seen: set[str] = set()
                for one in conversation.messages:
                    assert one.parent is None or one.parent in seen
                    assert one.sent_at is not None
                    assert one.content.strip()
                    seen.add(one.client_id)
                kept += len(seen)
    assert kept > 1000


@pytest.mark.django_db
def test_ids_that_come_twice(write: Write, bring_in: Bring, alice: User) -> None:
    first, second = (
        {"uuid": "m1", "sender": "human", "text": text, "created_at": "2026-01-02"}
        for text in ("Mine", "Another's")
    )
    third = first | {"uuid": "m2", "text": "Later"}
    talks = [TALK | {"chat_messages": [first, second]}, TALK | {"chat_messages": [first, third]}]
    told = bring_in(write(talks))
    assert told.code == 0
    assert "Left out: messages whose id comes twice: 1." in told.out
    assert "Conversations: 1 new, 0 continued, 0 unchanged. Messages known already: 1." in told.out
    assert [m.content for m in Message.objects.order_by("seq")] == ["Mine", "Later"]


def _open_webui(*pairs: tuple[str, str | None]) -> dict[str, Any]:
    nodes = {
        name: {"parentId": parent, "childrenIds": [name], "role": "user", "content": name}
        for name, parent in pairs
    }
    return {"id": "c1", "chat": {"history": {"messages": nodes, "currentId": "x"}}}


def _librechat(*pairs: tuple[str, str | None]) -> dict[str, Any]:
    said = [
        {"messageId": name, "parentMessageId": parent, "isCreatedByUser": True, "text": name}
        for name, parent in pairs
    ]
    return {"conversationId": "c1", "messages": said}


@pytest.mark.django_db
@pytest.mark.parametrize("make", [_open_webui, _librechat])
def test_circles_in_a_tree_are_left_out(
    write: Write, bring_in: Bring, alice: User, make: Callable[..., dict[str, Any]]
) -> None:
    told = bring_in(write(make(("a", None), ("b", "a"), ("x", "y"), ("y", "x"), ("z", "z"))))
    assert told.code == 0
    assert "Left out: messages that hang on nothing: 3." in told.out
    assert [m.content for m in Message.objects.order_by("seq")] == ["a", "b"]
