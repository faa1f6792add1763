"""Brings a parsed file into the record: one transaction per conversation, so that a run that was
stopped goes on where it stopped, and a second one adds nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone

from agents.gate import require_on
from agents.models import Agent, OwnerSettings
from conversations import branches, record
from conversations.importers.base import (
    Format,
    ParsedConversation,
    ParsedMessage,
    Report,
    formats_of,
)
from conversations.importers.files import TextFile
from conversations.importers.mending import ready
from conversations.importers.packs import opened
from conversations.models import Conversation, Import, Message
from conversations.record import Incoming, Into, Known, Refused

Source = tuple[TextFile, Format]


class WhoIsOwner(Exception):
    """Several people speak, and nothing says which of them is the owner."""

    def __init__(self, names: Iterable[str], me: str | None) -> None:
        self.names, self.me = sorted(names), me
        people = ", ".join(self.names) or "nobody by name"
        asked = "Say which of them you are with --me NAME" if me is None else f"None is {me!r}"
        super().__init__(f"{asked}: {people}.")


@dataclass
class Survey:
    """A first reading, before anything is stored."""

    conversations: int = 0
    # People by name of whom the file does not say whether they are the owner.
    speakers: set[str] = field(default_factory=set)
    # Whether people talk among themselves somewhere.
    group: bool = False

    def check(self, me: str | None) -> None:
        """Raises WhoIsOwner."""
        if me is None and (len(self.speakers) > 1 or (self.group and self.speakers)):
            raise WhoIsOwner(self.speakers, me)
        if me is not None and not any(_same(name, me) for name in self.speakers):
            raise WhoIsOwner(self.speakers, me)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with a file. `me` is the owner's name in it; `sensitive` holds for all of it."""

    agent: Agent
    me: str | None = None
    sensitive: bool = False
    dry_run: bool = False


@dataclass
class Tally:
    conversations: int = 0
    continued: int = 0
    unchanged: int = 0
    messages: int = 0
    off_branch: int = 0
    known: int = 0

    def as_counts(self, report: Report) -> dict[str, object]:
        return {
            **vars(self),
            "left_out": len(report.broken),
            "skipped": dict(report.skipped),
            "adjusted": dict(report.adjusted),
        }


@contextmanager
def sources_at(
    path: Path, format: str, plan: Plan, report: Report
) -> Iterator[tuple[list[Source], Survey]]:
    """What is at a path, once it is known in which formats, and who speaks.

    Raises Unreadable, Unrecognised, WhoIsOwner."""
    with opened(path, report) as files:
        sources = formats_of(files, report, format)
        found = survey(sources)
        found.check(plan.me)
        yield sources, found


def survey(sources: Sequence[Source]) -> Survey:
    found = Survey()
    for file, format in sources:
        for conversation in _parsed(file, format, Report()):
            speakers = {m.speaker for m in conversation.messages if _could_be_owner(m)} - {""}
            found.conversations += 1
            found.speakers |= speakers
            found.group |= conversation.group and bool(speakers)
    return found


def bring_in(
    sources: Sequence[Source], name: str, plan: Plan, tally: Tally, report: Report
) -> Iterator[str]:
    """Yields the place of each conversation when it is done. `name` is that of the file, folder or
    archive, which is one import. Raises MemoryOff."""
    row = None if plan.dry_run else _begin(sources, name, plan)
    clock = ZoneInfo(OwnerSettings.objects.get(owner=plan.agent.owner).time_zone)
    seen: set[tuple[str, str]] = set()
    for file, format in sources:
        for parsed in _parsed(file, format, report):
            _bring_one(ready(parsed, report, clock), plan, row, tally, report, seen)
            yield parsed.place
    if row is not None:
        row.finished_at, row.counts = timezone.now(), tally.as_counts(report)
        row.save(update_fields=["finished_at", "counts"])


def _parsed(file: TextFile, format: Format, report: Report) -> Iterator[ParsedConversation]:
    yield from format.parse(file, report)
    if file.failure:
        report.broken.append(f"{file.failure}; the rest could not be read")
    if file.foreign:
        report.adjusted["bytes that are no UTF-8, taken for Windows' Western alphabet"] += (
            file.foreign
        )


