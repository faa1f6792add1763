"""Writes what a window came to, in the one transaction that also moves the cursor."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, tzinfo
from uuid import UUID

from django.utils import timezone

from agents.audit import POLICY, acting
from agents.gate import require_on
from agents.models import Agent
from conversations.models import Conversation, Message
from memory import lifecycle
from memory.extraction.lease import Lease, LeaseLost, hold
from memory.extraction.schema import Candidate
from memory.extraction.windows import Window, still_stands
from memory.lifecycle import Draft, EntityRef, Source
from memory.llm import Usage
from memory.models import DroppedCandidate, ExtractionRun, Fact
from memory.policy import AddEvidence, Create, Dropped, Outcome, Reinforce, Supersede, gate_of
from memory.scope import facts_readable_by
from memory.sensitive import redact
from memory.text import language_config
from memory.vocabulary import Gate, Kind, Origin, State, Withheld

# What may not be kept a second time, not even as a quote.
_WITHOUT_TEXT = (Gate.CREDENTIAL, Gate.TOMBSTONED)


class WindowChanged(Exception):
    """A message was purged or left the branch, or the cursor moved, while the window was read."""


@dataclass(frozen=True)
class Verdict:
    candidate: Candidate
    outcome: Outcome


def apply_window(
    *, window: Window, run: ExtractionRun, lease: Lease, verdicts: Sequence[Verdict], usage: Usage
) -> list[Fact]:
    """All or nothing; returns the facts that were born.

    Raises MemoryOff, LeaseLost, WindowChanged: then nothing was written and the cursor stands.
    Order of locks: the owner's switch, the lease, the conversation, then facts.
    """
    with acting(POLICY, _reason(run)):
        require_on(window.conversation.owner)
        hold(lease)
        move_cursor(window)
        if not still_stands(window):
            raise WindowChanged
        writer = Writer(window, run)
        for verdict in verdicts:
            writer.write(verdict)
        _close(run, writer, len(verdicts), usage)
    return writer.born


def move_cursor(window: Window) -> None:
    """Guarded by where the window began, so that no window is passed over or applied twice.

    Raises WindowChanged.
    """
    row = (
        Conversation.objects.select_for_update(no_key=True)
        .filter(pk=window.conversation.pk, cursor_seq=window.first_seq - 1)
        .first()
    )
    if row is None:
        raise WindowChanged
    row.cursor_seq = window.last_seq
    row.attempts, row.next_attempt_at, row.stuck_at, row.last_error = 0, None, None, ""
    if row.cursor_seq >= row.last_seq:
        row.due_trigger = ""
    row.save(
        update_fields=[
            "cursor_seq", "attempts", "next_attempt_at", "stuck_at", "last_error", "due_trigger"
        ]
    )  # fmt: skip


def _close(run: ExtractionRun, writer: "Writer", candidates: int, usage: Usage) -> None:
    closed = ExtractionRun.objects.filter(pk=run.pk, state=ExtractionRun.State.RUNNING).update(
        state=ExtractionRun.State.APPLIED,
        finished_at=timezone.now(),
        counts={"candidates": candidates, **writer.counts, "dropped": dict(writer.dropped)},
        llm_calls=usage.calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
    )
    if not closed:
        raise LeaseLost


def no_counts() -> dict[str, int]:
    return dict.fromkeys(("created", "activated", "superseding", "reinforced", "evidence_added"), 0)


@dataclass
class Writer:
    """Counts: created (activated among them), superseding, reinforced, evidence_added and the
    sum of dropped make up all candidates."""

    window: Window
    run: ExtractionRun
    born: list[Fact] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=no_counts)
    dropped: Counter[str] = field(default_factory=Counter)

    @property
    def agent(self) -> Agent:
        return self.window.conversation.agent.acting()

    def write(self, verdict: Verdict) -> None:
        """A refusal stops one candidate, never its neighbours: each step has its own savepoint."""
        candidate, outcome = verdict.candidate, verdict.outcome
        try:
            if isinstance(outcome, Create):
                self._create(candidate, outcome)
            elif isinstance(outcome, Supersede):
                self._supersede(candidate, outcome)
            elif isinstance(outcome, Dropped):
                self._drop(candidate, outcome.gate, outcome.detail, outcome.statement)
            else:
                self._fold(candidate, outcome, self._fact(outcome.target))
        except lifecycle.Duplicate as duplicate:
            self._meet(candidate, duplicate.existing)
        except lifecycle.Tombstoned:
            self._drop(candidate, Gate.TOMBSTONED)

    def _create(self, candidate: Candidate, outcome: Create) -> None:
        draft = self._draft(candidate, outcome.withheld, outcome.details.values())
        beside = self._fact(outcome.beside) if outcome.beside else None
        fact = self._propose(replace(draft, similar_to=beside), outcome.state)
        self.counts["created"] += 1
        self.counts["activated"] += fact.state == State.ACTIVE

    def _supersede(self, candidate: Candidate, outcome: Supersede) -> None:
        """Only targets of one scope, that of the first; lifecycle follows them to their heads."""
        draft = self._draft(candidate, outcome.withheld, outcome.details.values())
        found = [fact for fact in map(self._fact, outcome.targets) if fact]
        targets = [fact for fact in found if fact.agent_id == found[0].agent_id]
        try:
            if not targets:
                raise lifecycle.NotAllowed
            fact = self._propose(draft, State.PENDING, targets)
        except lifecycle.NotAllowed:  # they have parted, or moved out of the agent's sight
            alone = replace(draft, withheld_for=(Withheld.TARGET_GONE, *draft.withheld_for))
            fact = self._propose(alone, State.PENDING)
        self.counts["superseding" if fact.targets.exists() else "created"] += 1

    def _fold(
        self, candidate: Candidate, outcome: Reinforce | AddEvidence, fact: Fact | None
    ) -> None:
        gate = gate_of(outcome)
        assert gate is not None  # noqa: S101 - both kinds have one
        if fact is None or not self._reach(candidate, outcome, fact):
            self._drop(candidate, gate, "that fact is no longer there", fact=fact)
            return
        name = "reinforced" if isinstance(outcome, Reinforce) else "evidence_added"
        self.counts[name] += 1
        self._keep(candidate, gate, fact=fact)

    def _reach(self, candidate: Candidate, outcome: Reinforce | AddEvidence, fact: Fact) -> bool:
        """Decided elsewhere meanwhile: an accepted one takes the evidence, a rejected one none."""
        sources, reason = self._sources(candidate), _reason(self.run)
        try:
            if isinstance(outcome, Reinforce):
                lifecycle.reinforce(fact=fact, sources=sources, actor=POLICY, reason=reason)
            else:
                lifecycle.add_evidence(fact=fact, sources=sources, actor=POLICY, reason=reason)
        except (lifecycle.Conflict, lifecycle.NotAllowed):
            return False
        return True

    def _meet(self, candidate: Candidate, existing: Fact) -> None:
        """The text turned up in this scope after policy had looked."""
        spoken = [s.message.sent_at for s in self._sources(candidate) if s.message.from_owner]
        if existing.state == State.ACTIVE and spoken:
            self._fold(candidate, Reinforce(candidate, existing.pk, max(spoken)), existing)
        elif existing.state == State.PENDING:
            self._fold(candidate, AddEvidence(candidate, existing.pk), existing)
        else:
            rejected = existing.state == State.REJECTED
            gate = Gate.SAME_AS_REJECTED if rejected else Gate.SAME_AS_ACTIVE
            self._drop(candidate, gate, fact=existing)

    def _propose(self, draft: Draft, state: State, targets: Sequence[Fact] = ()) -> Fact:
        conversation = self.window.conversation
        fact = lifecycle.propose(
            owner=conversation.owner,
            agent=self.agent,
            draft=draft,
            actor=POLICY,
            state=state,
            targets=targets,
            reason=_reason(self.run),
        )
        self.born.append(fact)
        return fact

    def _drop(
        self,
        candidate: Candidate,
        gate: Gate,
        detail: str = "",
        statement: str = "",
        fact: Fact | None = None,
    ) -> None:
        self.dropped[gate.value] += 1
        self._keep(candidate, gate, detail, statement, fact)

    def _keep(
        self,
        candidate: Candidate,
        gate: Gate,
        detail: str = "",
        statement: str = "",
        fact: Fact | None = None,
    ) -> None:
        """For inspection. Policy's own statement is redacted; so is what is taken from here."""
        bare = gate in _WITHOUT_TEXT
        first = candidate.sources[0]
        DroppedCandidate.objects.create(
            owner=self.run.owner,
            run=self.run,
            gate=gate,
            statement=(statement if bare else statement or redact(candidate.statement))[:500],
            quote="" if bare else redact(first.quote),
            detail=detail[:300],
            message=self.window.numbered.get(first.message),
            fact=fact,
        )

    def _fact(self, pk: UUID) -> Fact | None:
        return facts_readable_by(self.agent).select_related("owner").filter(pk=pk).first()

    def _sources(self, candidate: Candidate) -> list[Source]:
        return [
            Source(self.window.numbered[source.message], source.quote)
            for source in candidate.sources
        ]

    def _draft(
        self, candidate: Candidate, withheld: tuple[Withheld, ...], details: Iterable[str]
    ) -> Draft:
        sources = self._sources(candidate)
        said = _decisive([source.message for source in sources])
        validity = candidate.validity
        # The day is the speaker's, but it is kept, and shown, on the owner's clock.
        clock = self.window.zone
        start, end = _midnight(validity.start, clock), _midnight(validity.end, clock)
        # What happened stays true: an event has no end after which it would no longer be told.
        ends = candidate.kind != Kind.EPISODIC and end and (start is None or start < end)
        return Draft(
            statement=" ".join(candidate.statement.split()),
            kind=candidate.kind,
            origin=Origin.EXTRACTION,
            observed_at=said.sent_at,
            confidence=candidate.confidence,
            language=language_config(candidate.language),
            tags=tuple(dict.fromkeys(candidate.tags)),
            valid_from=start,
            valid_until=end if ends else None,
            valid_precision=validity.precision,
            withheld_for=withheld,
            withheld_detail="; ".join(details)[:200],
            sources=tuple(sources),
            entities=tuple(
                EntityRef(entity.type, entity.name, tuple(entity.aliases))
                for entity in candidate.entities
            ),
            conversation=self.window.conversation,
            run=self.run,
            prompt_version=self.run.prompt_version,
        )


def _reason(run: ExtractionRun) -> str:
    return f"extraction run {run.pk}"


def _decisive(messages: Sequence[Message]) -> Message:
    """The newest of the owner's own, or of all where a digest speaks: when it was said."""
    spoken = [message for message in messages if message.from_owner] or list(messages)
    return max(spoken, key=lambda message: message.sent_at)


def _midnight(day: date | None, clock: tzinfo) -> datetime | None:
    """A year that no life holds is a slip of the model's, and the ends of the calendar overflow."""
    if day is None or not 1800 <= day.year <= 2200:
        return None
    return datetime.combine(day, time(), clock)
