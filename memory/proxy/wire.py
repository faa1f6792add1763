"""The little of OpenAI's protocol that the proxy reads; all else passes through unread. Pure."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from conversations import rules

USER, ASSISTANT, TOOL = SPOKEN = ("user", "assistant", "tool")
# Open WebUI has the model do chores of its own, such as a title for the chat, which begin so.
CHORE = "### Task:"


class Unreadable(Exception):
    """The body is no JSON object."""


@dataclass(frozen=True, slots=True)
class Turn:
    role: str
    text: str


def parse(raw: bytes) -> dict[str, Any]:
    """Raises Unreadable."""
    try:
        body = json.loads(raw, parse_constant=_no_json)
        json.dumps(body, allow_nan=False)  # 1e999 is read as infinity, which can't be written
    except (ValueError, RecursionError):
        raise Unreadable("The body is not valid JSON in UTF-8.") from None
    if not isinstance(body, dict):
        raise Unreadable("The body must be a JSON object.")
    return body


def _no_json(constant: str) -> None:
    raise ValueError(constant)


def turns(body: dict[str, Any]) -> tuple[Turn, ...]:
    """What was said, oldest first: no system prompt, no calls of tools, no pictures."""
    said = ((one.get("role"), _text(one.get("content"))) for one in _messages(body))
    return tuple(Turn(str(role), text) for role, text in said if role in SPOKEN and text.strip())


def last_words(body: dict[str, Any]) -> str:
    """The user's newest message, empty where it is only a picture."""
    asked = _last_asked(body)
    return "" if asked is None else _text(_messages(body)[asked].get("content"))


def is_chore(body: dict[str, Any]) -> bool:
    return last_words(body).lstrip().startswith(CHORE)


def beginning(body: dict[str, Any]) -> str:
    """All up to the user's newest message: the same through all steps that tools take for it."""
    asked = _last_asked(body)
    return json.dumps(_messages(body)[: 0 if asked is None else asked + 1])


def with_block(body: dict[str, Any], block: str) -> bytes:
    """The request with the block behind the user's newest message, inside it: no server's order of
    roles or tool calls is disturbed, and all before the block stays as it will be sent next time.
    """
    messages = list(body["messages"])
    at = _last_asked(body)
    if at is None:
        raise ValueError("Nobody asked anything.")
    content = messages[at].get("content")
    if isinstance(content, list):
        told: Any = [*content, {"type": "text", "text": block}]
    else:
        told = f"{content}\n\n{block}"
    messages[at] = {**messages[at], "content": told}
    # Escaped as ASCII, so that halves of surrogate pairs go on as they came.
    return json.dumps({**body, "messages": messages}, separators=(",", ":")).encode()


def _messages(body: dict[str, Any]) -> Sequence[dict[str, Any]]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return ()
    return messages


def _last_asked(body: dict[str, Any]) -> int | None:
    asked = (at for at, one in enumerate(_messages(body)) if one.get("role") == USER)
    return max(asked, default=None)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return rules.mended(content)[0]
    if not isinstance(content, list):
        return ""
    return rules.mended("\n".join(_texts(content)))[0]


def _texts(parts: Sequence[Any]) -> Iterator[str]:
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else None
        if isinstance(text, str) and part.get("type") == "text":
            yield text
