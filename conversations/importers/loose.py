"""Reads values out of JSON in which any of them may be missing or of another type."""

from collections.abc import Callable, Iterator
from typing import Any

from conversations.importers.base import ParsedConversation, Report
from conversations.importers.files import TextFile
from conversations.importers.scan import Cut, elements
from conversations.passages import digest

_MARKS = ("image", "video", "audio")


def each(
    file: TextFile, report: Report, read: Callable[[Any, str], ParsedConversation]
) -> Iterator[ParsedConversation]:
    """One conversation per item of the file. `read` gets the item and its place, and may raise
    ValueError: a broken one costs only itself."""
    try:
        for element in elements(file.chunks()):
            place = f"{file.name}, item {element.number} (line {element.line})"
            try:
                yield read(element.value(), place)
            except ValueError as error:
                report.broken.append(f"{place}: {error}")
    except Cut as error:
        report.broken.append(f"{file.name}: {error}; the rest could not be read")


def at(value: Any, *names: str) -> Any:
    """What stands at this path, None if nothing does."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def identifier(value: Any) -> str:
    """A name or a number as a name."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return string(value).strip()


def unnamed(*parts: Any) -> str:
    """For a conversation without an id: the same as long as these stay the same."""
    return "unnamed-" + digest("|".join(str(part) for part in parts))[:32]


def mark(kind: Any) -> str:
    """Stands in the text for what is none: [image]."""
    return next((f"[{one}]" for one in _MARKS if one in str(kind)), "[file]")


def joined(texts: list[str]) -> str:
    return "\n".join(text for text in texts if text.strip()).strip()
