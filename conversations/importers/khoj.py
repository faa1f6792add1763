"""Khoj's exported conversations, and what its history API answers: the log of a chat, in a row.

The export gives conversations no id: when and with which agent they began has to do.
"""

from collections.abc import Iterator
from datetime import UTC
from typing import Any

from conversations.importers.base import ParsedConversation, ParsedMessage, Report
from conversations.importers.files import TextFile
from conversations.importers.loose import at, each, identifier, items, string, unnamed
from conversations.importers.shape import keys
from conversations.importers.times import moment
from conversations.models import Message

SOURCE = "khoj"
_SIGNS = {"conversation_log", "response.chat", "chat[].by"}
_ROLES = {"you": Message.Role.USER, "khoj": Message.Role.ASSISTANT}


class Khoj:
    name = SOURCE
    what = "conversations.json of a Khoj export"

    def recognises(self, head: str) -> bool:
        return not _SIGNS.isdisjoint(keys(head))

    def parse(self, file: TextFile, report: Report) -> Iterator[ParsedConversation]:
        return each(file, report, lambda data, place: _conversation(data, place, report))


FORMAT = Khoj()


def _conversation(data: Any, place: str, report: Report) -> ParsedConversation:
    """Raises ValueError."""
    data = at(data, "response") or data
    log = at(data, "conversation_log", "chat") or at(data, "chat")
    if not isinstance(log, list):
        raise ValueError("has no log of a chat (conversation_log)")
    agent = at(data, "agent", "name") or at(data, "agent")
    began = moment(data.get("created_at"))
    name = identifier(data.get("conversation_id")) or identifier(data.get("id"))
    if began is not None and began.tzinfo is None:
        began = began.replace(tzinfo=UTC)
    return ParsedConversation(
        place=place,
        source=SOURCE,
        external_id=name
        or unnamed(data.get("created_at"), agent, at(log[0] if log else None, "created")),
        title=string(data.get("title")) or string(data.get("slug")),
        messages=list(_messages(log, string(agent), report)),
        began=began,
    )


def _messages(log: list[Any], agent: str, report: Report) -> Iterator[ParsedMessage]:
    for number, entry in enumerate(log):
        by = string(at(entry, "by"))
        if by not in _ROLES:
            report.skipped["messages of an unknown role"] += 1
            continue
        text = _text(entry)
        if not text:
            report.skipped["empty messages"] += 1
            continue
        # A question and its answer share the id of their turn.
        turn = identifier(entry.get("turnId"))
        yield ParsedMessage(
            client_id=f"{turn or number}-{by}",
            role=_ROLES[by],
            content=text,
            sent_at=moment(entry.get("created")),
            speaker=agent if by == "khoj" else "",
        )


def _text(entry: dict[str, Any]) -> str:
    message = entry.get("message")
    texts = [message] if isinstance(message, str) else [string(one) for one in items(message)]
    marks = ["[image]" for _ in items(entry.get("images"))]
    if string(at(entry, "intent", "type")).startswith("text-to-image"):
        texts = ["[image]"]
    return "\n".join([*texts, *marks]).strip()
