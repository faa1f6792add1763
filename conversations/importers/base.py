"""What a format gives and is given. To add one, write a module beside this one with a FORMAT."""

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterator
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
    on `from_owner`, and `on_branch` stays what it is, or yes.

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
    """`place` tells a person where in the file it is; `began` serves messages without a time."""

    place: str
    source: str
    external_id: str
    title: str
    messages: list[ParsedMessage]
    began: datetime | None = None
    read_only: bool = False
    sensitive: bool = False


@dataclass
class Report:
    """What a parser could not or would not take."""

    # In plain words with the place: broken, so a person may want to look.
    broken: list[str] = field(default_factory=list)
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
    head = file.head()
    found = [format for format in formats().values() if format.recognises(head)]
    if len(found) != 1:
        known = ", ".join(f"{format.name} ({format.what})" for format in formats().values())
        raise Unrecognised(
            f"{file.name} is in none of the formats I know, or I can't tell in which: {known}. "
            "Name one with --format."
        )
    return found[0]
