"""Claude.ai's conversations.json: a list of conversations, each a list of messages.

`text` is often empty; what was said is in `content`.
"""

from collections.abc import Iterator
from typing import Any

from conversations.importers import blocks
from conversations.importers.base import ParsedConversation, ParsedMessage, Report
from conversations.importers.blocks import Piece
from conversations.importers.files import TextFile
from conversations.importers.loose import at, each, identifier, items, string, unnamed
from conversations.importers.shape import keys
from conversations.importers.times import moment
from conversations.models import Message

SOURCE = "claude-ai"
_ROLES = {"human": Message.Role.USER, "assistant": Message.Role.ASSISTANT}


class ClaudeAi:
    name = SOURCE
    what = "conversations.json of a Claude.ai export"

    def recognises(self, head: str) -> bool:
        return "chat_messages" in keys(head)

    def parse(self, file: TextFile, report: Report) -> Iterator[ParsedConversation]:
        return each(file, report, lambda data, place: _conversation(data, place, report))


FORMAT = ClaudeAi()


def _conversation(data: Any, place: str, report: Report) -> ParsedConversation:
    """Raises ValueError."""
    said = at(data, "chat_messages")
    if not isinstance(said, list):
        raise ValueError("has no list of messages (chat_messages)")
    began = data.get("created_at")
    return ParsedConversation(
        place=place,
        source=SOURCE,
        external_id=identifier(data.get("uuid")) or unnamed(data.get("name"), began),
        title=string(data.get("name")),
        messages=[
            message
            for number, one in enumerate(said, start=1)
            for message in _messages(one, number, report)
        ],
        began=moment(began),
    )


def _messages(data: Any, number: int, report: Report) -> list[ParsedMessage]:
    role = _ROLES.get(string(at(data, "sender")))
    if role is None:
        report.skipped["messages of an unknown role"] += 1
        return []
    found = _pieces(data, role, report)
    if not found:
        report.skipped["empty messages"] += 1
    name = identifier(data.get("uuid")) or f"message-{number}"
    return blocks.messages(found, name, moment(data.get("created_at")))


def _pieces(data: dict[str, Any], role: Message.Role, report: Report) -> list[Piece]:
    found = blocks.pieces(data.get("content"), role, report)
    if not found:
        found = blocks.pieces(string(data.get("text")), role, report)
    attached = items(data.get("attachments"))
    if any(at(file, "extracted_content") for file in attached):
        # What was in a document is not what the user said.
        report.skipped["texts of attached files"] += 1
    marks = ["[file]" for _ in [*attached, *items(data.get("files"))]]
    return [*found, Piece(role, "\n".join(marks))] if marks and not found else _with(found, marks)


def _with(found: list[Piece], marks: list[str]) -> list[Piece]:
    if not marks:
        return found
    last = found[-1]
    return [*found[:-1], Piece(last.role, "\n".join([last.text, *marks]), last.speaker)]
