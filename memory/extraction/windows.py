"""What the observer reads at a time, and how it is put before a language model as data."""

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cached_property
from zoneinfo import ZoneInfo

from django.db.models import QuerySet

from agents.models import OwnerSettings
from conversations.models import Conversation, Message
from memory.policy import WindowMessage

MESSAGES = 20
CONTEXT = 4
# Characters of one message; longer ones are cut in the middle.
LIMITS = {Message.Role.TOOL: 500}
LIMIT = 1_500
# A digest is one message that holds a whole mission, and a document's are all worth reading whole.
_LONG = (Message.Kind.OUTCOME, Message.Kind.DOCUMENT)
LONG_LIMIT = 6_000


@dataclass(frozen=True)
class Window:
    """The next unread stretch of a conversation, `first_seq` to `last_seq`.

    `messages` are those of it that can be read; the others are only passed over. `context` was read
    before: it may be quoted beside a new message (an assistant's claim that the owner affirms),
    never alone.
    """

    conversation: Conversation
    first_seq: int
    last_seq: int
    messages: tuple[Message, ...]
    context: tuple[Message, ...]
    zone: tzinfo

    @cached_property
    def numbered(self) -> dict[int, Message]:
        """The numbers that the model gets instead of ids: from 1, context first."""
        return dict(enumerate((*self.context, *self.messages), start=1))

    def is_new(self, number: int) -> bool:
        return number > len(self.context)

    @property
    def may_hold_facts(self) -> bool:
        """Only the owner's words, digests and documents are evidence: nothing else is worth a
        question."""
        return any(m.from_owner or m.kind in _LONG for m in self.messages)

    @property
    def is_document(self) -> bool:
        return any(m.kind == Message.Kind.DOCUMENT for m in self.messages)

    def for_policy(self) -> dict[int, WindowMessage]:
        return {n: self._for_policy(n, message) for n, message in self.numbered.items()}

    def _for_policy(self, number: int, message: Message) -> WindowMessage:
        return WindowMessage(
            handle=number,
            role=message.role,
            from_owner=message.from_owner,
            content=message.content,
            sent_at=message.sent_at.astimezone(clock_of(message, self.zone)),
            kind=message.kind,  # type: ignore[arg-type]
        )


def next_window(conversation: Conversation, up_to: int | None = None) -> Window | None:
    """Reads the conversation's marks anew. None when everything, or all up to a seq, was read, or
    nothing may be."""
    conversation.refresh_from_db(fields=["cursor_seq", "last_seq", "read_only"])
    if conversation.read_only:
        return None
    return window_after(conversation, conversation.cursor_seq, up_to)


def window_after(
    conversation: Conversation, cursor: int, up_to: int | None = None
) -> Window | None:
    """The stretch behind `cursor`, up to that seq or the conversation's end as it was loaded."""
    last = conversation.last_seq if up_to is None else min(conversation.last_seq, up_to)
    if cursor >= last:
        return None
    readable = _readable(conversation)
    unread = list(readable.filter(seq__gt=cursor, seq__lte=last).order_by("seq")[: MESSAGES + 1])
    context = readable.filter(seq__lte=cursor).order_by("-seq")[:CONTEXT]
    return Window(
        conversation=conversation,
        first_seq=cursor + 1,
        last_seq=unread[MESSAGES].seq - 1 if len(unread) > MESSAGES else last,
        messages=tuple(unread[:MESSAGES]),
        context=tuple(reversed(context)),
        zone=_zone_of(conversation),
    )


def still_stands(window: Window) -> bool:
    """Whether every message that was read is still to be read: not purged, not off the branch, and
    the conversation not excluded."""
    if Conversation.objects.filter(pk=window.conversation.pk, read_only=True).exists():
        return False
    read = [message.pk for message in window.numbered.values()]
    return _readable(window.conversation).filter(pk__in=read).count() == len(read)


def _zone_of(conversation: Conversation) -> tzinfo:
    settings = OwnerSettings.objects.filter(owner=conversation.owner_id)
    return ZoneInfo(settings.values_list("time_zone", flat=True).get())


def _readable(conversation: Conversation) -> QuerySet[Message]:
    return Message.objects.filter(conversation=conversation, on_branch=True).exclude(
        role=Message.Role.SYSTEM
    ).exclude(content=Message.PURGED)  # fmt: skip


def clock_of(message: Message, owner_zone: tzinfo) -> tzinfo:
    """The owner's clock: the zone that came with the owner's message, else that of the settings.

    UTC says nothing about where somebody is: clients send it when they know no better.
    """
    if not message.from_owner or message.zone in ("UTC", "+00:00", "Z", ""):
        return owner_zone
    return zone_named(message.zone) or owner_zone


def zone_named(name: str) -> tzinfo | None:
    """From an IANA name or an offset such as +05:30."""
    if offset := re.fullmatch(r"([+-])(\d\d):(\d\d)", name):
        span = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(-span if offset[1] == "-" else span)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


# --- as text -------------------------------------------------------------------------------------


def render(window: Window) -> str:
    """Every tag carries a nonce of this call, which no message can know and so none can close."""
    nonce = new_nonce()
    return fenced("window", nonce, (
        _render_message(n, message, window, nonce) for n, message in window.numbered.items()
    ))  # fmt: skip


def _render_message(number: int, message: Message, window: Window, nonce: str) -> str:
    attributes = {
        "n": str(number),
        "from": _role(message),
        "name": message.speaker,
        "at": _moment(message.sent_at.astimezone(clock_of(message, window.zone))),
        "read": "" if window.is_new(number) else "before",
    }
    shown = "".join(f' {key}="{_attribute(value)}"' for key, value in attributes.items() if value)
    text = escape(cut(message.content, _limit(message)))
    return f"<message-{nonce}{shown}>\n{text}\n</message-{nonce}>"


def _role(message: Message) -> str:
    if message.kind != Message.Kind.SAID:
        return "digest" if message.kind == Message.Kind.OUTCOME else message.kind
    if message.role == Message.Role.USER:
        return "owner" if message.from_owner else "another person"
    return message.role


def _limit(message: Message) -> int:
    if message.kind in _LONG:
        return LONG_LIMIT
    return LIMITS.get(Message.Role(message.role), LIMIT)


def _moment(at: datetime) -> str:
    return at.strftime("%a %Y-%m-%d %H:%M %z")


def _attribute(value: str) -> str:
    return re.sub(r"[\s\"<>]+", " ", value)[:60].strip()


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of the text, its middle replaced by a mark that says how much."""
    if len(text) <= limit:
        return text
    half = limit // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[… {left_out} characters left out …]\n{text[-half:]}"


def new_nonce() -> str:
    return secrets.token_hex(4)


def fenced(name: str, nonce: str, parts: Iterable[str]) -> str:
    return "\n".join((f"<{name}-{nonce}>", *parts, f"</{name}-{nonce}>"))


# Our own tags in any spelling, and the control marks of chat templates, which some servers obey.
_LOOK_ALIKES = re.compile(
    r"[<＜](?=\s*[/／]?\s*(?:window|message|facts?|candidates?)\b|\||\s*/?\s*s\s*>|<\s*/?\s*sys)"
    r"|\[(?=\s*/?\s*INST\s*\])",
    re.IGNORECASE,
)


def escape(text: str) -> str:
    """Only look-alikes change, so that quotes stay verbatim."""
    return _LOOK_ALIKES.sub(lambda mark: "⟦" if mark[0] == "[" else "‹", text)
