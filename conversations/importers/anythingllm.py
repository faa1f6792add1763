"""AnythingLLM's chat export as JSON: a row per exchange, of all workspaces mixed.

A workspace is a conversation, for the export names no thread. Its other exports (CSV, JSONL for
training) hold no times or no ids.
"""

from collections.abc import Iterator
from typing import Any

from conversations.importers.base import ParsedConversation, ParsedMessage, Report
from conversations.importers.files import TextFile
from conversations.importers.loose import at, identifier, items, string
from conversations.importers.scan import Cut, Element, elements
from conversations.importers.shape import keys
from conversations.importers.times import moment
from conversations.models import Message

SOURCE = "anythingllm"
PIECE = 2000
# Written where there is nobody to name.
_NOBODY = {"", "API", "unknown user"}


class AnythingLlm:
    name = SOURCE
    what = "chat export (JSON) of AnythingLLM"

    def recognises(self, head: str) -> bool:
        return {"prompt", "response", "sent_at"} <= keys(head)

    def parse(self, file: TextFile, report: Report) -> Iterator[ParsedConversation]:
        waiting: dict[str, list[ParsedMessage]] = {}
        try:
            for row in elements(file.chunks()):
                workspace = _take(row, waiting, file.name, report)
                if workspace is not None and len(waiting[workspace]) >= PIECE:
                    yield _conversation(workspace, waiting.pop(workspace), file.name)
        except Cut as error:
            report.broken.append(f"{file.name}: {error}; the rest could not be read")
        for workspace, messages in waiting.items():
            yield _conversation(workspace, messages, file.name)


FORMAT = AnythingLlm()


def _take(
    row: Element, waiting: dict[str, list[ParsedMessage]], file: str, report: Report
) -> str | None:
    try:
        data = row.value()
        messages = list(_messages(data, report))
    except ValueError as error:
        report.broken.append(f"{file}, item {row.number} (line {row.line}): {error}")
        return None
    workspace = string(data.get("workspace"))
    waiting.setdefault(workspace, []).extend(messages)
    return workspace


def _conversation(workspace: str, messages: list[ParsedMessage], file: str) -> ParsedConversation:
    return ParsedConversation(
        place=f"{file}, workspace {workspace or 'without a name'}",
        source=SOURCE,
        external_id=workspace or "unnamed",
        title=workspace,
        messages=messages,
    )


def _messages(data: Any, report: Report) -> Iterator[ParsedMessage]:
    """Raises ValueError."""
    name = identifier(at(data, "id"))
    if not name:
        raise ValueError("has no id")
    user = string(data.get("username"))
    marks = ["[image]" for _ in items(data.get("attachments"))]
    asked = "\n".join([string(data.get("prompt")), *marks]).strip()
    answered = string(data.get("response")).strip()
    for part, role, text in (
        ("prompt", Message.Role.USER, asked),
        ("response", Message.Role.ASSISTANT, answered),
    ):
        if text:
            yield ParsedMessage(
                client_id=f"{name}-{part}",
                role=role,
                content=text,
                sent_at=moment(data.get("sent_at")),
                speaker="" if user in _NOBODY or part == "response" else user,
            )
        else:
            report.skipped["empty messages"] += 1
