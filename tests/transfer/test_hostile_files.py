"""What is wrong with a file is named with its line, and nothing of the file is stored."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.models import Agent, OwnerSettings, User
from conversations.models import Conversation, Import
from memory.models import Entity, Fact, Tombstone
from memory.transfer import lists
from memory.transfer.reading import BadFile
from tests.factories import FactFactory
from tests.transfer.stores import Store, changed, joined, let_in, lines_of, written

pytestmark = pytest.mark.django_db
Lines = list[dict[str, Any]]


def first(lines: Lines, type: str, /, **values: Any) -> dict[str, Any]:
    return next(
        line
        for line in lines
        if line["type"] == type and all(line[name] == value for name, value in values.items())
    )


def set_of(type: str, /, **values: Any) -> Callable[[Lines], Any]:
    return lambda lines: first(lines, type).update(values)


def fact(state: str, /, **values: Any) -> Callable[[Lines], Any]:
    return lambda lines: first(lines, "fact", state=state).update(values)


def circle(lines: Lines) -> None:
    old = first(lines, "fact", archived_reason="superseded")
    head = first(lines, "fact", id=old["superseded_by"])
    head.update(state="archived", archived_from="active", archived_reason="superseded")
    head["superseded_by"] = old["id"]


def two_versions(lines: Lines) -> None:
    old = first(lines, "fact", archived_reason="superseded")
    old.update(state="active", archived_from="", archived_reason="", superseded_by=None)


def other_scope(lines: Lines) -> None:
    first(lines, "fact", archived_reason="superseded")["agent"] = None


def twice(type: str) -> Callable[[Lines], Any]:
    return lambda lines: lines.insert(1 + lines.index(first(lines, type)), first(lines, type))


def second_conversation(lines: Lines) -> None:
    lines.insert(lines.index(first(lines, "fact")), first(lines, "conversation"))


NOWHERE = "0190c0de-0000-7000-8000-000000000000"
FUTURE = "2999-01-01T00:00:00Z"

WRONG: dict[str, tuple[Callable[[Lines], Any], str]] = {
    "version": (set_of("header", version=2), "another version"),
    "format": (set_of("header", format="other"), "no header"),
    "unknown field": (set_of("settings", surprise=1), "a field that this format does not know"),
    "unknown type": (set_of("agent", type="row"), "no type of line"),
    "order": (lambda lines: lines.insert(1, lines[-2]), "can't stand here"),
    "second header": (lambda lines: lines.insert(1, lines[0]), "can't stand here"),
    "wrong type": (set_of("settings", chosen={"cap_global": [7]}), "chosen"),
    "bad setting": (set_of("settings", chosen={"time_zone": "Mars"}), "a setting that can't"),
    "second agent": (twice("agent"), "an agent a second time"),
    "second conversation": (second_conversation, "a conversation a second time"),
    "unknown agent": (set_of("conversation", agent="nobody"), "an agent that the file"),
    "message twice": (twice("message"), "repeats the id of a message"),
    "answer to nothing": (set_of("message", parent="nothing"), "a message that is not above"),
    "read too far": (set_of("conversation", cursor_seq=99), "further than its messages go"),
    "sent in the future": (set_of("message", sent_at=FUTURE), "sent_at"),
    "assistant is the owner": (
        lambda lines: first(lines, "message", role="assistant").update(from_owner=True),
        "message_owner_is_user",
    ),
    "fact twice": (twice("fact"), "a fact a second time"),
    "two live texts": (
        lambda lines: first(lines, "fact", state="pending").update(
            statement=first(lines, "fact", state="active", agent="main")["statement"].upper()
        ),
        "repeats the text",
    ),
    "no words": (fact("pending", statement=" "), "statement"),
    "too many words": (fact("pending", statement="x" * 501), "statement"),
    "state": (fact("pending", state="true"), "state"),
    "confidence": (fact("pending", confidence=1.5), "confidence"),
    "confirmed in the future": (fact("active", last_confirmed_at=FUTURE), "last_confirmed_at"),
    "points nowhere": (fact("pending", similar_to=NOWHERE), "a fact that the file does not"),
    "cites nothing": (
        lambda lines: first(lines, "fact", archived_reason="superseded")["evidence"][0].update(
            message="nothing"
        ),
        "a message that the file does not have",
    ),
    "unknown entity": (fact("pending", entities=[["place", "Atlantis"]]), "an entity that"),
    "circle": (circle, "a circle"),
    "two versions": (two_versions, "another version"),
    "other scope": (other_scope, "another scope"),
    "rejected by nobody": (
        fact("rejected", reviewed_by=None, reviewed_at=None), "fact_rejected_by_person",
    ),
    "active by nobody": (
        lambda lines: first(lines, "fact", state="active", kind="semantic").update(
            reviewed_by=None, reviewed_at=None
        ),
        "fact_active_was_reviewed",
    ),
    "pending but decided": (
        fact("pending", reviewed_by="owner", reviewed_at="2026-03-02T09:00:00Z"),
        "fact_pending_undecided",
    ),
    "archived for nothing": (fact("archived", archived_reason=""), "fact_\\w+_with_reason"),
    "tombstone": (set_of("tombstone", digest="no hash"), "digest"),
}  # fmt: skip


def nothing_came(owner: User) -> bool:
    return not any(
        model.objects.filter(owner=owner).exists()
        for model in (Agent, Fact, Conversation, Entity, Tombstone, Import)
    )


def test_each_wrong_line_is_named_and_nothing_is_stored(
    store: Store, stranger: User, file: Path
) -> None:
    text = written(store.owner)
    for name, (change, why) in WRONG.items():
        with pytest.raises(BadFile, match=why) as refusal:
            let_in(stranger, changed(text, change), file)
        assert 1 <= refusal.value.line <= text.count("\n") + 2, name
        assert "kept in alice" not in str(refusal.value), name
        assert nothing_came(stranger), name
    assert let_in(stranger, text, file).new["facts"] > 0


def test_a_file_that_was_cut_short_is_refused_at_its_end(
    store: Store, stranger: User, file: Path
) -> None:
    text = written(store.owner)
    for part, why in (
        (text[: len(text) // 2], "not JSON"),
        (text[: text.rindex("\n", 0, -1) + 1], "cut short"),
        (text.splitlines(keepends=True)[0], "cut short"),
        (text + "\n", "is empty"),
        (text.replace("\n", "\n\n", 1), "is empty"),
        (text.replace("I live in Turku", "\\ud800", 1), "not JSON|surrogate"),
        (text.replace("I live in Turku", "\\u0000", 1), "NUL"),
        ("\x00\xff\n", "no header"),
        ("[" * 100_000, "no header"),
        (text.replace('"lines":', '"lines":1'), "before its end"),
    ):
        with pytest.raises(BadFile, match=why):
            let_in(stranger, part, file)
    assert nothing_came(stranger)


def test_an_endless_line_is_not_read_into_memory(
    stranger: User, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.transfer.reading.LONGEST", 10_000)
    with pytest.raises(BadFile, match="longer than any line"):
        let_in(stranger, '{"format":"remembrancer-memories"' + " " * 20_000, file)


def test_an_id_that_another_owner_has_takes_nothing_from_them(
    store: Store, stranger: User, bob: User, file: Path
) -> None:
    his = FactFactory.create(owner=bob, statement="The user has a secret.")
    lines = lines_of(written(store.owner))
    mine = first(lines, "fact", state="pending")
    text = joined(lines).replace(mine["id"], str(his.pk))
    let_in(stranger, text, file)
    his.refresh_from_db()
    assert (his.owner, his.statement) == (bob, "The user has a secret.")
    assert Fact.objects.filter(owner=stranger, statement=mine["statement"]).exists()


def test_a_credential_is_never_stored(store: Store, stranger: User, file: Path) -> None:
    secret = "The user's key is AKIAIOSFODNN7EXAMPLE."
    text = changed(written(store.owner), fact("pending", statement=secret))
    result = let_in(stranger, text, file)
    assert result.left["hold a credential"] == 1
    assert not Fact.objects.filter(statement=secret).exists()


def test_a_list_that_is_none_is_refused(tmp_path: Path) -> None:
    for name, content, why in (
        ("x.json", b'{"results": "no"}', "no list of results"),
        ("x.json", b'{"results": [', "is not JSON"),
        ("x.txt", "- Käki".encode("latin-1"), "not UTF-8"),
        ("x.txt", b"- a\n- b\x00", "Line 2: holds a NUL"),
        ("x.txt", b"Hm", "does not tell the format"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(BadFile, match=why):
            lists.items_of(path, lists.format_of(path, name), Counter())


def test_the_gate_holds_for_imports(store: Store, stranger: User, file: Path) -> None:
    OwnerSettings.objects.filter(owner=stranger).update(memory_enabled=False)
    with pytest.raises(Exception, match="Memory is off"):
        let_in(stranger, written(store.owner), file)
    assert nothing_came(stranger)
    assert json.loads(written(stranger).splitlines()[1])["chosen"]["memory_enabled"] is False
