"""Sessions of Codex: JSONL, the first line about the session, then an item per line.

What the user said comes twice, as an item and as an event; the items are taken. Instruction files
and descriptions of the surroundings come as the user's, and are the system's.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from conversations.importers import blocks
from conversations.importers.base import ParsedConversation, ParsedMessage, Report
from conversations.importers.blocks import Piece
from conversations.importers.files import TextFile
from conversations.importers.loose import at, identifier, items, joined, mark, string
from conversations.importers.scan import Element
from conversations.importers.shape import keys
from conversations.importers.times import moment
from conversations.models import Message

SOURCE = "codex"
_ROLES = {
    "user": Message.Role.USER,
    "assistant": Message.Role.ASSISTANT,
    "developer": Message.Role.SYSTEM,
    "system": Message.Role.SYSTEM,
}
_INSTRUCTIONS = re.compile(
    r"<(user_instructions|environment_context|permissions|collaboration_mode|turn_aborted|skill"
    r"|user_shell_command|subagent_notification|INSTRUCTIONS)\b|# AGENTS\.md instructions",
    re.IGNORECASE,
)
# An editor's extension puts its context before what was typed.
_REQUEST = re.compile(r"\A# Context from my IDE setup:.*?^## My request for Codex:\s*", re.S | re.M)
_CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "web_search_call": "action",
}
_OUTPUTS = {"function_call_output", "custom_tool_call_output"}


class Codex:
    name = SOURCE
    what = "session (rollout) .jsonl of Codex"

    def recognises(self, head: str) -> bool:
        found = keys(head)
        return {"type", "payload"} <= found or "record_type" in found or _is_old(found)

    def parse(self, file: TextFile, report: Report) -> Iterator[ParsedConversation]:
        session = _Session(file.name)
        for line in file.lines():
            try:
                session.take(line, report)
            except ValueError as error:
                report.broken.append(f"{file.name}, line {line.number}: {error}")
        if session.by_agent:
            report.skipped["messages of sub-agents"] += len(session.messages)
        else:
            yield session.conversation()


FORMAT = Codex()


def _is_old(found: frozenset[str]) -> bool:
    """Before there were payloads: a first line about the session, then bare items."""
    return {"id", "timestamp", "instructions"} <= found


@dataclass
class _Session:
    place: str
    name: str = ""
    began: datetime | None = None
    by_agent: bool = False
    messages: list[ParsedMessage] = field(default_factory=list)

    def take(self, line: Element, report: Report) -> None:
        """Raises ValueError."""
        entry = line.value()
        if not isinstance(entry, dict):
            raise ValueError("is no object")
        kind, payload = string(entry.get("type")), entry.get("payload")
        if kind == "session_meta" or (not kind and "timestamp" in entry and "id" in entry):
            self._begin(payload if isinstance(payload, dict) else entry)
        elif kind == "event_msg" and at(payload, "type") in ("user_message", "agent_message"):
            report.skipped["events that repeat a message"] += 1
        elif kind == "response_item" and not isinstance(payload, dict):
            raise ValueError("has no payload")
        elif kind == "response_item" or (kind and payload is None):
            self._add(payload or entry, entry, line, report)
        else:
            report.skipped["entries that hold no message"] += 1

    def conversation(self) -> ParsedConversation:
        return ParsedConversation(
            place=self.place,
            source=SOURCE,
            external_id=self.name or self.place,
            title="",
            messages=self.messages,
            began=self.began,
        )

    def _begin(self, about: dict[str, Any]) -> None:
        """A forked session repeats the first line of the one it came from after its own."""
        if not self.name:
            self.name = identifier(about.get("id"))
            self.began = moment(about.get("timestamp"))
            self.by_agent = at(about, "source", "subagent") is not None

    def _add(
        self, item: dict[str, Any], entry: dict[str, Any], line: Element, report: Report
    ) -> None:
        piece = _piece(item, report)
        if piece is None:
            return
        if not piece.text.strip():
            report.skipped["empty messages"] += 1
            return
        name = identifier(item.get("id")) or f"line-{line.number}"
        time = moment(entry.get("timestamp")) or moment(item.get("timestamp"))
        self.messages += blocks.messages([piece], name, time)


def _piece(item: dict[str, Any], report: Report) -> Piece | None:
    kind = string(item.get("type"))
    if kind == "message":
        return _spoken(item, report)
    if kind in _CALLS:
        return blocks.called(item.get("name") or kind, item.get(_CALLS[kind]))
    if kind in _OUTPUTS:
        return Piece(Message.Role.TOOL, _output(item.get("output")))
    what = "pieces of reasoning" if kind == "reasoning" else "entries that hold no message"
    report.skipped[what] += 1
    return None


def _spoken(item: dict[str, Any], report: Report) -> Piece | None:
    role = _ROLES.get(string(item.get("role")))
    if role is None:
        report.skipped["messages of an unknown role"] += 1
        return None
    text = _text(item.get("content"))
    if role == Message.Role.USER:
        if _INSTRUCTIONS.match(text.lstrip()):
            return Piece(Message.Role.SYSTEM, text)
        text = _REQUEST.sub("", text)
    return Piece(role, text)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return joined([_part(part) for part in items(content)])


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    kind = string(at(part, "type"))
    return mark(kind) if kind in {"input_image", "input_file"} else string(at(part, "text"))


def _output(output: Any) -> str:
    if isinstance(output, dict):
        output = output.get("content", output.get("output"))
    return _text(output)
