"""ChatGPT's conversations.json: a list of conversations, or one, each a tree of messages.

The branch that was last open is the one from `current_node` up. Every other branch is kept, off the
branch. The model's private reasoning is left out; what it told its tools is a tool's message.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from conversations.importers.base import ParsedConversation, ParsedMessage, Report
from conversations.importers.files import TextFile
from conversations.importers.loose import at, each, mark, unnamed
from conversations.importers.shape import keys
from conversations.importers.times import moment
from conversations.importers.tree import Tree, branch, threaded
from conversations.models import Message

SOURCE = "chatgpt"
REASONING = {"thoughts", "reasoning_recap"}
# Written about the conversation, not in it: custom instructions, what ChatGPT remembers.
SETTINGS = {"user_editable_context", "model_editable_context"}
_TEXT_FIELDS = ("text", "result", "user_profile", "user_instructions", "model_set_context")


class ChatGPT:
    name = "chatgpt"
    what = "conversations.json of a ChatGPT export"

    def recognises(self, head: str) -> bool:
        return "mapping" in keys(head)

    def parse(self, file: TextFile, report: Report) -> Iterator[ParsedConversation]:
        return each(file, report, lambda data, place: _conversation(data, place, report))


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
    current = branch(tree, data.get("current_node"), lambda name: _sent_at(mapping[name]), report)
    return ParsedConversation(
        place=place,
        source=SOURCE,
        external_id=_name_of(data),
        title=data["title"] if isinstance(data.get("title"), str) else "",
        messages=threaded(tree, current, lambda name: _message(mapping[name], report), report),
        began=moment(data.get("create_time")) or moment(data.get("update_time")),
        # Also what ChatGPT calls it, and older exports: not to be learned from.
        read_only=data.get("is_do_not_remember") is True,
    )


def _message(node: Any, report: Report) -> ParsedMessage | None:
    said = _said(at(node, "message"), report)
    if said is None:
        return None
    return ParsedMessage("", said.role, said.text, _sent_at(node), speaker=said.speaker)


def _said(message: Any, report: Report) -> _Said | None:
    """What a node says, None where it says nothing."""
    content = at(message, "content")
    if not isinstance(content, dict):
        report.skipped["empty messages"] += 1
        return None
    kind = str(content.get("content_type"))
    if kind in REASONING:
        report.skipped["pieces of reasoning"] += 1
        return None
    text = _text(content)
    if not text:
        report.skipped["empty messages"] += 1
        return None
    role, speaker = _role(message, kind)
    if role is None:
        report.skipped["messages of an unknown role"] += 1
        return None
    return _Said(role, text, speaker)


def _role(message: dict[str, Any], kind: str) -> tuple[Message.Role | None, str]:
    """Role and speaker. Only what the user saw and typed is the user's."""
    role, recipient = at(message, "author", "role"), message.get("recipient")
    name = at(message, "author", "name")
    if role not in Message.Role.values:
        return None, ""
    if role == Message.Role.TOOL:
        return Message.Role.TOOL, name if isinstance(name, str) else ""
    if kind in SETTINGS or at(message, "metadata", "is_visually_hidden_from_conversation"):
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
    return mark(part.get("content_type"))


def _name_of(data: dict[str, Any]) -> str:
    for field in ("conversation_id", "id"):
        if isinstance(data.get(field), str) and data[field]:
            return str(data[field])
    # Stable as long as the conversation begins the same way.
    first = next(iter(data["mapping"]), "")
    return unnamed(data.get("title"), data.get("create_time"), first)


def _sent_at(node: Any) -> datetime | None:
    return moment(at(node, "message", "create_time"))
