"""The stage that reads conversations for cases: a classifier finds the exchanges, a writer writes
them down, and policy lets them wait for the owner.

No transaction is open while a model thinks. The gate, the lease and the mark up to which the
conversation was read are checked again in the one that writes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from agents.audit import POLICY, Actor
from agents.gate import require_on
from agents.models import User
from conversations.models import Conversation, Message
from memory import llm
from memory.cases import lifecycle, vectors
from memory.cases.due import due
from memory.cases.find import classify, part_of, write
from memory.cases.neighbours import on_file
from memory.cases.schema import Exchange
from memory.cases.scope import cases_of
from memory.cases.screen import Again, Dropped, Verdict, judge
from memory.cases.values import CaseConflict, CaseDraft, SameCase
from memory.consolidation.journal import Journal, journal_of
from memory.consolidation.values import Change, Detail
from memory.extraction.apply import WindowChanged
from memory.extraction.lease import leased, renew
from memory.extraction.windows import Window, still_stands, window_after
from memory.lifecycle.values import Tombstoned
from memory.models import Case, CaseReading, ConsolidationChange
from memory.vocabulary import CaseArchivedReason, Gate

STAGE = "cases"
NOTHING, READ, PROPOSE, EVIDENCE, DROP, FAILED = (
    "nothing", "read", "propose", "evidence", "drop", "failed"
)  # fmt: skip
# Stretches of at most 20 messages that one run reads; the others are the next day's.
WINDOWS = 20
# A stretch that fails so often is passed over; a run that meets so many failures ends.
ATTEMPTS = 3
FAILURES = 3
NO_MODEL = "No language model is configured, so no cases are written."
WORTH_IT = "An exchange worth keeping; the case waits for you."
ON_FILE = "Another exchange tells of a case that is on file."


def run(*, owner: User, now: datetime, dry_run: bool = False) -> list[Change]:
    """Reads what is new since the last run. Raises MemoryOff and LeaseTaken before anything is
    read, LlmError when the model fails: what was done before it stands.

    A dry run asks no model: it lists what would be read.
    """
    with transaction.atomic():
        require_on(owner)
    if not any(map(llm.configured, (llm.GENERAL, llm.PRIVATE))):
        return [Change(STAGE, NOTHING, NO_MODEL, reversible=False)]
    conversations = list(due(owner, now)[:WINDOWS])
    if dry_run:
        return [_would_read(conversation) for conversation in conversations]
    if not conversations:
        return []
    journal = journal_of(owner, now)
    before = len(journal.noted)
    with leased(owner):
        _Pass(journal).over(conversations)
    return journal.noted[before:]


def undo(change: ConsolidationChange, actor: Actor) -> None:
    """What nobody has decided over is withdrawn. Raises LifecycleError."""
    case = cases_of(change.owner).select_related("owner").filter(pk=change.others[0]).first()
    if case is None:
        raise lifecycle.NotAllowed("The case was purged since.")
    why = CaseArchivedReason.UNDONE
    lifecycle.archive(case=case, why=why, actor=actor, reason="consolidation undone")


def _would_read(conversation: Conversation) -> Change:
    unread = conversation.last_seq - conversation.case_seq  # type: ignore[attr-defined]
    return Change(
        STAGE,
        READ,
        "Would be read for exchanges worth keeping.",
        objects=(conversation.pk,),
        reversible=False,
        detail={"messages": unread},
    )


@dataclass
class _Pass:
    """One run of the stage."""

    journal: Journal
    windows: int = 0
    failures: int = 0
    born: list[Case] = field(default_factory=list)

    def over(self, conversations: Iterable[Conversation]) -> None:
        try:
            for conversation in conversations:
                if self.windows < WINDOWS:
                    self._read_on(conversation)
        finally:
            vectors.store(self.born)

    def _read_on(self, conversation: Conversation) -> None:
        seq: int = conversation.case_seq  # type: ignore[attr-defined]
        while self.windows < WINDOWS and (window := window_after(conversation, seq)) is not None:
            self.windows += 1
            try:
                self._apply(window, self._judge(window))
            except (llm.LlmBadReply, llm.LlmRefused) as error:
                self._failed(window, error)
                return
            except WindowChanged:  # the next run sees how it is then
                return
            seq = window.last_seq

    def _judge(self, window: Window) -> list[Verdict]:
        if not _could_hold_a_case(window):
            return []
        route = llm.route_for(window.conversation)
        if route is None:  # taken away meanwhile
            raise WindowChanged
        self._renew()
        found = self.journal.count(lambda: classify(window, route))
        return [self._written(window, exchange, route) for exchange in found.exchanges]

    def _written(self, window: Window, exchange: Exchange, route: llm.Route) -> Verdict:
        part = part_of(window, exchange)
        if part is None:
            return Dropped(Gate.BAD_HANDLE)
        known = on_file(window.conversation, exchange.goal)
        self._renew()
        reply = self.journal.count(lambda: write(part, known, route))
        return judge(reply, part, known)

    def _renew(self) -> None:
        with leased(self.journal.owner) as lease:
            renew(lease)

    def _apply(self, window: Window, verdicts: Sequence[Verdict]) -> None:
        """All or nothing. Raises MemoryOff, LeaseLost, WindowChanged: then nothing was written.

        Order of locks: the owner's switch, the lease, the conversation, then facts and cases.
        """
        with self.journal.step(f"cases of conversation {window.conversation.pk}"):
            _move_mark(window)
            if not still_stands(window):
                raise WindowChanged
            written = [_write(verdict, window) for verdict in verdicts]
            for change, _ in written:
                self.journal.note(change)
        self.born += [case for _, case in written if case is not None]

    def _failed(self, window: Window, error: llm.LlmError) -> None:
        """A stretch that the model can't read must not stop the others for ever."""
        self.failures += 1
        with self.journal.step("a stretch could not be read for cases"):
            given_up = _count_failure(window)
            why = f"{error} The stretch is passed over." if given_up else str(error)
            about = (window.conversation.pk,)
            self.journal.note(Change(STAGE, FAILED, why[:300], objects=about, reversible=False))
        if self.failures >= FAILURES:
            raise error


