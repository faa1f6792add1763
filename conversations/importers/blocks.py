"""Anthropic's content blocks, as Claude.ai and Claude Code write them."""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from conversations.importers.base import ParsedMessage, Report
from conversations.importers.loose import at, items, joined, mark, string
from conversations.models import Message

REASONING = {"thinking", "redacted_thinking"}
ATTACHED = {"image", "document", "file", "audio", "video"}


@dataclass(frozen=True, slots=True)
class Piece:
    """What one speaker says within a message: words, a tool's call, its result."""

    role: Message.Role
    text: str
    speaker: str = ""


def pieces(content: Any, role: Message.Role, report: Report) -> list[Piece]:
    """In their order; those of the same speaker that follow each other are one."""
    blocks = [content] if isinstance(content, str) else items(content)
    found: list[Piece] = []
    for block in blocks:
        piece = _piece(block, role, report)
        if piece is None or not piece.text.strip():
            continue
        if found and (found[-1].role, found[-1].speaker) == (piece.role, piece.speaker):
            found[-1] = replace(piece, text=f"{found[-1].text}\n{piece.text}")
        else:
            found.append(piece)
    return found


def messages(found: list[Piece], name: str, sent_at: datetime | None) -> list[ParsedMessage]:
    """The first has the id of the whole."""
    made: list[ParsedMessage] = []
    for number, piece in enumerate(found, start=1):
        made.append(
            ParsedMessage(
                client_id=name if number == 1 else f"{name}#{number}",
                role=piece.role,
                content=piece.text.strip(),
                sent_at=sent_at,
                speaker=piece.speaker,
                parent=made[-1].client_id if made else None,
            )
        )
    return made


def called(name: Any, given: Any) -> Piece:
    """A call of a tool."""
    text = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
    return Piece(Message.Role.TOOL, text, f"to {string(name) or 'a tool'}")


def words(content: Any) -> str:
    """The text of a string or of a list of blocks."""
    if isinstance(content, str):
        return content
    return joined([one if isinstance(one, str) else _word(one) for one in items(content)])


def _word(block: Any) -> str:
    kind = string(at(block, "type"))
    return mark(kind) if kind in ATTACHED else string(at(block, "text"))


def _piece(block: Any, role: Message.Role, report: Report) -> Piece | None:
    if isinstance(block, str):
        return Piece(role, block)
    kind = string(at(block, "type"))
    if kind in REASONING:
        report.skipped["pieces of reasoning"] += 1
        return None
    if kind.endswith("tool_use"):
        return called(block.get("name"), block.get("input"))
    if kind.endswith("tool_result"):
        return Piece(Message.Role.TOOL, words(block.get("content")))
    text = _word(block)
    if not text and kind != "text":
        report.skipped["parts of an unknown kind"] += 1
    return Piece(role, text)
