"""Reads conversations window by window and applies what comes of it; keeps the record of each run.

No transaction is open while a model thinks. The gate, the lease and the cursor are checked again in
the one that writes.
"""

import logging
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from agents.audit import Actor
from agents.gate import MemoryOff, require_on
from agents.models import User
from conversations.models import Conversation
from memory import llm
from memory.extraction import decide, due
from memory.extraction import lease as leases
from memory.extraction.apply import WindowChanged, apply_window, move_cursor
from memory.extraction.lease import Lease, LeaseLost, LeaseTaken
from memory.extraction.observer import RULES, prompt_for
from memory.extraction.prompts import REFLECTOR
from memory.extraction.windows import Window, next_window
from memory.lifecycle import NotAllowed
from memory.models import ExtractionRun, Fact
from memory.vocabulary import Trigger

# After the first, second, third and fourth failure; after the fifth the conversation is stuck.
BACK_OFF = (
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(minutes=30),
    timedelta(minutes=30),
)
ATTEMPTS = len(BACK_OFF) + 1
# An endpoint may ask for more patience, but not for ever.
LONGEST_WAIT = timedelta(days=1)

# Then another owner's conversation gets its turn.
WINDOWS_AT_ONCE = 10
NOTHING = "none"
# By name: the tasks import this module.
EMBED = "memory.tasks.embed_facts"
SWITCHED_OFF = "Memory was switched off while the window was being read. Nothing was stored."
STOPPED = "The worker stopped before it was done; the window is read again."
INTERRUPTED = "It was stopped by hand; the window is read again."
OVERTAKEN = "Another worker took over; the window is read by that one."
CHANGED = "Messages changed while they were being read; the window is read again."

logger = logging.getLogger(__name__)


class Waiting(Exception):
    """A sensitive conversation waits for the private route, which is not set."""

    def __init__(self) -> None:
        super().__init__(
            "This conversation is sensitive and waits for LLM_PRIVATE_MODEL to be set."
        )


def extract(
    *,
    conversation: Conversation,
    trigger: Trigger,
    now: datetime | None = None,
    windows: int | None = None,
    up_to: int | None = None,
) -> list[ExtractionRun]:
    """Reads on until everything (or all up to a seq) is read, a window fails, or so many windows
    are done.

    One run per window, in order. Raises MemoryOff, LeaseTaken, Waiting, before anything is read.
    """
    if conversation.read_only:
        return []
    _require_on(conversation)
    route = llm.route_for(conversation)
    if route is None and conversation.sensitive:
        raise Waiting
    lease = leases.claim(conversation.owner)
    try:
        bury_lost_runs(lease)
        return _read_on(conversation, route, trigger, lease, now, windows, up_to)
    finally:
        leases.release(lease)


def extract_if_due(conversation_id: UUID) -> UUID | None:
    """A worker's share: some windows, then which conversation of the owner's comes next.

    None where there is nothing more to do now, somebody else is at it, or this one failed: the
    sweep takes it up again, and an endpoint that is down is not asked for every conversation.
    """
    now = timezone.now()
    due_now = due.due(now).select_related("owner__settings", "agent__owner")
    conversation = due_now.filter(pk=conversation_id).first()
    if conversation is None:
        return None
    trigger = due.trigger_of(conversation, now)
    try:
        runs = extract(conversation=conversation, trigger=trigger, windows=WINDOWS_AT_ONCE)
    except (LeaseTaken, MemoryOff, Waiting):
        return None
    if not runs or runs[-1].state != ExtractionRun.State.APPLIED:
        return None
    return due.next_of(conversation.owner, timezone.now())


def retry(*, conversation: Conversation) -> bool:
    """Takes a failing or stuck conversation up again at once. False where nothing is unread."""
    return bool(_take_up(Conversation.objects.filter(pk=conversation.pk)))


def retry_stuck(*, owner: User) -> int:
    """Takes all that is stuck up again; how many conversations."""
    return _take_up(Conversation.objects.filter(owner=owner, stuck_at__isnull=False))


def _take_up(conversations: QuerySet[Conversation]) -> int:
    return conversations.filter(read_only=False, cursor_seq__lt=F("last_seq")).update(
        stuck_at=None,
        attempts=0,
        next_attempt_at=None,
        last_error="",
        due_trigger=Trigger.RETRY,
    )


def skip_window(*, conversation: Conversation, actor: Actor) -> ExtractionRun | None:
    """Passes over the next window unread, on record. None where nothing is unread.

    Raises LeaseTaken while an extraction of this owner is at work, NotAllowed without a person.
    """
    if actor.person is None:
        raise NotAllowed("Only the owner can skip what was said.")
    lease = leases.claim(conversation.owner)
    try:
        window = next_window(conversation)
        return _skip(window, actor) if window else None
    finally:
        leases.release(lease)


def bury_lost_runs(lease: Lease) -> None:
    """Whoever holds the lease knows that a run still marked as running has no worker any more.

    It counts as an attempt: a window that kills its worker must not do so for ever.
    """
    with transaction.atomic():
        lost = ExtractionRun.objects.filter(owner=lease.owner, state=ExtractionRun.State.RUNNING)
        for run in lost.select_for_update():
            _end(run, ExtractionRun.State.LOST, STOPPED, llm.Usage())
            _count_attempt(run, STOPPED, wait=timedelta())


def _require_on(conversation: Conversation) -> None:
    with transaction.atomic():
        require_on(conversation.owner)