def _begin(sources: Sequence[Source], name: str, plan: Plan) -> Import:
    kinds = {format.name for _, format in sources}
    with transaction.atomic():
        require_on(plan.agent.owner)
        return Import.objects.create(
            owner=plan.agent.owner,
            format=kinds.pop() if len(kinds) == 1 else "several",
            file_name=name[-255:],
        )


def _bring_one(
    conversation: ParsedConversation,
    plan: Plan,
    row: Import | None,
    tally: Tally,
    report: Report,
    seen: set[tuple[str, str]],
) -> None:
    if not conversation.messages:
        report.skipped["empty conversations"] += 1
        return
    try:
        new, known = _merge(_into(conversation, plan, row), conversation.messages, plan, report)
    except Refused as error:
        report.broken.append(f"{conversation.place}: {error}")
        return
    name = (conversation.source, conversation.external_id)
    _count(tally, new, known, first=name not in seen)
    seen.add(name)


def _count(tally: Tally, new: list[Message], known: int, *, first: bool) -> None:
    """A further piece of a conversation adds to the messages only."""
    tally.messages += len(new)
    tally.off_branch += sum(not message.on_branch for message in new)
    tally.known += known
    if first:
        tally.conversations += bool(new and not known)
        tally.continued += bool(new and known)
        tally.unchanged += not new


def _into(conversation: ParsedConversation, plan: Plan, row: Import | None) -> Into:
    return Into(
        agent=plan.agent,
        source=conversation.source,
        external_id=conversation.external_id,
        title=conversation.title,
        read_only=True if conversation.read_only else None,
        sensitive=True if conversation.sensitive or plan.sensitive else None,
        imported_by=row,
    )


def _incoming(message: ParsedMessage, me: str | None) -> Incoming:
    assert message.sent_at is not None  # noqa: S101 - ready() fills it in
    from_owner = message.from_owner
    if from_owner is None and me is not None and message.speaker:
        from_owner = message.role == Message.Role.USER and _same(message.speaker, me)
    return Incoming(
        client_id=message.client_id,
        role=message.role,
        content=message.content,
        sent_at=message.sent_at,
        zone=message.zone,
        speaker=message.speaker,
        from_owner=from_owner,
        parent=message.parent,
        replaces=message.replaces,
        on_branch=message.on_branch is not False,
    )


def _merge(
    into: Into, parsed: Sequence[ParsedMessage], plan: Plan, report: Report
) -> tuple[list[Message], int]:
    """Adds what is new and follows the branch; what is stored stays. Raises Refused, MemoryOff."""
    messages = [_incoming(message, plan.me) for message in parsed]
    with transaction.atomic():
        require_on(into.agent.owner)
        conversation = record.opened(into)
        stored = record.known(conversation, (message.client_id for message in messages))
        new = record.append(
            conversation,
            [("", message) for message in messages if message.client_id not in stored],
            stored,
            activity_at=max(message.sent_at for message in messages),
        )
        _follow_branch(conversation, parsed, stored)
        transaction.set_rollback(plan.dry_run)
    differing = sum(m.client_id in stored and not stored[m.client_id].says(m) for m in messages)
    if differing:
        report.adjusted["messages that differ from what is stored, which stays"] += differing
    return new, len(stored)


def _follow_branch(
    conversation: Conversation, parsed: Sequence[ParsedMessage], stored: Mapping[str, Known]
) -> None:
    branch = {
        stored[message.client_id].id: message.on_branch
        for message in parsed
        if message.client_id in stored and message.on_branch is not None
    }
    left = branches.follow(conversation=conversation, branch=branch)
    branches.tell(conversation=conversation, left=left)


def _could_be_owner(message: ParsedMessage) -> bool:
    return message.role == Message.Role.USER and message.from_owner is None


def _same(name: str, me: str) -> bool:
    return name.strip().casefold() == me.strip().casefold()
