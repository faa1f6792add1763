"""Makes what a file holds storable: characters, lengths, times, pointers. All of it is counted."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, tzinfo

from conversations import rules
from conversations.importers.base import ParsedConversation, ParsedMessage, Report
from conversations.passages import digest

CUT = "\n[… {} characters left out …]\n"
# Four bytes a character at most, and the mark.
KEPT = rules.CONTENT_BYTES // 4 - 100


def ready(
    conversation: ParsedConversation, report: Report, clock: tzinfo = UTC
) -> ParsedConversation:
    """Every message of the result has a time, and points only at messages before it.

    `clock` is the owner's, on which times without a zone are.
    """
    messages = [_mended(message, report, clock) for message in conversation.messages]
    messages = list(_distinct(messages, report))
    began = _usable(conversation.began, Report(), clock)
    messages = _timed(messages, began, report)
    return replace(
        conversation,
        external_id=_short_id(_text(conversation.external_id, report)),
        title=_text(conversation.title, report)[:300],
        messages=messages,
    )


def _mended(message: ParsedMessage, report: Report, clock: tzinfo) -> ParsedMessage:
    return replace(
        message,
        client_id=_short_id(_text(message.client_id, report)),
        content=_content(_text(message.content, report), report),
        speaker=_text(message.speaker, report)[:120],
        parent=_short_id(_text(message.parent, report)) if message.parent else None,
        replaces=_short_id(_text(message.replaces, report)) if message.replaces else None,
        sent_at=_usable(message.sent_at, report, clock),
    )


def _text(text: str, report: Report) -> str:
    mended, count = rules.mended(text)
    if count:
        report.adjusted["unstorable characters replaced"] += count
    return mended


def _short_id(name: str) -> str:
    return name if len(name) <= rules.ID_LENGTH else f"{name[:100]}-{digest(name)}"


def _content(content: str, report: Report) -> str:
    if len(content) <= KEPT or len(content.encode()) < rules.CONTENT_BYTES:
        return content
    report.adjusted["messages shortened to 1 MB"] += 1
    half = KEPT // 2
    return content[:half] + CUT.format(len(content) - 2 * half) + content[-half:]


def _usable(moment: datetime | None, report: Report, clock: tzinfo) -> datetime | None:
    if moment is None:
        return None
    try:
        if moment.utcoffset() is None:
            moment = moment.replace(tzinfo=clock).astimezone(UTC)
        return rules.moment(moment)
    except (ValueError, OverflowError):  # the second at the very ends of the calendar
        report.adjusted["impossible times dropped"] += 1
        return None


def _distinct(messages: list[ParsedMessage], report: Report) -> Iterator[ParsedMessage]:
    """The first of each id; pointers to what does not come before are dropped."""
    seen: set[str] = set()
    for message in messages:
        if message.client_id in seen:
            report.skipped["messages whose id comes twice"] += 1
            continue
        parent = message.parent if message.parent in seen else None
        replaces = message.replaces if message.replaces in seen else None
        if parent == replaces:
            parent = None
        seen.add(message.client_id)
        yield replace(message, parent=parent, replaces=replaces)


def _timed(
    messages: list[ParsedMessage], began: datetime | None, report: Report
) -> list[ParsedMessage]:
    """A message without a time takes that of the one before it, the first that of the next."""
    missing = sum(message.sent_at is None for message in messages)
    if not missing:
        return messages
    first = next((m.sent_at for m in messages if m.sent_at is not None), None)
    time = first or began
    if time is None:
        time = datetime.now(UTC)
        report.adjusted["messages given the time of the import, as the file has none"] += missing
    else:
        report.adjusted["messages without a time given their neighbour's"] += missing
    return list(_carried(messages, time))


def _carried(messages: list[ParsedMessage], time: datetime) -> Iterator[ParsedMessage]:
    times: dict[str | None, datetime] = {}
    for message in messages:
        time = message.sent_at or times.get(message.parent, time)
        times[message.client_id] = time
        yield replace(message, sent_at=time)
