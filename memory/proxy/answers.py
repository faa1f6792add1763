"""Reads an answer along while it passes, for the record. What it can't read it leaves unread."""

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Protocol

from conversations import rules

# Of a whole answer; one line of a stream has to fit as well.
READ_BYTES = 8_000_000
STREAM = "text/event-stream"
END = b"[DONE]"


@dataclass(frozen=True, slots=True)
class Answer:
    """`whole`: it came to its end. `text` is empty where nobody can say which of several the client
    goes on with, or where there are only calls of tools."""

    whole: bool
    text: str = ""


class Reader(Protocol):
    def feed(self, chunk: bytes) -> None: ...

    def answer(self) -> Answer: ...


def reader_for(content_type: str, content_encoding: str) -> Reader:
    if content_encoding not in {"", "identity"}:
        return Unread()
    return Streamed() if content_type.split(";")[0].strip().lower() == STREAM else Plain()


class Unread:
    """Compressed although we asked it not to be."""

    def feed(self, chunk: bytes) -> None:
        pass

    def answer(self) -> Answer:
        return Answer(whole=False)


class Plain:
    def __init__(self) -> None:
        self._body = bytearray()

    def feed(self, chunk: bytes) -> None:
        if len(self._body) <= READ_BYTES:
            self._body += chunk

    def answer(self) -> Answer:
        choices = _choices(bytes(self._body)) if len(self._body) <= READ_BYTES else None
        if not choices:
            return Answer(whole=False)
        texts = [_content(choice.get("message")) for choice in choices]
        return Answer(whole=True, text=_stored(texts[0]) if len(texts) == 1 else "")


class Streamed:
    """Server-sent events: lines `data: {…}`, a choice's text in pieces, and `[DONE]` at the end."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._read = 0
        self._pieces: dict[Any, list[str]] = defaultdict(list)
        self._finished: set[Any] = set()
        self._broken = False

    def feed(self, chunk: bytes) -> None:
        self._read += len(chunk)
        if self._read > READ_BYTES:
            self._broken = True
        if self._broken:
            return
        *lines, rest = (bytes(self._line) + chunk).split(b"\n")
        self._line = bytearray(rest)
        for line in lines:
            self._take(line)

    def answer(self) -> Answer:
        unfinished = set(self._pieces) - self._finished
        if self._broken or unfinished or not self._finished:
            return Answer(whole=False)
        if len(self._pieces) != 1:
            return Answer(whole=True)
        return Answer(whole=True, text=_stored("".join(*self._pieces.values())))

    def _take(self, line: bytes) -> None:
        name, _, value = line.strip().partition(b":")
        if name != b"data" or not value.strip():
            return
        if value.strip() == END:
            self._finished |= set(self._pieces)
            return
        choices = _choices(value)
        self._broken = self._broken or choices is None
        for choice in choices or ():
            number = choice.get("index", 0)
            self._pieces[number].append(_content(choice.get("delta")))
            if choice.get("finish_reason"):
                self._finished.add(number)


def _choices(raw: bytes) -> list[dict[str, Any]] | None:
    """None where it is an error, or nothing that we know."""
    try:
        choices = json.loads(raw)["choices"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(choices, list) or not all(isinstance(one, dict) for one in choices):
        return None
    return choices


def _content(message: Any) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) else ""


def _stored(text: str) -> str:
    whole = rules.mended(text)[0]
    return whole if len(whole.encode()) < rules.CONTENT_BYTES else ""
