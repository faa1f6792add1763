"""Real exports through observer and reflector: what they say is scripted, what they read is not."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from agents.audit import person
from agents.models import User
from bench.locomo_to_jsonl import write
from conversations.models import Conversation
from memory import lifecycle
from memory.extraction.run import extract
from memory.models import CorrectionTarget, DroppedCandidate, Evidence, ExtractionRun, Fact
from memory.vocabulary import Gate, State, Trigger
from tests.llm_server import Recorded, Reply, ScriptedLlm
from tests.memory.extraction_cases import candidate, decided, handle, observed

pytestmark = pytest.mark.django_db

SEA, DIARY = "The user is fond of the sea.", "The user keeps a diary."
NO_SEA, DIARIES = "The user is not fond of the sea.", "The user is keeping a diary."
SALT, CHOIR = "The sea is salty.", "The user sings in a choir."
# The newest message of the owner's in a window, by its number and its first words.
SPOKEN = re.compile(r'<message-\w+ n="(\d+)" from="owner"[^>]*(?<!read="before")>\n([^\n]{4,60})')


def proposes(*statements: str) -> Callable[[Recorded], Reply]:
    def observe(request: Recorded) -> Reply:
        number, words = SPOKEN.findall(request.user)[-1]
        return observed(
            *(
                candidate(text, words.strip(), int(number), general_knowledge=text == SALT)
                for text in statements
            )
        )

    return observe


def read(conversation: Conversation) -> ExtractionRun:
    """A conversation of one window."""
    [run] = extract(conversation=conversation, trigger=Trigger.REQUEST)
    assert run.state == ExtractionRun.State.APPLIED
    return run


def rows() -> list[tuple[Any, ...]]:
    return [
        tuple(model.objects.order_by("pk").values_list())
        for model in (Fact, Evidence, CorrectionTarget, DroppedCandidate, ExtractionRun)
    ]


@pytest.fixture
def imported(alice: User, sample_data: Path, tmp_path: Path) -> Callable[[], None]:
    sample = json.loads((sample_data / "locomo" / "locomo10.json").read_text())[0]
    locomo, _, _ = write(sample, tmp_path)

    def run() -> None:
        for path in sorted((sample_data / "exports" / "chatgpt").glob("*.json")):
            call_command("import_conversations", str(path), owner="alice", agent="main")
        me = sample["conversation"]["speaker_a"]
        call_command("import_conversations", str(locomo), owner="alice", agent="main", me=me)

    run()
    return run


def test_imports_yield_what_the_model_says_and_once_only(
    llm: ScriptedLlm, alice: User, imported: Callable[[], None]
) -> None:
    exported = Conversation.objects.filter(source="chatgpt").order_by("first_message_at").first()
    spoken = Conversation.objects.filter(source="locomo").order_by("first_message_at").first()
    assert exported is not None
    assert spoken is not None

    llm.observe_with(proposes(SEA, DIARY))
    assert read(exported).counts["created"] == 2
    sea, diary = (
        lifecycle.confirm(fact=Fact.objects.get(statement=text), actor=person(alice))
        for text in (SEA, DIARY)
    )

    llm.observe_with(proposes(NO_SEA, DIARIES, SALT, CHOIR))
    llm.reflect_with(
        lambda request: decided(
            (1, "supersede", [handle(request, sea)]),
            (2, "reinforce", [handle(request, diary)]),
            (4, "create", []),
        )
    )
    counts = read(spoken).counts
    assert counts["created"] == counts["superseding"] == counts["reinforced"] == 1
    assert counts["dropped"] == {Gate.GENERAL_KNOWLEDGE: 1}

    correction = Fact.objects.get(statement=NO_SEA)
    assert correction.state == State.PENDING
    assert CorrectionTarget.objects.get(open=True).target == sea
    assert Fact.objects.get(statement=CHOIR).state == State.PENDING
    assert diary.evidence.count() == 2
    assert not Fact.objects.filter(statement__in=[DIARIES, SALT]).exists()
    assert correction.observed_at == correction.evidence.get().message.sent_at

    # All of it once more: imported again, and asked to read again.
    before, calls = rows(), len(llm.requests)
    imported()
    for conversation in (exported, spoken):
        assert extract(conversation=conversation, trigger=Trigger.REQUEST) == []
    assert len(llm.requests) == calls
    assert rows() == before
