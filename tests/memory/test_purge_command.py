"""`manage.py purge`, `forget` and `close_account`, as an operator meets them."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import ProtectedError

from agents.models import Agent, ApiKey, AuditEvent, User
from conversations.models import Conversation
from memory.models import Fact
from memory.purge import execute
from memory.vocabulary import ArchivedReason, State
from tests.factories import (
    ApiKeyFactory,
    ConversationFactory,
    FactFactory,
    MessageFactory,
    UserFactory,
)
from tests.memory.dumping import dump, found
from tests.memory.raw import value

pytestmark = pytest.mark.django_db


@pytest.fixture
def talk(agent: Agent) -> Conversation:
    talk = ConversationFactory.create(agent=agent, external_id="trip", title="Oslo trip")
    message = MessageFactory.create(conversation=talk, content="I fly to Oslo on Friday.")
    FactFactory.create(
        agent=agent, conversation=talk, statement="The user flies to Oslo.", message=message,
        state=State.ACTIVE,
    )  # fmt: skip
    return talk


def run(capsys: Any, *arguments: str, exits: int = 0) -> str:
    if exits:
        with pytest.raises(SystemExit) as stop:
            call_command(*arguments)
        assert stop.value.code == exits
    else:
        call_command(*arguments)
    said = capsys.readouterr()
    return str(said.out)


@pytest.mark.parametrize("command", ["purge", "forget"])
def test_without_yes_it_tells_and_exits_2(talk: Conversation, capsys: Any, command: str) -> None:
    before = dump()
    told = run(capsys, command, "--conversation", "trip", exits=2)
    assert "1 fact (1 active)" in told
    assert "The user flies to Oslo." in told
    assert "Nothing was done. Add --yes" in told
    assert dump() == before


def test_with_yes_it_purges_and_again_finds_nothing(talk: Conversation, capsys: Any) -> None:
    told = run(capsys, "purge", "--conversation", "trip", "--yes")
    assert "Purged: 1 fact, 1 message, 1 title." in told
    assert found(dump(), "Oslo") == set()
    assert "nothing to purge" in run(capsys, "purge", "--conversation", "trip", "--yes")
    line = AuditEvent.objects.filter(table="memory_fact").first()
    assert line is not None
    assert (line.actor, line.context) == ("command:purge", "command purge")


def test_forget_archives(talk: Conversation, capsys: Any) -> None:
    assert "Forgotten: 1 fact." in run(capsys, "forget", "--match", "oslo", "--yes")
    assert Fact.objects.get().archived_reason == ArchivedReason.FORGOTTEN


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "Say what to purge"),
        (["--agent", ""], "--agent is empty"),
        (["--match", "  "], "--match is empty"),
        (["--match", "ab"], "fewer than 3"),
        (["--source", ""], "--source is empty"),
        (["--source", "nowhere"], "no source 'nowhere'. There is: api"),
        (["--agent", "nobody"], "There is: main, work"),
        (["--conversation", "nowhere"], "no conversation 'nowhere'"),
        (["--fact", "0"], "'0' is not an id"),
        (["--fact", "00000000-0000-0000-0000-000000000000"], "no such fact"),
        (["--since", "0"], "not a time"),
        (["--since", "2026-03-02", "--until", "2026-03-02"], "range is empty"),
        (["--run", "x"], "not an id"),
        (["--import", "x"], "not an id"),
        (["--client", "rmb_none"], "no key"),
        (["--owner", ""], "--owner is empty"),
        (["--owner", "nobody"], "no owner 'nobody'"),
        (["--every"], "unrecognized"),
        (["--everything"], "needs --owner"),
        (["--everything", "--owner", "alice"], "--confirm alice"),
        (["--everything", "--owner", "alice", "--confirm", "bob"], "--confirm alice"),
        (
            ["--everything", "--owner", "alice", "--confirm", "alice", "--match", "Oslo"],
            "drop --match",
        ),
        (["--confirm", "alice", "--match", "Oslo"], "belongs to --everything"),
    ],
)
def test_zero_empty_and_unknown_are_errors(
    talk: Conversation, arguments: list[str], why: str
) -> None:
    before = dump()
    with pytest.raises(CommandError, match=why):
        call_command("purge", *arguments, "--yes")
    assert dump() == before


def test_two_owners_are_never_taken_for_one(talk: Conversation, bob: User) -> None:
    with pytest.raises(CommandError, match="--owner: alice, bob"):
        call_command("purge", "--match", "Oslo", "--yes")


def test_everything_needs_the_name_twice(talk: Conversation, bob: User, capsys: Any) -> None:
    FactFactory.create(owner=bob, statement="The user likes Oslo.")
    everything = ["purge", "--everything", "--owner", "alice", "--confirm", "alice"]
    run(capsys, *everything, exits=2)
    run(capsys, *everything, "--yes")
    assert found(dump(), "flies", "fly to") == set()
    assert Fact.objects.get(owner=bob).statement == "The user likes Oslo."


def test_stopped_half_way_it_goes_on(
    talk: Conversation, agent: Agent, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        FactFactory.create(
            agent=agent, conversation=talk, statement=f"The user knows Oslo {number}."
        )
    monkeypatch.setattr(execute, "FACTS", 2)
    once = execute._erase
    calls: list[object] = []

    def stopped(*arguments: Any, **share: Any) -> Any:
        calls.append(share)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return once(*arguments, **share)

    monkeypatch.setattr(execute, "_erase", stopped)
    run(capsys, "purge", "--match", "Oslo", "--yes", exits=130)
    assert Fact.objects.filter(archived_reason="purged").count() == 2
    assert "Purged: 4 facts" in run(capsys, "purge", "--match", "Oslo", "--yes")
    assert found(dump(), "Oslo") == set()


def test_a_terminal_is_not_driven_by_what_is_told(alice: User, capsys: Any) -> None:
    FactFactory.create(owner=alice, statement="The user said \x1b[2J boo.")
    assert "\x1b" not in run(capsys, "purge", "--match", "boo", exits=2)


def test_an_account_is_closed_after_its_memory_is_purged(
    talk: Conversation, alice: User, bob: User, capsys: Any
) -> None:
    alice.email = "alice@example.org"
    alice.save()
    key = ApiKeyFactory.create(agent=talk.agent, name="Oslo laptop")
    close = ["close_account", "--owner", "alice"]
    assert "purge 1 fact and 1 message" in run(capsys, *close, exits=2)
    with pytest.raises(CommandError, match="--confirm alice"):
        call_command(*close, "--yes")
    run(capsys, *close, "--confirm", "alice", "--yes")
    alice.refresh_from_db()
    assert (alice.is_active, alice.username) == (False, f"closed-{alice.pk.hex}")
    assert ApiKey.objects.get(pk=key.pk).revoked_at is not None
    assert found(dump(), "Oslo", "alice@", "laptop") == set()
    assert value("SELECT count(*) FROM agents_user WHERE username = 'alice'") == 0
    trail = AuditEvent.objects.filter(owner_id=alice.pk, table="agents_agent")
    assert trail.exists()
    assert not any("name" in (line.after or {}) | (line.before or {}) for line in trail)


def test_the_only_administrator_stays(capsys: Any) -> None:
    root = UserFactory.create(username="root", is_superuser=True)
    with pytest.raises(CommandError, match="only administrator"):
        call_command("close_account", "--owner", "root", "--confirm", "root", "--yes")
    root.refresh_from_db()
    assert root.is_active


def test_an_account_that_holds_memory_is_not_deleted(talk: Conversation, alice: User) -> None:
    with pytest.raises(ProtectedError, match="close_account"):
        alice.delete()