def _read_on(
    conversation: Conversation,
    route: llm.Route | None,
    trigger: Trigger,
    lease: Lease,
    now: datetime | None,
    limit: int | None,
    up_to: int | None,
) -> list[ExtractionRun]:
    runs: list[ExtractionRun] = []
    while limit is None or len(runs) < limit:
        window = next_window(conversation, up_to)
        if window is None:
            break
        run = _read_window(window, route, trigger, lease, now or timezone.now())
        runs.append(run)
        if run.state != ExtractionRun.State.APPLIED:
            break
    return runs


def _read_window(
    window: Window, route: llm.Route | None, trigger: Trigger, lease: Lease, now: datetime
) -> ExtractionRun:
    run = _begin(window, trigger, **_reader(window, route))
    meter = decide.Meter()
    try:
        verdicts = decide.read(
            window=window,
            route=route,
            now=now,
            meter=meter,
            before_call=lambda: leases.renew(lease),
        )
        born = apply_window(
            window=window, run=run, lease=lease, verdicts=verdicts, usage=meter.usage
        )
    except MemoryOff:
        _end(run, ExtractionRun.State.FAILED, SWITCHED_OFF, meter.usage)
    except WindowChanged:
        _end(run, ExtractionRun.State.FAILED, CHANGED, meter.usage)
    except LeaseLost:
        _end(run, ExtractionRun.State.LOST, OVERTAKEN, meter.usage)
    except llm.LlmError as error:
        _fail(run, str(error), meter.usage, wait=_asked_for(error))
    except KeyboardInterrupt:
        # No attempt is counted: the window did nothing wrong.
        _end(run, ExtractionRun.State.LOST, INTERRUPTED, meter.usage)
        raise
    except Exception as error:
        logger.exception("Extraction run %s failed.", run.pk)
        _fail(run, f"An unexpected error ({type(error).__qualname__}).", meter.usage)
    else:
        _embed(born)
    run.refresh_from_db()
    return run


def _begin(window: Window, trigger: Trigger, **values: str) -> ExtractionRun:
    conversation = window.conversation
    conversation.refresh_from_db(fields=["attempts"])
    return ExtractionRun.objects.create(
        owner=conversation.owner,
        agent=conversation.agent,
        conversation=conversation,
        trigger=trigger,
        attempt=conversation.attempts + 1,
        first_seq=window.first_seq,
        last_seq=window.last_seq,
        **values,
    )


def _reader(window: Window, route: llm.Route | None) -> dict[str, str]:
    if not window.may_hold_facts:
        return {"observer": NOTHING}
    if route is None:
        return {"observer": RULES, "prompt_version": RULES}
    versions = f"{prompt_for(window)} {REFLECTOR}"
    return {"observer": route.model[:120], "route": route.name, "prompt_version": versions}


def _end(run: ExtractionRun, state: ExtractionRun.State, error: str, usage: llm.Usage) -> None:
    """Guarded: what a successor wrote about a run it found dead stays."""
    ExtractionRun.objects.filter(pk=run.pk, state=ExtractionRun.State.RUNNING).update(
        state=state,
        error=error[:500],
        finished_at=timezone.now(),
        llm_calls=usage.calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
    )


def _fail(
    run: ExtractionRun, error: str, usage: llm.Usage, *, wait: timedelta = timedelta()
) -> None:
    with transaction.atomic():
        _end(run, ExtractionRun.State.FAILED, error, usage)
        done = min(run.attempt, ATTEMPTS) - 1
        back_off = BACK_OFF[done] if done < len(BACK_OFF) else timedelta()
        _count_attempt(run, error, wait=max(back_off, wait))


def _count_attempt(run: ExtractionRun, error: str, *, wait: timedelta) -> None:
    """Guarded by the cursor: a window that was read meanwhile is no failure any more."""
    now = timezone.now()
    Conversation.objects.filter(pk=run.conversation_id, cursor_seq=run.first_seq - 1).update(
        attempts=run.attempt,
        last_error=error[:500],
        next_attempt_at=now + wait,
        stuck_at=now if run.attempt >= ATTEMPTS else None,
    )


def _asked_for(error: llm.LlmError) -> timedelta:
    seconds = error.retry_after if isinstance(error, llm.LlmRateLimited) else None
    return min(timedelta(seconds=seconds or 0), LONGEST_WAIT)


def _skip(window: Window, actor: Actor) -> ExtractionRun:
    with transaction.atomic():
        run = _begin(window, Trigger.REQUEST, observer=NOTHING)
        run.state = ExtractionRun.State.SKIPPED
        run.error = f"Skipped by {actor.name}."
        run.finished_at = timezone.now()
        run.save(update_fields=["state", "error", "finished_at"])
        move_cursor(window)
    return run


def _embed(facts: list[Fact]) -> None:
    """At once where the model is in memory, so that the next window already meets these facts."""
    from memory import embedding

    if not facts:
        return
    if embedding.status() == embedding.Status.READY:
        embedding.store_at_once(facts)
    else:
        _hint(facts)


def _hint(facts: list[Fact]) -> None:
    from celery import current_app

    try:
        current_app.send_task(EMBED, [[str(fact.pk) for fact in facts]], retry=False)
    except Exception as error:  # a broker fails in as many ways as there are brokers
        logger.warning("No hint for new facts (%s); the sweep will.", type(error).__qualname__)
