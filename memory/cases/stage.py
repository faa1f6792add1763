"""The stage that reads conversations for cases: a classifier finds the exchanges, a writer writes
them down, and policy lets them wait for the owner.

No transaction is open while a model thinks. The gate, the lease and the mark up to which the
conversation was read are checked again in the one that writes.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from agents.audit import POLICY, acting
from agents.gate import MemoryOff, require_on
from agents.models import User
from conversations.models import Conversation, Message
from memory import llm
from memory.cases import lifecycle, vectors
from memory.cases.due import due
from memory.cases.find import classify, part_of, write
from memory.cases.neighbours import on_file
from memory.cases.schema import Exchange
from memory.cases.screen import Again, Dropped, Verdict, judge
from memory.cases.values import CaseConflict, CaseDraft, SameCase
from memory.consolidation.values import Change, Detail
from memory.extraction.apply import WindowChanged
from memory.extraction.decide import Meter
from memory.extraction.lease import Lease, LeaseLost, hold, leased, renew
from memory.extraction.windows import Window, still_stands, window_after
from memory.lifecycle.values import Tombstoned
from memory.models import Case, CaseReading
from memory.vocabulary import Gate

STAGE = "cases"
# Stretches of at most 20 messages that one run reads; the others are the next day's.
WINDOWS = 20
# A stretch that fails so often is passed over; a run that meets so many failures ends.
ATTEMPTS = 3
FAILURES = 3
NO_MODEL = "No language model is configured, so no cases are written."

logger = logging.getLogger(__name__)


def run(*, owner: User, now: datetime, dry_run: bool = False) -> list[Change]:
    """Reads what is new since the last run. Raises MemoryOff, LeaseTaken, before anything is read.

    A dry run asks no model: it lists what would be read.
    """
    with transaction.atomic():
        require_on(owner)
    if not any(map(llm.configured, (llm.GENERAL, llm.PRIVATE))):
        return [Change(STAGE, "nothing", NO_MODEL, reversible=False)]
    conversations = list(due(owner, now)[:WINDOWS])
    if dry_run:
        return [_would_read(conversation) for conversation in conversations]
    if not conversations:
        return []
    with leased(owner) as lease:
        return _Pass(lease).over(conversations)


def _would_read(conversation: Conversation) -> Change:
    unread = conversation.last_seq - conversation.case_seq  # type: ignore[attr-defined]
    return Change(
        STAGE,
        "read",
        "Would be read for exchanges worth keeping",
        objects=(conversation.pk,),
        reversible=False,
        detail={"messages": unread},
    )


@dataclass
class _Pass:
    """One run of the stage."""

    lease: Lease
    changes: list[Change] = field(default_factory=list)
    meter: Meter = field(default_factory=Meter)
    windows: int = 0
    failures: int = 0

    def over(self, conversations: Iterable[Conversation]) -> list[Change]:
        """What is written stays, and is listed, whatever stops the rest."""
        try:
            for conversation in conversations:
                if self.is_done:
                    break
                self._read_on(conversation)
        except (MemoryOff, LeaseLost) as stop:
            why = "Memory was switched off" if isinstance(stop, MemoryOff) else "Another run began"
            self._stopped(f"{why}; the rest waits for the next run.")
        return [*self.changes, self._summary()]

    @property
    def is_done(self) -> bool:
        return self.windows >= WINDOWS or self.failures >= FAILURES

    def _read_on(self, conversation: Conversation) -> None:
        seq: int = conversation.case_seq  # type: ignore[attr-defined]
        while not self.is_done and (window := window_after(conversation, seq)) is not None:
            self.windows += 1
            try:
                verdicts = self._judge(window)
                self.changes += _apply(window, verdicts, self.lease)
            except llm.LlmError as error:
                self._failed(window, error)
                return
            except WindowChanged:
                return
            seq = window.last_seq

    def _judge(self, window: Window) -> list[Verdict]:
        if not _could_hold_a_case(window):
            return []
        route = llm.route_for(window.conversation)
        if route is None:
            raise WindowChanged
        renew(self.lease)
        with self.meter.counting():
            found = classify(window, route)
        self.meter.add(found.usage)
        return [self._written(window, exchange, route) for exchange in found.reply.exchanges]

    def _written(self, window: Window, exchange: Exchange, route: llm.Route) -> Verdict:
        part = part_of(window, exchange)
        if part is None:
            return Dropped(Gate.BAD_HANDLE)
        known = on_file(window.conversation, exchange.goal)
        renew(self.lease)
        with self.meter.counting():
            written = write(part, known, route)
        self.meter.add(written.usage)
        return judge(written.reply, part, known)

    def _failed(self, window: Window, error: llm.LlmError) -> None:
        """A stretch that the model can't read must not stop the others for ever; one that is down
        is not the stretch's fault."""
        self.failures += 1
        if isinstance(error, llm.LlmUnavailable | llm.LlmRateLimited):
            self.failures = FAILURES
        elif _count_failure(window):
            self._stopped(f"{error} The stretch is passed over.", window)
            return
        self._stopped(str(error), window)

    def _stopped(self, why: str, window: Window | None = None) -> None:
        about = (window.conversation.pk,) if window else ()
        self.changes.append(Change(STAGE, "stopped", why[:300], objects=about, reversible=False))

    def _summary(self) -> Change:
        usage = self.meter.usage
        detail: Detail = {
            "windows": self.windows,
            "llm_calls": usage.calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
        }
        what = "1 stretch" if self.windows == 1 else f"{self.windows} stretches"
        return Change(STAGE, "read", f"Read {what} for cases", reversible=False, detail=detail)


def _could_hold_a_case(window: Window) -> bool:
    """A digest, or words of the owner's that somebody answered."""
    if any(message.kind == Message.Kind.OUTCOME for message in window.messages):
        return True
    spoken = {message.from_owner for message in window.messages}
    return spoken == {True, False}


def _apply(window: Window, verdicts: Sequence[Verdict], lease: Lease) -> list[Change]:
    """All or nothing. Raises MemoryOff, LeaseLost, WindowChanged: then nothing was written.

    Order of locks: the owner's switch, the lease, the conversation, then facts and cases.
    """
    with acting(POLICY, f"cases of conversation {window.conversation.pk}"):
        require_on(window.conversation.owner)
        hold(lease)
        _move_mark(window)
        if not still_stands(replace(window, messages=tuple(window.numbered.values()))):
            raise WindowChanged
        written = [_write(verdict, window) for verdict in verdicts]
    vectors.store([case for _, case in written if case is not None])
    return [change for change, _ in written]


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
                case=verdict.case, messages=verdict.draft.sources, actor=POLICY, reason=reason
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
    why = "An exchange worth keeping; the case waits for you"
    detail: Detail = {"conversation": str(case.conversation_id), "quality": str(case.quality)}
    return Change(STAGE, "proposed", why, objects=(case.pk,), detail=detail)


def _again(case: Case) -> Change:
    why = "Another exchange tells of a case that is on file"
    return Change(STAGE, "evidence", why, objects=(case.pk,), reversible=False)


def _dropped(gate: Gate, window: Window) -> Change:
    why = f"A case was dropped: {gate.label.lower()}"
    return Change(
        STAGE,
        "dropped",
        why,
        objects=(window.conversation.pk,),
        reversible=False,
        detail={"gate": gate.value},
    )
