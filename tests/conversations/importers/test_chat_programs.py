"""Open WebUI, LibreChat, SillyTavern, Khoj and AnythingLLM: trees, swipes, times without a zone."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agents.audit import acting, person
from agents.models import OwnerSettings, User
from conversations.models import Conversation, Message
from tests.conversations.importers.conftest import Bring

pytestmark = pytest.mark.django_db

Write = Callable[..., Path]


def rows() -> list[tuple[str, str, bool]]:
    return list(Message.objects.order_by("seq").values_list("role", "content", "on_branch"))


@pytest.fixture
def in_helsinki(alice: User) -> None:
    with acting(person(alice)):
        OwnerSettings.objects.filter(owner=alice).update(time_zone="Europe/Helsinki")


class TestOpenWebui:
    def chat(self, *nodes: dict[str, Any], current: Any = None, **fields: Any) -> dict[str, Any]:
        history = {"messages": {one["id"]: one for one in nodes}, "currentId": current}
        return {"title": "A talk", "history": history, "timestamp": 1_700_000_000_123} | fields

    def node(self, name: str, parent: str | None, content: Any, **fields: Any) -> dict[str, Any]:
        return {
            "id": name,
            "parentId": parent,
            "childrenIds": [],
            "role": "user",
            "content": content,
            "timestamp": 1_700_000_000,
        } | fields

    @pytest.mark.parametrize(
        ("content", "kept"),
        [
            ('<details type="reasoning" done="true"><summary>x</summary>Secret</details>Hi', "Hi"),
            ("<think>Secret</think>\nHi", "Hi"),
            ('Hi<details type="reasoning" done="false">Secret and cut', "Hi"),
            ('A<details type="reasoning">S <details>S</details> S</details>B', "AB"),
            ('<details type="tool_calls">Secret</details>Hi', "Hi"),
            (
                "<details><summary>More</summary>Kept</details>",
                "<details><summary>More</summary>Kept</details>",
            ),
            ("</details>Hi", "</details>Hi"),
        ],
    )
    def test_reasoning_is_stripped_of_answers(
        self, write: Write, bring_in: Bring, alice: User, content: str, kept: str
    ) -> None:
        chat = self.chat(
            self.node("a", None, "<details type='reasoning'>Mine</details>"),
            self.node("b", "a", content, role="assistant"),
            current="b",
        )
        assert bring_in(write([{"id": "c1", "chat": chat}])).code == 0
        assert [text for _, text, _ in rows()] == ["<details type='reasoning'>Mine</details>", kept]

    def test_a_bare_chat_without_an_id_comes_in_once(
        self, write: Write, bring_in: Bring, alice: User
    ) -> None:
        path = write(self.chat(self.node("a", None, "Hi"), id=""))
        bring_in(path)
        assert ": 0 messages." in bring_in(path).out
        found = Message.objects.get()
        assert found.sent_at == datetime.fromtimestamp(1_700_000_000, UTC)

    def test_of_two_answers_the_current_one_is_on_the_branch(
        self, write: Write, bring_in: Bring, alice: User
    ) -> None:
        nodes = [
            self.node("a", None, "Hi"),
            self.node("b", "a", "One", role="assistant"),
            self.node("c", "a", "Two", role="assistant"),
        ]
        bring_in(write([{"id": "c1", "title": "T", "chat": self.chat(*nodes, current="b")}]))
        assert rows() == [
            ("user", "Hi", True),
            ("assistant", "One", True),
            ("assistant", "Two", False),
        ]

    def test_a_chat_from_before_there_were_trees(
        self, write: Write, bring_in: Bring, alice: User
    ) -> None:
        messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
        bring_in(write([{"id": "c1", "chat": {"messages": messages}, "created_at": 1_700_000_000}]))
        assert rows() == [("user", "Hi", True), ("assistant", "Ho", True)]


class TestLibreChat:
    def message(self, name: str, parent: str | None, text: str, **fields: Any) -> dict[str, Any]:
        return {
            "messageId": name,
            "parentMessageId": parent,
            "isCreatedByUser": True,
            "sender": "User",
            "text": text,
            "createdAt": "2026-01-02T03:04:05.678Z",
        } | fields

    def export(self, *messages: dict[str, Any]) -> dict[str, Any]:
        return {
            "conversationId": "c1",
            "title": "A talk",
            "exportAt": "20:33:31 GMT-0400 (Eastern Daylight Time)",
            "messages": list(messages),
        }

    def test_flat_and_nested_give_the_same(
        self, write: Write, bring_in: Bring, alice: User
    ) -> None:
        answer = self.message("b", "a", "Ho", isCreatedByUser=False, sender="GPT-4")
        bring_in(write(self.export(self.message("a", None, "Hi", children=[answer]))))
        told = bring_in(write(self.export(self.message("a", None, "Hi"), answer)))
        assert "Conversations: 0 new, 0 continued, 1 unchanged" in told.out
        assert rows() == [("user", "Hi", True), ("assistant", "Ho", True)]
        assert Message.objects.get(client_id="b").speaker == "GPT-4"
        assert "without a current branch" not in told.out

    def test_an_export_time_without_a_date_is_no_time(
        self, write: Write, bring_in: Bring, alice: User
    ) -> None:
        told = bring_in(write(self.export(self.message("a", None, "Hi", createdAt=None))))
        assert "messages given the time of the import, as the file has none: 1." in told.out

    def test_contents_in_parts(self, write: Write, bring_in: Bring, alice: User) -> None:
        parts = [{"type": "think", "think": "Secret"}, {"type": "text", "text": {"value": "Ho"}}]
        told = bring_in(write(self.export(self.message("a", None, "", content=parts))))
        assert "pieces of reasoning: 1." in told.out
        assert rows() == [("user", "Ho", True)]

    def test_deep_nesting_is_no_deep_recursion(
        self, write: Write, bring_in: Bring, alice: User
    ) -> None:
        nested = self.message("m0", None, "Last")
        for number in range(1, 300):
            nested = self.message(f"m{number}", None, "More", children=[nested])
        assert bring_in(write(self.export(nested))).code == 0
        assert Message.objects.filter(on_branch=True).count() == 300


class TestSillyTavern:
    HEADER = {"user_name": "Ann", "character_name": "Seraphina", "create_date": "2026-01-02@03h04m"}

    def line(self, mes: str, **fields: Any) -> dict[str, Any]:
        return {"name": "Ann", "is_user": True, "mes": mes, "send_date": 1_700_000_000_000} | fields

    def test_the_first_line_is_about_the_chat(
        self, write: Write, bring_in: Bring, alice: User
    ) -> None:
        answer = self.line("Ho", name="Seraphina", is_user=False)
        path = write(self.HEADER, self.line("Hi"), answer, name="chat.jsonl")
        bring_in(path)
        assert rows() == [("user", "Hi", True), ("assistant", "Ho", True)]
        assert Conversation.objects.get().title == "Seraphina"
        assert list(Message.objects.order_by("seq").values_list("speaker", "from_owner")) == [
            ("Ann", True),
            ("Seraphina", False),
        ]
        path.rename(path.with_name("renamed.jsonl"))
        assert ": 0 messages." in bring_in(path.with_name("renamed.jsonl")).out

    def test_swiped_answers_are_off_the_branch(
        self, write: Write, bring_in: Bring, alice: User
    ) -> None:
        swipes = {"name": "S", "is_user": False, "swipes": ["One", "Two"]}
        bring_in(write(self.HEADER, self.line("Hi"), self.line("Two", **swipes, swipe_id=1)))
        assert [(text, on) for _, text, on in rows()] == [
            ("Hi", True),
            ("One", False),
            ("Two", True),
        ]
        bring_in(write(self.HEADER, self.line("Hi"), self.line("One", **swipes, swipe_id=0)))
        assert [(text, on) for _, text, on in rows()] == [
            ("Hi", True),
            ("One", True),
            ("Two", False),
        ]

    @pytest.mark.parametrize(
        "date",
        [
            "January 2, 2026 3:04am",
            "2026-01-02 @03h 04m 00s 000ms",
            "2026-01-02@03h04m00s",
            "2026-01-02T01:04:00Z",
            1_767_315_840_000,
        ],
    )
    def test_times_are_on_the_owners_clock(
        self, write: Write, bring_in: Bring, in_helsinki: None, date: Any
    ) -> None:
        bring_in(write(self.HEADER, self.line("Hi", send_date=date)))
        found = Message.objects.get()
        assert found.sent_at == datetime(2026, 1, 2, 1, 4, tzinfo=UTC)
        assert found.zone == "Europe/Helsinki"

    @pytest.mark.parametrize("date", ["yesterday", "2026-13-45 @99h 99m", [], ""])
    def test_other_times_are_none(
        self, write: Write, bring_in: Bring, alice: User, date: Any
    ) -> None:
        told = bring_in(write(self.HEADER, self.line("Hi", send_date=date), self.line("Ho")))
        assert "messages without a time given their neighbour's: 1." in told.out
        assert Message.objects.filter(sent_at__year=2023).count() == 2


class TestKhoj:
    LOG: list[dict[str, Any]] = [
        {"by": "you", "message": "I live in Turku.", "created": "2026-01-02 03:04:05"},
        {"by": "khoj", "message": "Noted.", "created": "2026-01-02 03:04:06", "context": []},
    ]

    def test_its_export(self, write: Write, bring_in: Bring, in_helsinki: None) -> None:
        export = {
            "title": "Towns",
            "agent": "Khoj",
            "created_at": "2026-01-02 01:04:00",
            "updated_at": "2026-01-02 01:04:00",
            "conversation_log": {"chat": self.LOG},
            "file_filters": [],
        }
        path = write([export])
        assert bring_in(path).code == 0
        assert rows() == [("user", "I live in Turku.", True), ("assistant", "Noted.", True)]
        assert Message.objects.get(role="user").sent_at == datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)
        assert Conversation.objects.get().title == "Towns"
        assert ": 0 messages." in bring_in(path).out

    def test_what_its_history_api_answers(self, write: Write, bring_in: Bring, alice: User) -> None:
        turns = [entry | {"turnId": "t1"} for entry in self.LOG]
        answer = {"status": "ok", "response": {"conversation_id": "c9", "slug": "x", "chat": turns}}
        bring_in(write(answer))
        assert Conversation.objects.get().external_id == "c9"
        assert set(Message.objects.values_list("client_id", flat=True)) == {"t1-you", "t1-khoj"}


class TestAnythingLlm:
    def row(self, number: int, **fields: Any) -> dict[str, Any]:
        return {
            "id": number,
            "workspace": "Home",
            "username": "unknown user",
            "prompt": f"Question {number}",
            "response": f"Answer {number}",
            "sent_at": "2026-01-02T03:04:05.000Z",
            "attachments": [],
        } | fields

    def test_a_workspace_is_a_conversation(
        self, write: Write, bring_in: Bring, alice: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from conversations.importers import anythingllm

        monkeypatch.setattr(anythingllm, "PIECE", 4)
        path = write([self.row(n, workspace="Work" if n == 2 else "Home") for n in range(1, 6)])
        told = bring_in(path)
        assert "Conversations: 2 new, 0 continued, 0 unchanged." in told.out
        home = Conversation.objects.get(external_id="Home").messages.order_by("seq")
        assert [m.content for m in home][:3] == ["Question 1", "Answer 1", "Question 3"]
        assert home.count() == 8
        assert ": 0 messages." in bring_in(path).out

    def test_several_users_need_a_name(self, write: Write, bring_in: Bring, alice: User) -> None:
        path = write([self.row(1, username="ann"), self.row(2, username="ben")])
        assert "--me NAME: ann, ben." in bring_in(path).err
        bring_in(path, "--me", "ann")
        owners = Message.objects.filter(from_owner=True)
        assert [m.content for m in owners] == ["Question 1"]

    def test_a_row_without_an_id_is_broken(
        self, write: Write, bring_in: Bring, alice: User
    ) -> None:
        told = bring_in(write([self.row(1), self.row(2) | {"id": None}], name="chats.json"))
        assert told.code == 3
        assert "chats.json, item 2 (line 1): has no id" in told.err
