"""Cases of a memory file, out and in. One comes in only with the conversation it tells of."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from agents.models import Agent, User
from conversations.models import Message
from memory.cases.lifecycle import LIVE, hash_of
from memory.lifecycle.returns import barred
from memory.models import Case, CaseSource
from memory.sensitive import credentials
from memory.transfer.lines import CaseLine, CaseSourcePart, ConversationName
from memory.transfer.plan import AT_ONCE, Left
from memory.transfer.record import Record
from memory.transfer.rows import Numbered, create, reviewer_of
from memory.vocabulary import CaseArchivedReason, CaseOrigin, Quality, State

# Columns that are written as they are.
PLAIN = (
    "goal", "context", "approach", "outcome", "lessons", "actors", "tags", "language",
    "withheld_for", "withheld_detail", "prompt_version", "created_at", "happened_at", "state",
    "archived_reason", "archived_from",
)  # fmt: skip
Lines = list[tuple[int, CaseLine]]


def lines_of(cases: QuerySet[Case]) -> Iterator[CaseLine]:
    # Ids are made anew on the way in, so that they order only what nothing else does.
    rows = cases.order_by("created_at", "text_hash", "agent__slug", "pk")
    batch: list[Case] = []
    for case in rows.select_related("agent", "conversation").defer("search").iterator(AT_ONCE):
        batch.append(case)
        if len(batch) == AT_ONCE:
            yield from _batch(batch)
            batch = []
    yield from _batch(batch)


def _batch(cases: Sequence[Case]) -> Iterator[CaseLine]:
    found: dict[UUID, list[CaseSourcePart]] = defaultdict(list)
    sources = CaseSource.objects.filter(case__in=[case.pk for case in cases])
    talk = "message__conversation"
    said = sources.select_related(talk).order_by(
        f"{talk}__source", f"{talk}__external_id", "message__seq"
    )
    for source in said:
        found[source.case_id].append(
            CaseSourcePart.model_construct(
                conversation=_name(source.message),
                message=source.message.client_id,
                cited=source.cited,
            )
        )
    return (_line(case, found[case.pk]) for case in cases)


def _name(message: Message) -> ConversationName:
    return message.conversation.source, message.conversation.external_id


def _line(case: Case, sources: list[CaseSourcePart]) -> CaseLine:
    decided = case.reviewer_id is not None and case.archived_from != State.PENDING
    return CaseLine.model_construct(
        **{name: getattr(case, name) for name in PLAIN},
        agent=case.agent.slug,
        conversation=(case.conversation.source, case.conversation.external_id),
        quality=Quality(case.quality),
        reviewed_by=reviewer_of(case) if decided else None,
        reviewed_at=case.reviewed_at if decided else None,
        sources=sources,
    )


class CaseWriter:
    """Takes lines when all conversations are in."""

    def __init__(self, owner: User, person: User, agents: dict[str, Agent], record: Record) -> None:
        self.owner, self.person, self.agents, self.record = owner, person, agents, record
        self.new = 0
        self.left: Counter[Left] = Counter()
        self._waiting: Lines = []

    def take(self, number: int, line: CaseLine) -> None:
        self._waiting.append((number, line))
        if len(self._waiting) == AT_ONCE:
            self.close()

    def close(self) -> None:
        lines, self._waiting = self._waiting, []
        if not lines:
            return
        messages = self._messages(line for _, line in lines)
        screen = _Screen(self, [line for _, line in lines], messages)
        accepted: Lines = []
        for number, line in lines:
            why = screen.refusal(line)
            if why is None:
                accepted.append((number, line))
            else:
                self.left[why] += 1
        self._store(accepted, messages)

    def _messages(self, lines: Iterable[CaseLine]) -> dict[tuple[UUID, str], Message]:
        parts = [part for line in lines for part in line.sources]
        talks = {
            self.record.ids[p.conversation] for p in parts if p.conversation in self.record.ids
        }
        rows = Message.objects.filter(
            owner=self.owner, conversation__in=talks, client_id__in={p.message for p in parts}
        )
        return {(row.conversation_id, row.client_id): row for row in rows.defer("speaker")}

    def sources(
        self, line: CaseLine, messages: dict[tuple[UUID, str], Message]
    ) -> list[tuple[CaseSourcePart, Message]]:
        found = []
        for part in line.sources:
            talk = self.record.ids.get(part.conversation)
            message = messages.get((talk, part.message)) if talk else None
            if message is not None:
                found.append((part, message))
        return found

    def _store(self, lines: Lines, messages: dict[tuple[UUID, str], Message]) -> None:
        rows = [(number, self._row(line)) for number, line in lines]
        create(Case, rows)
        self.new += len(rows)
        sources: list[Numbered[CaseSource]] = [
            (
                number,
                CaseSource(owner=self.owner, case=case, message=message, cited=part.cited),
            )
            for (number, line), (_, case) in zip(lines, rows, strict=True)
            for part, message in self.sources(line, messages)
        ]
        for start in range(0, len(sources), AT_ONCE):
            create(CaseSource, sources[start : start + AT_ONCE])

    def _row(self, line: CaseLine) -> Case:
        reviewer, reviewed_at = self._review(line)
        return Case(
            **{name: getattr(line, name) for name in PLAIN},
            owner=self.owner,
            agent=self.agents[line.agent],
            conversation_id=self.record.ids[line.conversation],
            quality=line.quality,
            text_hash=hash_of(line.goal, line.outcome),
            origin=CaseOrigin.IMPORT,
            reviewer=reviewer,
            reviewed_at=reviewed_at,
        )

    def _review(self, line: CaseLine) -> tuple[User | None, datetime | None]:
        """Whoever let the file in stands for what nobody had decided over when it was archived."""
        if line.archived_from == State.PENDING:
            return self.person, timezone.now()
        if line.reviewed_by is None:
            return None, line.reviewed_at
        return self.owner if line.reviewed_by == "owner" else self.person, line.reviewed_at


class _Screen:
    """Why some lines stay out, by what is here."""

    def __init__(
        self,
        writer: CaseWriter,
        lines: Sequence[CaseLine],
        messages: dict[tuple[UUID, str], Message],
    ) -> None:
        self.writer, self.messages = writer, messages
        self.barred = barred(writer.owner, {text for line in lines for text in line.texts})
        hashes = {hash_of(line.goal, line.outcome) for line in lines}
        known = Case.objects.filter(owner=writer.owner, text_hash__in=hashes)
        others = known.exclude(conversation__in=writer.record.new)
        self.known: dict[tuple[UUID, str], set[Left]] = defaultdict(set)
        for case in others.defer("search"):
            if (why := _kept_out_by(case)) is not None:
                self.known[case.agent_id, case.text_hash].add(why)

    def refusal(self, line: CaseLine) -> Left | None:
        if self.writer.record.ids.get(line.conversation) not in self.writer.record.new:
            return Left.TALK_HERE
        sources = self.writer.sources(line, self.messages)
        purged = any(message.content == Message.PURGED for _, message in sources)
        if purged or not sources or self.barred.intersection(line.texts):
            return Left.BARRED
        if any(credentials(text) for text in (*line.texts, *line.actors, *line.tags)):
            return Left.CREDENTIAL
        if line.state not in LIVE:
            return None
        place = self.writer.agents[line.agent].pk, hash_of(line.goal, line.outcome)
        return min(self.known[place], default=None)


def _kept_out_by(case: Case) -> Left | None:
    if case.state in LIVE:
        return Left.SAME_CASE
    if case.state == State.REJECTED:
        return Left.REJECTED
    return Left.BARRED if case.archived_reason == CaseArchivedReason.FORGOTTEN else None
