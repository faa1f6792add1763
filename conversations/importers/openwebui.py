"""Open WebUI's export: a list of chats, one, or the bare chat object; each a tree of messages."""

import re
from collections.abc import Iterator
from typing import Any

from conversations.importers.base import ParsedConversation, ParsedMessage, Report
from conversations.importers.blocks import words
from conversations.importers.files import TextFile
from conversations.importers.loose import at, each, identifier, items, mark, string, unnamed
from conversations.importers.shape import keys
from conversations.importers.times import moment
from conversations.importers.tree import Tree, branch, threaded
from conversations.models import Message

SOURCE = "open-webui"
_TREES = {"chat.history", "history.messages", "chat.messages"}
_TAG = re.compile(r"<(/?)details\b([^>]*)>|<(/?)think(?:ing)?>", re.IGNORECASE)


class OpenWebui:
    name = SOURCE
    what = "chat export (.json) of Open WebUI"

    def recognises(self, head: str) -> bool:
        return not _TREES.isdisjoint(keys(head))

    def parse(self, file: TextFile, report: Report) -> Iterator[ParsedConversation]:
        return each(file, report, lambda data, place: _conversation(data, place, report))


FORMAT = OpenWebui()


def _conversation(data: Any, place: str, report: Report) -> ParsedConversation:
    """Raises ValueError."""
    chat = at(data, "chat") or data
    said = _nodes(chat)
    tree = Tree(said)
    current = branch(
        tree,
        at(chat, "history", "currentId"),
        lambda name: moment(at(said[name], "timestamp")),
        report,
    )
    began = data.get("created_at") or chat.get("timestamp")
    title = string(data.get("title")) or string(chat.get("title"))
    name = identifier(data.get("id")) or identifier(chat.get("id"))
    return ParsedConversation(
        place=place,
        source=SOURCE,
        external_id=name or unnamed(began, next(iter(said), "")),
        title=title,
        messages=threaded(tree, current, lambda one: _message(said[one], report), report),
        began=moment(began),
    )


def _nodes(chat: Any) -> dict[str, Any]:
    """By id, with the pointers that Tree reads. Raises ValueError."""
    found = at(chat, "history", "messages")
    if isinstance(found, dict):
        return {
            name: {**node, "parent": node.get("parentId"), "children": node.get("childrenIds")}
            for name, node in found.items()
            if isinstance(node, dict)
        }
    if not isinstance(at(chat, "messages"), list):
        raise ValueError("has no messages (history)")
    nodes: dict[str, Any] = {}
    last = None
    for number, node in enumerate(chat["messages"]):
        if isinstance(node, dict):
            name = identifier(node.get("id")) or f"message-{number}"
            nodes.setdefault(name, {**node, "parent": last})
            last = name
    return nodes


def _message(node: dict[str, Any], report: Report) -> ParsedMessage | None:
    role = string(node.get("role"))
    if role not in Message.Role.values:
        report.skipped["messages of an unknown role"] += 1
        return None
    text = words(node.get("content"))
    if role == Message.Role.ASSISTANT:
        text = _without_reasoning(text, report)
    marks = [mark(f"{at(file, 'type')} {at(file, 'content_type')}") for file in _files(node)]
    text = "\n".join([text, *marks]).strip()
    if not text:
        report.skipped["empty messages"] += 1
        return None
    return ParsedMessage(
        client_id="",
        role=Message.Role(role),
        content=text,
        sent_at=moment(node.get("timestamp")),
        speaker=string(node.get("modelName")) if role == Message.Role.ASSISTANT else "",
    )


def _files(node: dict[str, Any]) -> list[Any]:
    return items(node.get("files"))


def _without_reasoning(text: str, report: Report) -> str:
    """Without the folded parts that the program writes (reasoning, tools), also nested ones and one
    that was cut off. A <details> that the model itself wrote has no type, and stays."""
    kept: list[str] = []
    end = depth = 0
    opened: list[bool] = []
    for tag in _TAG.finditer(text):
        closing = tag[1] == "/" or tag[3] == "/"
        if not closing:
            ours = tag[2] is None or "type=" in tag[2]
            if ours and depth == 0:
                kept.append(text[end : tag.start()])
                report.skipped["pieces of reasoning"] += 1
            opened.append(ours)
            depth += ours
        elif opened and opened.pop():
            depth -= 1
            end = tag.end() if depth == 0 else end
    return "".join([*kept, "" if depth else text[end:]])
