"""What a format gives and is given. To add one, write a module beside this one with a FORMAT."""

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Protocol

from conversations import importers
from conversations.importers.files import TextFile
from conversations.models import Message


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """As in the file. None where it does not say: then `sent_at` is the neighbour's, `--me` decides
    on `from_owner`, and `on_branch` stays what it is, or yes. A naive `sent_at` is on the owner's
    clock.

    A parent that is not among the conversation's messages counts as none.
    """

    client_id: str
    role: Message.Role
    content: str
    sent_at: datetime | None
    zone: str = ""
    speaker: str = ""
    from_owner: bool | None = None
    parent: str | None = None
    replaces: str | None = None
    on_branch: bool | None = None


@dataclass(frozen=True, slots=True)
class ParsedConversation:
    """`place` tells a person where in the file it is; `began` serves messages without a time.

    One that is too long for memory may come in pieces, one after the other with the same ids.
    """

    place: str
    source: str
    external_id: str
    title: str
    messages: list[ParsedMessage]
    began: datetime | None = None
    read_only: bool = False
    sensitive: bool = False
    # People talk among themselves, so even a single name need not be the owner's.
    group: bool = False


@dataclass
class Broken:
    """Lines for a person. The first ones are kept, as a large file may be broken throughout."""

    MOST = 1000
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def append(self, line: str) -> None:
        self.count += 1
        if self.count <= self.MOST:
            self.lines.append(line)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[str]:
        return iter(self.lines)


@dataclass
class Report:
    """What a parser could not or would not take."""

    # In plain words with the place: broken, so a person may want to look.
    broken: Broken = field(default_factory=Broken)
    # By design, counted by what they are: "empty messages", "pieces of reasoning".
    skipped: Counter[str] = field(default_factory=Counter)
    # Taken, but not quite as they were: "characters replaced", "times inherited".
    adjusted: Counter[str] = field(default_factory=Counter)


class Format(Protocol):
    name: str
    what: str

    def recognises(self, head: str) -> bool:
        """From the first characters of a file (files.HEAD)."""

    def parse(self, file: TextFile, report: Report) -> Iterator[ParsedConversation]:
        """One at a time, so that a large file need not fit in memory."""


@cache
def formats() -> dict[str, Format]:
    names = [module.name for module in pkgutil.iter_modules(importers.__path__)]
    modules = [importlib.import_module(f"{importers.__name__}.{name}") for name in names]
    found: list[Format] = [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    return {format.name: format for format in found}


class Unrecognised(Exception):
    """Which format a file is in can't be told."""


def format_of(file: TextFile, name: str = "auto") -> Format:
    """Raises Unrecognised."""
    if name != "auto":
        return formats()[name]
    found = _recognised(file)
    if len(found) != 1:
        known = ", ".join(f"{format.name} ({format.what})" for format in formats().values())
        raise Unrecognised(
            f"{file.name} is in none of the formats I know, or I can't tell in which: {known}. "
            "Name one with --format."
        )
    return found[0]


def formats_of(
    files: Sequence[TextFile], report: Report, name: str = "auto"
) -> list[tuple[TextFile, Format]]:
    """A single file must be in a format that I know; beside others, one that is not is left out.

    Raises Unrecognised.
    """
    if len(files) == 1:
        return [(files[0], format_of(files[0], name))]
    chosen: list[tuple[TextFile, Format]] = []
    for file in files:
        found = [format for format in _recognised(file) if name in {"auto", format.name}]
        if len(found) == 1:
            chosen.append((file, found[0]))
        else:
            why = "is in none of the formats I know" if name == "auto" else "is not in this format"
            report.skipped[f"{file.name}, which {why}"] += 1
    if not chosen:
        raise Unrecognised(f"None of the {len(files)} files is in a format that I know.")
    return chosen


def _recognised(file: TextFile) -> list[Format]:
    head = file.head()
    return [format for format in formats().values() if format.recognises(head)]
