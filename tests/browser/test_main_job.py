"""The main job, end to end: an export comes in, rules propose, the owner confirms three in
Chromium, and the assistant is told them over HTTP, it alone."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.urls import reverse
from playwright.sync_api import expect

from bench.locomo_to_jsonl import write
from memory.models import ExtractionRun, Fact
from memory.vocabulary import State, Withheld
from tests.browser.desk import Keyboard, sign_in
from tests.factories import ApiKeyFactory

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from pytest_django.live_server_helper import LiveServer

    from agents.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

START = 1_767_776_400  # 7 January 2026, 09:00 UTC
SAID = (
    "Hi! I live in Tampere and I work as a nurse.",
    "I'm allergic to hazelnuts.",
    "I don't like long explanations. My sister lives in Turku.",
)


def chatgpt_export(path: Path) -> Path:
    """One conversation as ChatGPT exports it: a tree, entered from its current node."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
    parent = "root"
    for number, (role, text) in enumerate(
        line for said in SAID for line in (("user", said), ("assistant", "I see."))
    ):
        node = f"n{number}"
        mapping[node] = {
            "id": node,
            "parent": parent,
            "children": [],
            "message": {
                "id": node,
                "author": {"role": role},
                "create_time": START + 60 * number,
                "content": {"content_type": "text", "parts": [text]},
                "recipient": "all",
            },
        }
        parent = node
    conversation = {"id": "c1", "title": "Hello", "create_time": START, "current_node": parent}
    path.write_text(json.dumps([conversation | {"mapping": mapping}]))
    return path


def read_everything() -> None:
    call_command("backfill", owner="alice", no_vectors=True)
    assert set(ExtractionRun.objects.values_list("state", flat=True)) == {"applied"}


def confirm_three(page: "Page", address: str) -> list[Fact]:
    page.goto(address + reverse("review"))
    before = {fact.pk for fact in Fact.objects.filter(state=State.ACTIVE)}
    keyboard = Keyboard(page)
    keyboard.press("j")
    for _ in range(3):
        keyboard.decide("y")
    expect(page.locator(".result.done")).to_have_count(3)
    return list(Fact.objects.filter(state=State.ACTIVE).exclude(pk__in=before).order_by("pk"))


def check_sources(facts: Sequence[Fact], year: int) -> None:
    for fact in facts:
        evidence = fact.evidence.select_related("message").get()
        assert evidence.message.from_owner
        assert evidence.quote in evidence.message.content
        assert fact.observed_at == evidence.message.sent_at
        assert fact.observed_at.year == year
        assert Withheld.RULE_BASED in fact.withheld_for


def told(page: "Page", address: str, key: Any, message: str) -> str:
    answer = page.request.post(
        f"{address}/api/v1/recall",
        headers={"Authorization": f"Bearer {key.plaintext}"},
        data={"message": message},
    )
    assert answer.status == 200, answer.text()
    block: str = answer.json()["block"]
    return block


def check_recall(page: "Page", address: str, facts: Sequence[Fact], bob: "User") -> None:
    """Asked with words of each fact: its own agent is told, the owner's other one and Bob's not."""
    alice = facts[0].owner
    own, other, bobs = (
        ApiKeyFactory.create(agent=agent)
        for agent in (
            alice.agents.get(slug="main"),
            alice.agents.get(slug="work"),
            bob.agents.get(slug="main"),
        )
    )
    for fact in facts:
        message = fact.statement.removeprefix("The user").strip(" .") + "?"
        assert fact.statement in told(page, address, own, message)
        assert fact.statement not in told(page, address, other, message)
        assert fact.statement not in told(page, address, bobs, message)
    waiting = Fact.objects.filter(owner=alice, state=State.PENDING).first()
    assert waiting is not None
    assert waiting.statement not in told(page, address, own, waiting.statement)


def test_an_export_leads_through_the_queue_to_what_the_assistant_is_told(
    page: "Page", live_server: "LiveServer", alice: "User", bob: "User", tmp_path: Path
) -> None:
    path = chatgpt_export(tmp_path / "conversations.json")
    call_command("import_conversations", str(path), owner="alice", agent="main")
    read_everything()
    sign_in(page.context, live_server.url, alice)
    facts = confirm_three(page, live_server.url)
    check_sources(facts, year=2026)
    check_recall(page, live_server.url, facts, bob)
    count = Fact.objects.count()
    call_command("import_conversations", str(path), owner="alice", agent="main")
    read_everything()
    assert Fact.objects.count() == count


def test_real_exports_lead_there_too(
    page: "Page",
    live_server: "LiveServer",
    alice: "User",
    bob: "User",
    sample_data: Path,
    tmp_path: Path,
) -> None:
    exports = sorted((sample_data / "exports" / "chatgpt").glob("*.json"))
    for path in exports:
        call_command("import_conversations", str(path), owner="alice", agent="main")
    assert len(exports) == 4
    sample = json.loads((sample_data / "locomo" / "locomo10.json").read_text())[0]
    path, sessions, _ = write(sample, tmp_path)
    name = sample["conversation"]["speaker_a"]
    call_command("import_conversations", str(path), owner="alice", agent="main", me=name)
    read_everything()
    sign_in(page.context, live_server.url, alice)
    page.goto(live_server.url + reverse("conversations"))
    expect(page.locator(".rows > li")).to_have_count(min(sessions + 5, 30))
    facts = confirm_three(page, live_server.url)
    check_sources(facts, year=2023)
    check_recall(page, live_server.url, facts, bob)
