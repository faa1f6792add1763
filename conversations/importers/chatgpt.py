"""ChatGPT's conversations.json: a list of conversations, or one, each a tree of messages.

The branch that was last open is the one from `current_node` up. Every other branch is kept, off the
branch. The model's private reasoning is left out; what it told its tools is a tool's message.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from conversations.importers.base import ParsedConversation, ParsedMessage, Report
from conversations.importers.files import Cut, TextFile, elements, loads
from conversations.importers.tree import Tree
from conversations.models import Message
from conversations.passages import digest

SOURCE = "chatgpt"
REASONING = {"thoughts", "reasoning_recap"}
# Written about the conversation, not in it: custom instructions, what ChatGPT remembers.
SETTINGS = {"user_editable_context", "model_editable_context"}
_TEXT_FIELDS = ("text", "result", "user_profile", "user_instructions", "model_set_context")
# Later seconds since 1970 would be in the year 5138: such numbers are milliseconds.
_MILLISECONDS = 1e11


class ChatGPT:
    name = "chatgpt"
    what = "conversations.json of a ChatGPT export"

    def recognises(self, head: str) -> bool:
        return head.lstrip()[:1] in {"[", "{"} and '"mapping"' in head

    def parse(self, file: TextFile, report: Report) -> Iterator[ParsedConversation]:
        try:
            for element in elements(file.chunks()):
                place = f"{file.name}, item {element.number} (line {element.line})"
                try:
                    yield _conversation(loads(element.text, element.line), place, report)
                except ValueError as error:
                    report.broken.append(f"{place}: {error}")
        except Cut as error:
            report.broken.append(f"{file.name}: {error}; the rest could not be read")


FORMAT = ChatGPT()


@dataclass(frozen=True, slots=True)
class _Said:
    role: Message.Role
    text: str
    speaker: str = ""


def _conversation(data: Any, place: str, report: Report) -> ParsedConversation:
    """Raises ValueError."""
    mapping = data.get("mapping") if isinstance(data, dict) else None
    if not isinstance(mapping, dict):
        raise ValueError("has no tree of messages (mapping)")
    tree = Tree(mapping)
    if tree.lost:
        report.skipped["messages that hang on nothing"] += tree.lost
    began = _moment(data.get("create_time")) or _moment(data.get("update_time"))
    return ParsedConversation(
        place=place,
        source=SOURCE,
        external_id=_name_of(data),
        title=data["title"] if isinstance(data.get("title"), str) else "",
        messages=_messages(tree, _branch(tree, data.get("current_node"), place, report), report),
        began=began,
        # Also what ChatGPT calls it, and older exports: not to be learned from.
        read_only=data.get("is_do_not_remember") is True,
    )


def _branch(tree: Tree, current: Any, place: str, report: Report) -> set[str]:
    if isinstance(current, str) and current in tree.order:
        return tree.path_to(current)
    newest = max(tree.leaves(), key=lambda name: _time(tree.nodes[name]), default="")
    if newest:
        report.adjusted["conversations without a current branch: the newest was taken"] += 1
    return tree.path_to(newest)


def _messages(tree: Tree, branch: set[str], report: Report) -> list[ParsedMessage]:
    said: dict[str, ParsedMessage] = {}
    for name in tree.order:
        message = _field(tree.nodes[name], "message")
        spoken = _said(message, report)
        if spoken is None:
            continue
        said[name] = ParsedMessage(
            client_id=name,
            role=spoken.role,
            content=spoken.text,
            sent_at=_moment(message.get("create_time")),
            speaker=spoken.speaker,
            parent=next((above for above in tree.above(name) if above in said), None),
            on_branch=name in branch,
        )
    return list(said.values())


def _said(message: Any, report: Report) -> _Said | None:
    """What a node says, None where it says nothing."""
    content = _field(message, "content")
    if not isinstance(content, dict):
        report.skipped["empty messages"] += 1
        return None
    kind = content.get("content_type")
    if kind in REASONING:
        report.skipped["pieces of reasoning"] += 1
        return None
    text = _text(content)
    if not text:
        report.skipped["empty messages"] += 1
        return None
    role, speaker = _role(message, str(kind))
    if role is None:
        report.skipped["messages of an unknown role"] += 1
        return None
    return _Said(role, text, speaker)


def _role(message: dict[str, Any], kind: str) -> tuple[Message.Role | None, str]:
    """Role and speaker. Only what the user saw and typed is the user's."""
    role, recipient = _field(message, "author", "role"), message.get("recipient")
    name = _field(message, "author", "name")
    if role not in Message.Role.values:
        return None, ""
    if role == Message.Role.TOOL:
        return Message.Role.TOOL, name if isinstance(name, str) else ""
    if kind in SETTINGS or _field(message, "metadata", "is_visually_hidden_from_conversation"):
        return Message.Role.SYSTEM, ""
    if role == Message.Role.ASSISTANT and isinstance(recipient, str) and recipient != "all":
        return Message.Role.TOOL, f"to {recipient}"
    return Message.Role(role), ""


def _text(content: dict[str, Any]) -> str:
    parts = content.get("parts")
    if isinstance(parts, list):
        return "\n".join(text for part in parts if (text := _part(part))).strip()
    texts = [content[field] for field in _TEXT_FIELDS if isinstance(content.get(field), str)]
    return "\n\n".join(text for text in texts if text.strip()).strip()


def _part(part: Any) -> str:
    """Text as it is, anything else as a mark: [image]."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    kind = str(part.get("content_type", ""))
    for mark in ("image", "video", "audio"):
        if mark in kind:
            return f"[{mark}]"
    return "[file]"


def _name_of(data: dict[str, Any]) -> str:
    for field in ("conversation_id", "id"):
        if isinstance(data.get(field), str) and data[field]:
            return str(data[field])
    # Stable as long as the conversation begins the same way.
    first = next(iter(data["mapping"]), "")
    return "unnamed-" + digest(f"{data.get('title')}|{data.get('create_time')}|{first}")[:32]


def _moment(value: Any) -> datetime | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    try:
        return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _time(node: Any) -> float:
    moment = _moment(_field(node, "message", "create_time"))
    return moment.timestamp() if moment else -math.inf


def _field(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
