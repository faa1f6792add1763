"""ChatGPT exports, the four samples and the ways in which real ones are odd."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from agents.audit import acting, person
from agents.models import OwnerSettings, User
from conversations.importers.base import Report
from conversations.importers.chatgpt import FORMAT
from conversations.importers.files import TextFile
from conversations.models import Conversation, Import, Message, Passage
from tests.conversations.importers.conftest import Bring

pytestmark = pytest.mark.django_db

Write = Callable[..., Path]


def node(
    name: str,
    parent: str | None,
    text: Any = "Hello.",
    *,
    role: str = "user",
    time: Any = 1_700_000_000,
    **message: Any,
) -> dict[str, Any]:
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    return {
        "id": name,
        "parent": parent,
        "children": [],
        "message": {
            "author": {"role": role},
            "create_time": time,
            "content": content,
            "recipient": "all",
            "metadata": {},
        }
        | message,
    }


def export(*nodes: dict[str, Any], current: str | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "conversation_id": "c1",
        "title": "A talk",
        "create_time": 1_690_000_000.5,
        "mapping": {one["id"]: one for one in nodes},
        "current_node": current or nodes[-1]["id"],
    } | fields


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("gpt_example.json", (1, 11, 0)),
        ("librechat-chatgpt-export.json", (2, 19, 0)),
        ("native-conversation-v1.json", (1, 6, 1)),
        ("parser-example-conversation.json", (1, 5, 1)),
    ],
)
def test_the_samples_come_in_whole_and_only_once(
    sample_data: Path, bring_in: Bring, alice: User, file: str, expected: tuple[int, int, int]
) -> None:
    path = sample_data / "exports" / "chatgpt" / file
    told = bring_in(path)
    assert told.code == 0, told
    off_branch = Message.objects.filter(on_branch=False).count()
    assert (Conversation.objects.count(), Message.objects.count(), off_branch) == expected
    assert not Passage.objects.filter(message__on_branch=False).exists()
    assert Message.objects.filter(from_owner=True).exists()
    before = list(Message.objects.values_list("pk", "on_branch").order_by("pk"))

    again = bring_in(path)
    assert (again.code, ": 0 messages." in again.out) == (0, True)
    assert list(Message.objects.values_list("pk", "on_branch").order_by("pk")) == before


def test_the_sample_with_a_fork_follows_the_current_branch(
    sample_data: Path, bring_in: Bring, alice: User
) -> None:
    bring_in(sample_data / "exports" / "chatgpt" / "native-conversation-v1.json")
    conversation = Conversation.objects.get()
    assert conversation.title == "Privacy-safe ChatGPT native fixture"
    said = [
        (m.role, m.from_owner, m.on_branch, m.content.splitlines()[0])
        for m in conversation.messages.order_by("seq")
    ]
    assert said[:5] == [
        ("system", False, True, "Privacy-safe fixture profile."),
        ("user", True, True, "Analyze the attached fixture and create an artifact."),
        ("assistant", False, False, "Superseded answer."),
        ("tool", False, True, '{"query":"fixture evidence"}'),
        ("tool", False, True, "Privacy-safe tool result."),
    ]
    user = conversation.messages.get(client_id="user")
    assert user.content.endswith("\n[image]")
    assert user.sent_at == datetime(2026, 7, 16, 1, 15, 40, tzinfo=UTC)
    assert user.parent == conversation.messages.get(client_id="context")
    tool = conversation.messages.get(client_id="tool-call")
    assert tool.speaker == "to browser.search"
    # The reasoning in between was left out, so the answer hangs on what came before it.
    assert tool.parent == user


def test_imported_conversations_are_idle_at_once(
    write: Write, bring_in: Bring, alice: User
) -> None:
    bring_in(write(export(node("a", None), node("b", "a", time=1_700_000_100))))
    conversation = Conversation.objects.get()
    assert conversation.last_activity_at == conversation.last_message_at
    assert conversation.last_message_at == datetime.fromtimestamp(1_700_000_100, UTC)
    assert conversation.cursor_seq == 0
    assert conversation.imported_by == Import.objects.get()


def test_times_are_on_the_owners_clock(write: Write, bring_in: Bring, alice: User) -> None:
    with acting(person(alice)):
        OwnerSettings.objects.filter(owner=alice).update(time_zone="Asia/Kolkata")
    bring_in(write(export(node("a", None))))
    assert Message.objects.get().zone == "Asia/Kolkata"


def test_a_newer_export_adds_messages_and_moves_the_branch(
    write: Write, bring_in: Bring, alice: User
) -> None:
    first, answer = node("a", None), node("b", "a", "Old answer", role="assistant")
    bring_in(write(export(first, answer)))
    other = node("c", "a", "New answer", role="assistant")
    told = bring_in(write(export(first, answer, other, node("d", "c"), current="d")))
    assert "Conversations: 0 new, 1 continued" in told.out
    rows = Message.objects.order_by("seq").values_list("client_id", "on_branch")
    assert list(rows) == [("a", True), ("b", False), ("c", True), ("d", True)]
    # And back again, by a third export.
    bring_in(write(export(first, answer, other, node("d", "c"), current="b")))
    rows = Message.objects.order_by("seq").values_list("client_id", "on_branch")
    assert list(rows) == [("a", True), ("b", True), ("c", False), ("d", False)]


def test_facts_of_a_branch_that_a_newer_export_left_wait_again(
    write: Write, bring_in: Bring, alice: User
) -> None:
    from memory.vocabulary import State
    from tests.factories import FactFactory

    first, left = node("a", None), node("b", "a", "I live in Oslo.")
    bring_in(write(export(first, left)))
    fact = FactFactory.create(
        owner=alice, state=State.ACTIVE, message=Message.objects.get(client_id="b")
    )
    bring_in(write(export(first, left, node("c", "a", "I live in Rome."))))
    fact.refresh_from_db()
    assert fact.state == State.PENDING


def test_a_branch_that_a_newer_export_goes_back_to_is_read_then(
    write: Write, bring_in: Bring, alice: User
) -> None:
    from memory.models import Fact

    def read() -> list[str]:
        call_command("backfill", owner=alice.username, no_vectors=True)
        return sorted(Fact.objects.filter(owner=alice).values_list("statement", flat=True))

    talk = [node("a", None), node("b", "a", "I live in Oslo."), node("c", "a", "I live in Rome.")]
    bring_in(write(export(*talk, current="c")))
    assert read() == ["The user lives in Rome."]
    bring_in(write(export(*talk, current="b")))
    assert read() == ["The user lives in Oslo.", "The user lives in Rome."]
    # Read once more, it adds nothing.
    bring_in(write(export(*talk, current="c")))
    assert len(read()) == 2


def test_what_chatgpt_must_not_remember_is_read_only(
    write: Write, bring_in: Bring, alice: User
) -> None:
    bring_in(write(export(node("a", None), is_do_not_remember=True)))
    assert Conversation.objects.get().read_only is True


def test_a_conversation_that_must_be_forgotten_since_gets_nothing_more(
    write: Write, bring_in: Bring, alice: User
) -> None:
    bring_in(write(export(node("a", None))))
    later = export(node("a", None), node("b", "a", "Secret"), is_do_not_remember=True)
    told = bring_in(write(later))
    assert told.code == 3
    assert "read_only is false; that was fixed when it began" in told.err
    assert not Message.objects.filter(content="Secret").exists()


def test_null_times_are_inherited_and_never_now(write: Write, bring_in: Bring, alice: User) -> None:
    told = bring_in(
        write(
            export(
                node("a", None, time=None),
                node("b", "a", time=1_700_000_000),
                node("c", "b", time=None),
                node("d", "c", time=1_700_000_500),
            )
        )
    )
    assert "messages without a time given their neighbour's: 2." in told.out
    times = [int(m.sent_at.timestamp()) for m in Message.objects.order_by("seq")]
    assert times == [1_700_000_000, 1_700_000_000, 1_700_000_000, 1_700_000_500]


def test_without_any_time_the_conversations_own_counts(
    write: Write, bring_in: Bring, alice: User
) -> None:
    bring_in(write(export(node("a", None, time=None))))
    assert Message.objects.get().sent_at == datetime.fromtimestamp(1_690_000_000.5, UTC)


def test_where_nothing_tells_the_time_it_says_so(
    write: Write, bring_in: Bring, alice: User
) -> None:
    before = datetime.now(UTC)
    told = bring_in(write(export(node("a", None, time=None), create_time=None)))
    assert Message.objects.get().sent_at >= before
    assert "messages given the time of the import, as the file has none: 1." in told.out


@pytest.mark.parametrize("time", ["x", True, float("nan"), 1e300, -1e300, {}, 9_999_999_999, -5])
def test_absurd_times_count_as_none(write: Write, bring_in: Bring, alice: User, time: Any) -> None:
    told = bring_in(write(export(node("a", None), node("b", "a", time=time))))
    assert told.code == 0
    assert {int(m.sent_at.timestamp()) for m in Message.objects.all()} == {1_700_000_000}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"content_type": "text", "parts": ["One", "Two"]}, "One\nTwo"),
        ({"content_type": "text", "parts": ["", None, 7, "Text"]}, "Text"),
        (
            {
                "content_type": "multimodal_text",
                "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "x"}, "See?"],
            },
            "[image]\nSee?",
        ),
        (
            {
                "content_type": "multimodal_text",
                "parts": [
                    {"content_type": "audio_transcription", "text": "I said this."},
                    {"content_type": "audio_asset_pointer"},
                    {"content_type": "real_time_user_audio_video_asset_pointer"},
                    {"content_type": "new_thing"},
                ],
            },
            "I said this.\n[audio]\n[video]\n[file]",
        ),
        ({"content_type": "code", "text": "print(1)"}, "print(1)"),
        ({"content_type": "tether_browsing_display", "result": "A page"}, "A page"),
    ],
)
def test_contents(
    write: Write, bring_in: Bring, alice: User, content: dict[str, Any], text: str
) -> None:
    bring_in(write(export(node("a", None, content))))
    assert Message.objects.get().content == text


@pytest.mark.parametrize(
    "empty",
    [
        {"content_type": "text", "parts": [""]},
        {"content_type": "text", "parts": []},
        {"content_type": "text"},
        {"content_type": "tether_browsing_display", "result": ""},
        {"content_type": "thoughts", "thoughts": [{"content": "Private"}]},
        {"content_type": "reasoning_recap", "content": "Thought for a while"},
    ],
)
def test_what_says_nothing_is_left_out_and_the_thread_holds(
    write: Write, bring_in: Bring, alice: User, empty: dict[str, Any]
) -> None:
    told = bring_in(write(export(node("a", None), node("b", "a", empty), node("c", "b", "Bye"))))
    assert re.search(r"Left out: .*: 1\.", told.out)
    assert [m.content for m in Message.objects.order_by("seq")] == ["Hello.", "Bye"]
    assert Message.objects.get(client_id="c").parent == Message.objects.get(client_id="a")


@pytest.mark.parametrize(
    ("message", "role", "from_owner"),
    [
        ({"role": "user"}, "user", True),
        (
            {"role": "user", "metadata": {"is_visually_hidden_from_conversation": True}},
            "system",
            False,
        ),
        ({"role": "assistant"}, "assistant", False),
        ({"role": "assistant", "recipient": "python"}, "tool", False),
        ({"role": "assistant", "recipient": None}, "assistant", False),
        ({"role": "tool", "author": {"role": "tool", "name": "python"}}, "tool", False),
        ({"role": "system"}, "system", False),
        (
            {"text": {"content_type": "user_editable_context", "user_profile": "I am Ann."}},
            "system",
            False,
        ),
    ],
)
def test_only_what_the_user_typed_is_the_users(
    write: Write, bring_in: Bring, alice: User, message: dict[str, Any], role: str, from_owner: bool
) -> None:
    bring_in(write(export(node("a", None, **message))))
    found = Message.objects.get()
    assert (found.role, found.from_owner) == (role, from_owner)


def test_a_missing_current_node_takes_the_newest_branch(
    write: Write, bring_in: Bring, alice: User
) -> None:
    told = bring_in(
        write(
            export(
                node("a", None),
                node("new", "a", time=1_700_000_900),
                node("old", "a", time=1_700_000_100),
                node("no time", "a", time=None),
                current="nowhere",
            )
        )
    )
    assert "conversations without a current branch: the newest was taken: 1." in told.out
    on_branch = Message.objects.filter(on_branch=True).order_by("seq")
    assert [m.client_id for m in on_branch] == ["a", "new"]


def test_trees_with_wrong_pointers(write: Write, bring_in: Bring, alice: User) -> None:
    orphan = node("orphan", "nowhere", "I hang on nothing known.")
    listed = node("listed", None, "My parent lists me.")
    del listed["parent"]
    root = node("root", None) | {"children": ["listed", "ghost", 7, None]}
    circle = [node("x", "y", "Round"), node("y", "x", "and round")]
    told = bring_in(write(export(root, listed, orphan, *circle, current="listed")))
    assert told.code == 0
    assert "messages that hang on nothing: 2." in told.out
    rows = Message.objects.order_by("seq").values_list("client_id", "on_branch")
    assert list(rows) == [("root", True), ("listed", True), ("orphan", False)]


def test_a_long_talk_is_no_deep_recursion(write: Write, bring_in: Bring, alice: User) -> None:
    nodes = [node(f"n{i}", f"n{i - 1}" if i else None, f"Line {i}") for i in range(1500)]
    assert bring_in(write(export(*nodes))).code == 0
    assert Message.objects.filter(on_branch=True).count() == 1500
    assert Message.objects.get(seq=1500).content == "Line 1499"


def test_one_broken_conversation_costs_only_itself(
    write: Write, bring_in: Bring, alice: User
) -> None:
    path = write(
        "[",
        export(node("a", None), conversation_id="c1"),
        ',{"mapping": {"broken": nonsense}},',
        {"title": "No tree at all"},
        ",",
        export(node("a", None), conversation_id="c2"),
        "]",
        name="conversations.json",
    )
    told = bring_in(path)
    assert told.code == 3
    assert (
        "conversations.json, item 2 (line 3): is broken JSON in line 3: Expecting value" in told.err
    )
    assert "conversations.json, item 3 (line 4): has no tree of messages (mapping)" in told.err
    assert set(Conversation.objects.values_list("external_id", flat=True)) == {"c1", "c2"}
    assert Import.objects.get().counts["left_out"] == 2


def test_a_file_that_breaks_off_gives_what_came_before(
    write: Write, bring_in: Bring, alice: User
) -> None:
    whole = export(node("a", None), conversation_id="c1")
    path = write("[", whole, ', {"title": "cut', name="conversations.json")
    told = bring_in(path)
    assert told.code == 3
    assert "the file ends in the middle of item 2, which begins on line 3" in told.err
    assert Conversation.objects.get().external_id == "c1"


def test_characters_that_cannot_be_stored_are_replaced_and_counted(
    write: Write, bring_in: Bring, alice: User
) -> None:
    talk = export(node("a", None, "NUL \x00 and half \ud83d of a pair, 😀 stays"), title="T\x00")
    told = bring_in(write(talk))
    assert told.code == 0
    assert "unstorable characters replaced: 3." in told.out
    assert Message.objects.get().content == "NUL \ufffd and half \ufffd of a pair, 😀 stays"
    assert Conversation.objects.get().title == "T\ufffd"


def test_bytes_that_are_no_utf8_are_read_as_western_and_counted(
    write: Write, bring_in: Bring, alice: User
) -> None:
    import json

    text = json.dumps(export(node("a", None, "caf#"))).encode().replace(b"#", b"\xe9\x00")
    told = bring_in(write(text))
    assert "bytes that are no UTF-8, taken for Windows' Western alphabet: 1." in told.out
    assert "unstorable characters replaced: 1." in told.out
    assert Message.objects.get().content == "café\ufffd"


def test_it_reads_a_large_list_in_pieces(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from conversations.importers import files

    talks = [
        export(node("a", None, 'Quote " and \\ and { [ é'), conversation_id=f"c{i}")
        for i in range(20)
    ]
    path = write(talks)
    report = Report()
    whole = list(FORMAT.parse(TextFile(path), report))
    for size in (1, 7, 64):
        monkeypatch.setattr(files, "CHUNK", size)
        assert list(FORMAT.parse(TextFile(path), report)) == whole
    assert [talk.external_id for talk in whole] == [f"c{i}" for i in range(20)]
    assert not report.broken
