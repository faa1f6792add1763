"""Our own format (docs/import-format.md): one conversation per line, messages as in the API."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError

from conversations.importers.base import ParsedConversation, ParsedMessage, Report
from conversations.importers.files import TextFile
from conversations.importers.shape import keys
from conversations.schemas import Id, MessageIn, Source, Strict, Text, not_ours, place_of


class JsonlMessage(MessageIn):
    # Longer than the API takes: an import cuts what is too long instead of refusing it.
    content: Text
    on_branch: bool | None = None

    def parsed(self) -> ParsedMessage:
        return ParsedMessage(
            client_id=self.id,
            role=self.role,
            content=self.content,
            sent_at=self.sent_at,
            zone=self.zone or "",
            speaker=self.speaker,
            from_owner=self.from_owner,
            parent=self.parent,
            replaces=self.replaces,
            on_branch=self.on_branch,
        )


class JsonlConversation(Strict):
    id: Id
    source: Annotated[Source, AfterValidator(not_ours)] = "jsonl"
    title: Text = ""
    read_only: bool = False
    sensitive: bool = False
    # Looked at one by one, so that a broken one costs only itself.
    messages: Annotated[list[Any], Field(min_length=1)]


class Jsonl:
    name = "jsonl"
    what = "our own format, one conversation per line"

    def recognises(self, head: str) -> bool:
        first = head.lstrip().split("\n", 1)[0]
        if not first.startswith("{") or not {"id", "messages", "messages[].role"} <= keys(head):
            return False
        return "\n" not in head.strip() or first.rstrip().endswith("}")

    def parse(self, file: TextFile, report: Report) -> Iterator[ParsedConversation]:
        for line in file.lines():
            place = f"{file.name}, line {line.number}"
            try:
                yield _conversation(line.value(), place, report)
            except ValidationError as error:
                report.broken.append(f"{place}: {_first(error)}")
            except ValueError as error:
                report.broken.append(f"{place}: {error}")


FORMAT = Jsonl()


def _conversation(data: Any, place: str, report: Report) -> ParsedConversation:
    """Raises ValidationError."""
    found = JsonlConversation.model_validate(data)
    messages = []
    for number, message in enumerate(found.messages):
        try:
            messages.append(JsonlMessage.model_validate(message).parsed())
        except ValidationError as error:
            report.broken.append(f"{place}: {_first(error, f'messages[{number}]')}")
    return ParsedConversation(
        place=place,
        source=found.source,
        external_id=found.id,
        title=found.title,
        messages=messages,
        read_only=found.read_only,
        sensitive=found.sensitive,
    )


def _first(error: ValidationError, within: str = "") -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    place = place_of(first["loc"])
    joint = "." if within and place else ""
    return f"{within}{joint}{place}: {first['msg'].removeprefix('Value error, ')}"
