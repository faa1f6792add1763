"""LibreChat's export of a conversation: messages in a row with parents, or nested in `children`."""

from collections.abc import Iterator
from typing import Any

from conversations.importers.base import ParsedConversation, ParsedMessage, Report
from conversations.importers.files import TextFile
from conversations.importers.loose import at, each, identifier, items, joined, mark, string, unnamed
from conversations.importers.shape import keys
from conversations.importers.times import moment
from conversations.importers.tree import Tree, branch, threaded
from conversations.models import Message

SOURCE = "librechat"
_REASONING = {"think", "thinking"}


class LibreChat:
    name = SOURCE
    what = "conversation export (.json) of LibreChat"

    def recognises(self, head: str) -> bool:
        found = keys(head)
        return {"conversationId", "messages"} <= found and (
            "exportAt" in found or "messages[].messageId" in found
        )

    def parse(self, file: TextFile, report: Report) -> Iterator[ParsedConversation]:
        return each(file, report, lambda data, place: _conversation(data, place, report))


FORMAT = LibreChat()


def _conversation(data: Any, place: str, report: Report) -> ParsedConversation:
    """Raises ValueError."""
    if not isinstance(at(data, "messages"), list):
        raise ValueError("has no list of messages")
    said = _nodes(data["messages"], report)
    tree = Tree(said)
    current = branch(tree, None, lambda name: _sent_at(said, tree, name), report)
    return ParsedConversation(
        place=place,
        source=SOURCE,
        external_id=identifier(data.get("conversationId")) or unnamed(next(iter(said), "")),
        title=string(data.get("title")),
        messages=threaded(tree, current, lambda name: _message(said[name], report), report),
        # Older versions write only the clock, which is no date.
        began=moment(data.get("exportAt")),
    )


def _nodes(messages: list[Any], report: Report) -> dict[str, Any]:
    """By id, parents first, without recursion."""
    nodes: dict[str, Any] = {}
    waiting: list[tuple[Any, Any]] = [(one, None) for one in reversed(messages)]
    while waiting:
        node, above = waiting.pop()
        if not isinstance(node, dict):
            report.skipped["messages that are no objects"] += 1
            continue
        name = identifier(node.get("messageId")) or f"message-{len(nodes)}"
        if name in nodes:
            report.skipped["messages whose id comes twice"] += 1
        else:
            parent = above or node.get("parentMessageId")
            nodes[name] = {**node, "parent": parent, "children": None}
            waiting += [(one, name) for one in reversed(items(node.get("children")))]
    return nodes


def _sent_at(said: dict[str, Any], tree: Tree, name: str) -> Any:
    """Its own time, or that of the nearest message above it, as the last ones may have none."""
    times = (moment(said[one].get("createdAt")) for one in (name, *tree.above(name)))
    return next((time for time in times if time is not None), None)


def _message(node: dict[str, Any], report: Report) -> ParsedMessage | None:
    by_user = node.get("isCreatedByUser")
    if not isinstance(by_user, bool):
        by_user = string(node.get("sender")).lower() == "user"
    text = _text(node, report)
    if not text:
        report.skipped["empty messages"] += 1
        return None
    return ParsedMessage(
        client_id="",
        role=Message.Role.USER if by_user else Message.Role.ASSISTANT,
        content=text,
        sent_at=moment(node.get("createdAt")),
        speaker="" if by_user else string(node.get("sender")),
    )


def _text(node: dict[str, Any], report: Report) -> str:
    parts = [_part(part, report) for part in items(node.get("content"))]
    marks = [mark(at(file, "type")) for file in items(node.get("files"))]
    return joined([joined(parts) or string(node.get("text")), *marks])


def _part(part: Any, report: Report) -> str:
    kind = string(at(part, "type"))
    if kind in _REASONING:
        report.skipped["pieces of reasoning"] += 1
        return ""
    if kind == "tool_call":
        report.skipped["calls of tools"] += 1
        return ""
    text = at(part, "text")
    text = at(text, "value") if isinstance(text, dict) else text
    return mark(kind) if kind.startswith("image") else string(text)
