"""What each sample of another program's export yields, and that it yields nothing twice."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from agents.models import User
from conversations.models import Conversation, Import, Message, Passage
from tests.conversations.importers.conftest import Bring

pytestmark = pytest.mark.django_db


class Yield(NamedTuple):
    format: str
    conversations: int
    user: int
    assistant: int
    tool: int = 0
    system: int = 0
    off_branch: int = 0
    broken: int = 0


SAMPLES = {
    "claude-ai/claude_example.json": Yield("claude-ai", 1, 5, 5),
    "claude-ai/claude_thinking_example.json": Yield("claude-ai", 1, 1, 1),
    "claude-code/edge_cases.jsonl": Yield("claude-code", 2, 3, 2, 6, 2, broken=4),
    "claude-code/representative_messages.jsonl": Yield("claude-code", 1, 4, 3, 4),
    "claude-code/sample_session.jsonl": Yield("claude-code", 1, 2, 2, 4),
    "codex/codex-session.jsonl": Yield("codex", 1, 1, 1),
    "openwebui/webui-json.json": Yield("open-webui", 1, 1, 1),
    "librechat/librechat-linear.json": Yield("librechat", 1, 1, 1),
    "librechat/librechat-tree.json": Yield("librechat", 1, 4, 5, off_branch=5),
    "telegram/personal_chat.json": Yield("telegram", 1, 4, 0),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_comes_in_whole_and_only_once(
    sample_data: Path, bring_in: Bring, alice: User, name: str
) -> None:
    path, expected = sample_data / "exports" / name, SAMPLES[name]
    options = ["--me", "Alice"] if expected.format == "telegram" else []
    told = bring_in(path, *options)
    assert told.code == (3 if expected.broken else 0), told
    assert len(told.err.splitlines()) == expected.broken
    assert Import.objects.get().format == expected.format
    roles = Counter(Message.objects.values_list("role", flat=True))
    off_branch = Message.objects.filter(on_branch=False)
    assert expected == Yield(
        expected.format,
        Conversation.objects.count(),
        roles["user"],
        roles["assistant"],
        roles["tool"],
        roles["system"],
        off_branch.count(),
        expected.broken,
    )
    assert not Passage.objects.filter(message__in=off_branch).exists()
    before = list(Message.objects.values_list("pk", "on_branch").order_by("pk"))

    again = bring_in(path, *options)
    assert ": 0 messages." in again.out
    assert list(Message.objects.values_list("pk", "on_branch").order_by("pk")) == before


def test_all_samples_come_in_together_as_a_folder(
    sample_data: Path, bring_in: Bring, alice: User
) -> None:
    folder = sample_data / "exports"
    assert "--me NAME: Alice, Bob." in bring_in(folder).err
    told = bring_in(folder, "--me", "Alice")
    assert told.code == 3
    assert set(Conversation.objects.values_list("source", flat=True)) == {
        "chatgpt",
        "claude-ai",
        "claude-code",
        "codex",
        "librechat",
        "open-webui",
        "telegram",
    }
    assert Import.objects.get().format == "several"
    assert "Left out: files of another kind (.md): 1." in told.out


def test_a_file_that_does_not_say_who_spoke_gives_nothing_and_says_so(
    sample_data: Path, bring_in: Bring, alice: User
) -> None:
    told = bring_in(sample_data / "exports" / "other" / "invalid_unicode.json")
    assert told.code == 0
    assert "Left out: messages of an unknown role: 2." in told.out
    assert "Left out: empty conversations: 1." in told.out
    assert not Message.objects.exists()
