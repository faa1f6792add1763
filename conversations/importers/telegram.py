"""Telegram Desktop's result.json: one chat, or all of them.

People talk among themselves: an export of everything says who its owner is, that of one chat does
not (--me). What is forwarded was said by somebody else. Long chats come in pieces.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from conversations.importers.base import ParsedConversation, ParsedMessage, Report
from conversations.importers.files import TextFile
from conversations.importers.loose import at, identifier, items, joined, mark, string
from conversations.importers.scan import Cut, Listed, listed
from conversations.importers.shape import keys
from conversations.importers.times import moment
from conversations.models import Message

SOURCE = "telegram"
PIECE = 2000
_LISTS = ("messages", "chats.list[].messages", "left_chats.list[].messages")
_SIGNS = {"messages[].from_id", "messages[].actor_id", "messages[].date_unixtime", "chats.list"}
_USER_ID = re.compile(r'"personal_information"\s*:.*?"user_id"\s*:\s*(\d+)', re.DOTALL)
_QUARTER = timedelta(minutes=15)
_FARTHEST = timedelta(hours=14)


class Telegram:
    name = SOURCE
    what = "result.json of Telegram Desktop"

    def recognises(self, head: str) -> bool:
        found = keys(head)
        return not _SIGNS.isdisjoint(found) or {"about", "personal_information"} <= found

    def parse(self, file: TextFile, report: Report) -> Iterator[ParsedConversation]:
        me = _owner(file)
        for _, of_chat in groupby(_listed(file, report), key=lambda one: one.owner):
            yield from _pieces(of_chat, file.name, me, report)


FORMAT = Telegram()


@dataclass(frozen=True, slots=True)
class _Chat:
    name: str
    title: str
    kind: str
    me: str

    @property
    def is_channel(self) -> bool:
        return self.kind.endswith("channel")

    @property
    def is_bot(self) -> bool:
        return self.kind == "bot_chat"

    @property
    def is_own(self) -> bool:
        return self.kind == "saved_messages"


def _owner(file: TextFile) -> str:
    """Their id, with which an export of everything begins."""
    head = file.head()
    if "personal_information.user_id" not in keys(head):
        return ""
    found = _USER_ID.search(head)
    return f"user{found[1]}" if found else ""


def _listed(file: TextFile, report: Report) -> Iterator[Listed]:
    try:
        yield from listed(file.chunks(), _LISTS)
    except Cut as error:
        report.broken.append(f"{file.name}: {error}; the rest could not be read")


def _pieces(
    said: Iterator[Listed], file: str, me: str, report: Report
) -> Iterator[ParsedConversation]:
    chat: _Chat | None = None
    messages: list[ParsedMessage] = []
    place = file
    for one in said:
        if chat is None:
            chat = _chat(one.before, me)
            place = f"{file}, chat {chat.title or chat.name}"
        try:
            message = _message(one.element.value(), chat, report)
        except ValueError as error:
            report.broken.append(f"{place}, message {one.element.number}: {error}")
            continue
        messages += [message] if message else []
        if len(messages) == PIECE:
            yield _conversation(chat, place, messages)
            messages = []
    if chat is not None and messages:
        yield _conversation(chat, place, messages)


def _chat(about: dict[str, Any], me: str) -> _Chat:
    return _Chat(
        name=identifier(about.get("id")) or "unnamed",
        title=string(about.get("name")),
        kind=string(about.get("type")),
        me=me,
    )


def _conversation(chat: _Chat, place: str, messages: list[ParsedMessage]) -> ParsedConversation:
    return ParsedConversation(
        place=place,
        source=SOURCE,
        external_id=chat.name,
        title=chat.title,
        messages=messages,
        group=not chat.is_own and not chat.is_bot,
    )


def _message(data: Any, chat: _Chat, report: Report) -> ParsedMessage | None:
    """Raises ValueError."""
    if not isinstance(data, dict):
        raise ValueError("is no object")
    if data.get("type") != "message":
        report.skipped["notices of the program"] += 1
        return None
    text = joined([_text(data.get("text")), *_marks(data)])
    if not text:
        report.skipped["empty messages"] += 1
        return None
    sent_at, zone = _when(data)
    forwarded = string(data.get("forwarded_from"))
    speaker = string(data.get("from")) or identifier(data.get("from_id"))
    by_bot = chat.is_bot and speaker == chat.title
    return ParsedMessage(
        client_id=identifier(data.get("id")) or f"{data.get('date_unixtime')}",
        role=Message.Role.ASSISTANT if by_bot else Message.Role.USER,
        content=text,
        sent_at=sent_at,
        zone=zone,
        speaker=forwarded or speaker,
        from_owner=False if forwarded or by_bot else _from_owner(data, chat, speaker),
    )


def _from_owner(data: dict[str, Any], chat: _Chat, speaker: str) -> bool | None:
    if chat.is_channel:
        return False
    if chat.is_own or chat.is_bot:
        return True
    if chat.me:
        return identifier(data.get("from_id")) == chat.me
    # A chat of two is named after the other one.
    return False if chat.kind == "personal_chat" and speaker == chat.title else None


def _when(data: dict[str, Any]) -> tuple[datetime | None, str]:
    """`date` is on the clock of the computer that exported, and so tells its offset."""
    sent_at, written = moment(data.get("date_unixtime")), moment(data.get("date"))
    if sent_at is None or written is None or written.tzinfo is not None:
        return sent_at or written, ""
    ahead = written - sent_at.replace(tzinfo=None)
    if ahead % _QUARTER or not ahead or abs(ahead) > _FARTHEST:
        return sent_at, ""
    sign, minutes = "-" if ahead < timedelta(0) else "+", abs(ahead) // timedelta(minutes=1)
    return sent_at, f"{sign}{minutes // 60:02}:{minutes % 60:02}"


def _text(text: Any) -> str:
    """A string, or a list of strings and of pieces with a type."""
    if isinstance(text, str):
        return text
    return "".join(one if isinstance(one, str) else string(at(one, "text")) for one in items(text))


def _marks(data: dict[str, Any]) -> list[str]:
    if data.get("photo"):
        return ["[image]"]
    if data.get("media_type") or data.get("file"):
        kind = "audio" if data.get("media_type") == "voice_message" else data.get("media_type")
        return [mark(kind or data.get("mime_type"))]
    return []