def _could_hold_a_case(window: Window) -> bool:
    """A digest, or words of the owner's that somebody answered."""
    if any(message.kind == Message.Kind.OUTCOME for message in window.messages):
        return True
    spoken = {message.from_owner for message in window.messages}
    return spoken == {True, False}


def _move_mark(window: Window) -> None:
    conversation = window.conversation
    Conversation.objects.select_for_update(no_key=True).get(pk=conversation.pk)
    reading, _ = CaseReading.objects.select_for_update().get_or_create(
        conversation=conversation, defaults={"owner_id": conversation.owner_id}
    )
    if reading.seq != window.first_seq - 1:
        raise WindowChanged
    reading.seq, reading.failures, reading.read_at = window.last_seq, 0, timezone.now()
    reading.save(update_fields=["seq", "failures", "read_at"])


def _count_failure(window: Window) -> bool:
    """Whether the stretch is given up."""
    with transaction.atomic():
        reading, _ = CaseReading.objects.select_for_update().get_or_create(
            conversation=window.conversation, defaults={"owner_id": window.conversation.owner_id}
        )
        reading.failures += 1
        gives_up = reading.failures >= ATTEMPTS
        if gives_up:
            reading.seq, reading.failures = max(reading.seq, window.last_seq), 0
        reading.save(update_fields=["seq", "failures"])
    return gives_up


def _write(verdict: Verdict, window: Window) -> tuple[Change, Case | None]:
    reason = f"cases of conversation {window.conversation.pk}"
    try:
        if isinstance(verdict, CaseDraft):
            case = lifecycle.propose(draft=verdict, actor=POLICY, reason=reason)
            return _proposed(case), case
        if isinstance(verdict, Again):
            lifecycle.add_sources(
                case=verdict.case, draft=verdict.draft, actor=POLICY, reason=reason
            )
            return _again(verdict.case), None
        return _dropped(verdict.gate, window), None
    except SameCase as same:
        live = same.existing.state in lifecycle.LIVE
        if live and isinstance(verdict, CaseDraft):
            return _write(Again(same.existing, verdict), window)
        return _dropped(Gate.SAME_AS_REJECTED, window), None
    except CaseConflict:
        return _dropped(Gate.SAME_AS_REJECTED, window), None
    except Tombstoned:
        return _dropped(Gate.TOMBSTONED, window), None


def _proposed(case: Case) -> Change:
    detail: Detail = {"conversation": str(case.conversation_id), "quality": str(case.quality)}
    return Change(STAGE, PROPOSE, WORTH_IT, objects=(case.pk,), detail=detail)


def _again(case: Case) -> Change:
    return Change(STAGE, EVIDENCE, ON_FILE, objects=(case.pk,), reversible=False)


def _dropped(gate: Gate, window: Window) -> Change:
    return Change(
        STAGE,
        DROP,
        f"A case was dropped: {gate.label}.",
        objects=(window.conversation.pk,),
        reversible=False,
        detail={"gate": gate.value},
    )
