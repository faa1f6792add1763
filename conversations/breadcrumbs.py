"""What a summary loses first: paths, ids, amounts, links, tickets, words in quotation marks.

Kept verbatim at compaction, each a passage of its own that points at the message it is from.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from conversations import passages
from conversations.models import Conversation, Message, Passage

MOST = 40
LENGTH = 200  # characters of one
_READ = 12_000  # characters of one message
_SHORTEST = 3
# Breadcrumbs have a stretch of their own, where none is the neighbour of another.
STRETCH, _APART = 0, 10

# Most telling first. The summariser's own choice is before all of them.
_KINDS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\bhttps?://[^\s<>\"'`)\]}]{4,300}",
        r"(?<![\w/.])(?:~|\.{1,2})?/(?:[\w.@+-]+/)+[\w.@+-]*[\w@+-]"
        r"|\b[A-Za-z]:\\(?:[\w .+-]{1,80}\\)*[\w.+-]+",
        r"\b[A-Z][A-Z0-9]{1,9}-\d{1,7}\b|(?<!\w)#\d{1,7}\b",
        r"(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|SEK|NOK|DKK|JPY)\s?)\d[\d.,\u00a0']*\d|(?:[$€£¥₹])\d"
        r"|\b\d[\d.,\u00a0']*\s?(?:[€£¥₹%]|(?:USD|EUR|GBP|CHF|SEK|NOK|DKK|JPY|kg|km|GB|MB|ms)\b)",
        r"(?<![\\/])\b[\w-]{1,80}\.(?:py|js|ts|tsx|rs|go|java|md|txt|json|ya?ml|toml|sql|sh|csv|pdf|docx?|xlsx?)\b",
        r"\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b"
        r"|\b[0-9a-f]{7,40}(?<=[0-9])\b|\bv?\d+\.\d+(?:\.\d+)+\b",
        r"\"[^\"\n]{3,160}\"|“[^”\n]{3,160}”|„[^“”\n]{3,160}[“”]|«[^»\n]{3,160}»|「[^」\n]{2,80}」|`[^`\n]{3,160}`",
    )
)  # fmt: skip
_KEYS = re.compile(
    r"^\W{0,4}KEYS[^\w\n]{0,4}:[^\w\n]{0,4}(?P<keys>.+)$", re.IGNORECASE | re.MULTILINE
)
_QUOTES = '"“”„«»「」`'


def unredacted(text: str) -> str:
    return text


# Takes secrets out of a text. The app that knows them sets it when it is ready, since imports run
# the other way.
redact: Callable[[str], str] = unredacted


def store(conversation: Conversation, messages: Sequence[Message], summary: Message | None) -> None:
    """Of the messages that are being summarised away, newest first where there are too many."""
    found: dict[str, Message] = {}
    if summary is not None:
        found |= dict.fromkeys(keys_of(summary.content), summary)
    said = [message for message in messages if message.content != Message.PURGED]
    for pattern in _KINDS:
        for message in reversed(said):
            for text in _matches(pattern, redact(message.content[:_READ])):
                found.setdefault(text, message)
    begin = Passage.objects.filter(conversation=conversation, stretch=STRETCH).count()
    rows = [
        _passage(text, message, place)
        for place, (text, message) in enumerate(list(found.items())[:MOST], begin)
    ]
    Passage.objects.bulk_create(rows, ignore_conflicts=True)


def keys_of(summary: str) -> list[str]:
    """What follows `KEYS:` in a summary, parted by commas, semicolons or bars."""
    lines = (match["keys"] for match in _KEYS.finditer(redact(summary)))
    return list(_told(part for line in lines for part in re.split(r"[,;|、，；]", line)))


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    return _told(match[0] for match in pattern.finditer(text))


def _told(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        text = text.strip().strip(_QUOTES).rstrip(".,;:")[:LENGTH]
        if len(text) >= _SHORTEST and "[redacted]" not in text:
            yield text


def _passage(text: str, message: Message, place: int) -> Passage:
    return Passage(
        owner_id=message.owner_id,
        conversation_id=message.conversation_id,
        message=message,
        kind=Passage.Kind.BREADCRUMB,
        text=text,
        # A message may be nothing but the same text; it is no breadcrumb.
        text_hash=passages.digest(f"breadcrumb\0{text}"),
        language=passages.language_of(message.content),
        said_at=message.sent_at,
        stretch=STRETCH,
        place=_APART * place,
    )
