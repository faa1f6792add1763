"""SillyTavern's chats: JSONL, the first line about the chat, then a message per line.

The answers that were swiped away are kept off the branch.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from conversations.importers.base import ParsedConversation, ParsedMessage, Report
from conversations.importers.files import TextFile
from conversations.importers.loose import at, identifier, items, string, unnamed
from conversations.importers.scan import Element
from conversations.importers.shape import keys
from conversations.importers.times import moment
from conversations.models import Message

SOURCE = "sillytavern"
_WRITTEN = ("%B %d, %Y %I:%M%p", "%b %d, %Y %I:%M%p")
_STAMP = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})\s*@\s*(\d{1,2})h\s*(\d{1,2})m\s*(?:(\d{1,2})s)?(?:\s*(\d+)ms)?"
)


class SillyTavern:
    name = SOURCE
    what = "chat .jsonl of SillyTavern"

    def recognises(self, head: str) -> bool:
        found = keys(head)
        return (
            {"mes", "is_user"} <= found
            or {"user_name", "character_name"} <= found
            or ("chat_metadata" in found and "messages" not in found)
        )

    def parse(self, file: TextFile, report: Report) -> Iterator[ParsedConversation]:
        chat = _Chat(file.path.stem if file.member is None else file.name, report)
        for line in file.lines():
            try:
                chat.take(line)
            except ValueError as error:
                report.broken.append(f"{file.name}, line {line.number}: {error}")
        yield chat.conversation(file.name)


FORMAT = SillyTavern()


class _Chat:
    def __init__(self, stem: str, report: Report) -> None:
        self.stem, self.report = stem, report
        self.header: dict[str, Any] = {}
        self.messages: list[ParsedMessage] = []
        self.last: str | None = None

    def take(self, line: Element) -> None:
        """Raises ValueError."""
        entry = line.value()
        if not isinstance(entry, dict):
            raise ValueError("is no object")
        if "mes" not in entry:
            self.header = self.header or entry
            return
        self._add(entry, line.number, *self._texts(entry))

    def conversation(self, place: str) -> ParsedConversation:
        names = [string(self.header.get("character_name"))]
        names += [m.speaker for m in self.messages if m.role == Message.Role.ASSISTANT]
        known = [name for name in names if name and name != "unused"]
        return ParsedConversation(
            place=place,
            source=SOURCE,
            external_id=self._name(),
            title=known[0] if known else self.stem,
            messages=self.messages,
            began=_moment(self.header.get("create_date")),
        )

    def _name(self) -> str:
        """That of the chat, or made from what does not change as it grows."""
        name = identifier(at(self.header, "chat_metadata", "integrity"))
        began = self.header.get("create_date")
        if name or not began:
            return name or self.stem
        return unnamed(self.header.get("character_name"), self.header.get("user_name"), began)

    def _texts(self, entry: dict[str, Any]) -> tuple[list[str], int]:
        """All that were given as this message, and which of them stands."""
        swipes = [string(one) for one in items(entry.get("swipes"))]
        chosen = entry.get("swipe_id")
        mes = string(entry.get("mes"))
        if not isinstance(chosen, int) or not 0 <= chosen < len(swipes):
            return [mes], 0
        swipes[chosen] = mes
        return swipes, chosen

    def _add(self, entry: dict[str, Any], line: int, texts: list[str], chosen: int) -> None:
        above = self.last
        for number, text in enumerate(texts):
            if not text.strip():
                self.report.skipped["empty messages"] += 1
                continue
            name = f"{line}.{number}"
            self.messages.append(_message(entry, name, text, above, number == chosen))
            if number == chosen:
                self.last = name


def _message(
    entry: dict[str, Any], name: str, text: str, above: str | None, stands: bool
) -> ParsedMessage:
    role = Message.Role.USER if entry.get("is_user") is True else Message.Role.ASSISTANT
    if entry.get("is_system") is True:
        role = Message.Role.SYSTEM
    return ParsedMessage(
        client_id=name,
        role=role,
        content=text.strip(),
        sent_at=_moment(entry.get("send_date")),
        speaker=string(entry.get("name")),
        # Whoever the user plays.
        from_owner=role == Message.Role.USER,
        parent=above,
        on_branch=stands,
    )


def _moment(value: Any) -> datetime | None:
    found = moment(value)
    if found is not None or not isinstance(value, str):
        return found
    stamp = _STAMP.match(value.strip())
    if stamp:
        year, month, day, hour, minute, second, milli = (int(part or 0) for part in stamp.groups())
        return _iso(f"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}", milli)
    return next((found for form in _WRITTEN if (found := _written(value, form))), None)


def _iso(text: str, milli: int) -> datetime | None:
    found = moment(text)
    return found and found.replace(microsecond=min(milli, 999) * 1000)


def _written(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text.strip(), form)
    except ValueError:
        return None
