"""manage.py import_conversations: whose it becomes, when it refuses, what it says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.audit import acting, person
from agents.models import Agent, OwnerSettings, User
from conversations.importers import run
from conversations.importers.base import formats
from conversations.models import Conversation, Import, Message
from tests.conversations.conftest import message
from tests.conversations.importers.conftest import Bring

pytestmark = pytest.mark.django_db

Write = Callable[..., Path]
LINE = {"id": "c1", "messages": [message(1), message(2)]}


def test_the_only_owner_and_the_default_agent_need_no_name(
    write: Write, bring_in: Bring, agent: Agent
) -> None:
    assert bring_in(write(LINE)).code == 0
    assert Conversation.objects.get().agent == agent


def test_owner_and_agent_can_be_named(
    write: Write, bring_in: Bring, alice: User, bob: User
) -> None:
    assert bring_in(write(LINE), "--owner", "bob", "--agent", "work").code == 0
    conversation = Conversation.objects.get()
    assert (conversation.owner, conversation.agent.slug) == (bob, "work")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "Say whose memory it is with --owner: alice, bob."),
        (["--owner", "carol"], "There is no owner 'carol'. There is: alice, bob."),
        (["--owner", "bob", "--agent", "x"], "bob has no agent 'x'. There is: main, work."),
    ],
)
def test_it_says_who_there_is(
    write: Write, bring_in: Bring, alice: User, bob: User, options: list[str], says: str
) -> None:
    told = bring_in(write(LINE), *options)
    assert (told.code, told.err) == (1, says)
    assert not Import.objects.exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04rest", "is a damaged ZIP archive"),
        (b"Dear diary", "in none of the formats I know"),
        (b'{"conversationId": "x",\n "messages": []}', "in none of the formats I know"),
    ],
)
def test_files_that_it_cannot_read(
    tmp_path: Path, bring_in: Bring, alice: User, content: bytes, says: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    told = bring_in(path)
    assert told.code == 1
    assert says in told.err
    assert "\n" not in told.err


def test_a_missing_file_and_a_folder(tmp_path: Path, bring_in: Bring, alice: User) -> None:
    assert "No such file" in bring_in(tmp_path / "nothing").err
    assert "holds no file that ends in .json" in bring_in(tmp_path).err


def test_a_dry_run_stores_nothing_and_says_what_would_come(
    write: Write, bring_in: Bring, alice: User
) -> None:
    told = bring_in(write(LINE), "--dry-run")
    assert told.code == 0
    assert "Would bring in for alice, agent main: 2 messages." in told.out
    for model in (Conversation, Message, Import):
        assert not model.objects.exists()
    bring_in(write(LINE))
    assert ": 0 messages." in bring_in(write(LINE), "--dry-run").out


def test_sensitive_holds_for_the_whole_file(write: Write, bring_in: Bring, alice: User) -> None:
    bring_in(write(LINE), "--sensitive")
    assert Conversation.objects.get().sensitive is True


def test_a_promise_is_not_changed_by_importing_again(
    write: Write, bring_in: Bring, alice: User
) -> None:
    bring_in(write(LINE))
    told = bring_in(write(LINE), "--sensitive")
    assert told.code == 3
    assert "talks.jsonl, line 1: sensitive is false; that was fixed when it began." in told.err
    told = bring_in(write(LINE), "--agent", "work")
    assert "belongs to another agent" in told.err


@pytest.mark.parametrize(("mode", "choice"), [("disabled", True), ("default_on", False)])
@pytest.mark.parametrize("option", [[], ["--dry-run"]])
def test_it_brings_in_nothing_while_memory_is_off(
    write: Write,
    bring_in: Bring,
    alice: User,
    settings: Any,
    mode: str,
    choice: bool,
    option: list[str],
) -> None:
    settings.MEMORY_MODE = mode
    with acting(person(alice)):
        OwnerSettings.objects.filter(owner=alice).update(memory_enabled=choice)
    told = bring_in(write(LINE), *option)
    assert told.code == 1
    assert "Memory is off for alice" in told.err
    for model in (Conversation, Message, Import):
        assert not model.objects.exists()


def test_switching_off_on_the_way_stops_it(
    write: Write, bring_in: Bring, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [LINE | {"id": f"c{i}"} for i in range(3)]
    _after_first(monkeypatch, lambda: OwnerSettings.objects.update(memory_enabled=False))
    told = bring_in(write(*lines))
    assert told.code == 1
    assert "Brought in for alice, agent main: 2 messages." in told.out
    assert [c.external_id for c in Conversation.objects.all()] == ["c0"]


def test_a_stopped_import_goes_on_where_it_stopped(
    write: Write, bring_in: Bring, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(*(LINE | {"id": f"c{i}"} for i in range(3)))

    def press_ctrl_c() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        _after_first(patch, press_ctrl_c)
        told = bring_in(path)
    assert told.code == 130
    assert "Run it again to go on" in told.err
    assert Import.objects.get().finished_at is None
    told = bring_in(path)
    assert "Conversations: 2 new, 0 continued, 1 unchanged. Messages known already: 2." in told.out
    assert Message.objects.count() == 6


def test_the_run_is_recorded(write: Write, bring_in: Bring, alice: User) -> None:
    bring_in(write(LINE))
    row = Import.objects.get()
    assert (row.owner, row.format, row.file_name) == (alice, "jsonl", "talks.jsonl")
    assert row.finished_at is not None
    assert (row.counts["conversations"], row.counts["messages"]) == (1, 2)


def test_formats_are_found_by_their_modules() -> None:
    assert {"chatgpt", "jsonl"} <= set(formats())
    assert all(format.name == name and format.what for name, format in formats().items())


def test_help_lists_every_format() -> None:
    from conversations.management.commands.import_conversations import Command

    told = Command().create_parser("manage.py", "import_conversations").format_help()
    for format in formats().values():
        assert f"  {format.name} " in told
        assert format.what in told


@pytest.mark.parametrize("name", [name for name in formats() if name != "jsonl"])
def test_the_documentation_has_a_part_about_every_format(name: str) -> None:
    docs = Path(__file__).parents[3] / "docs" / "import-format.md"
    assert f"(`{name}`)" in docs.read_text()


def _after_first(patch: pytest.MonkeyPatch, happen: Callable[[], object]) -> None:
    """Something happens once the first conversation is in."""
    count = run._count
    done: list[int] = []

    def counted(*arguments: Any, **options: Any) -> None:
        count(*arguments, **options)
        if not done:
            done.append(1)
            happen()

    patch.setattr(run, "_count", counted)
