import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from contextlib import closing
from datetime import date, datetime
from datetime import time as clock_time
from threading import Event
from typing import Any
from zoneinfo import ZoneInfo

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from agents import audit
from agents.gate import MemoryOff, memory_on
from agents.models import OwnerSettings, User
from agents.naming import Unnamed, agent_named, owner_named
from agents.wording import counted
from conversations.models import Conversation
from memory import backfill as reading
from memory import embedding, llm
from memory.backfill import End, Limits, Report, Scope
from memory.extraction.lease import LeaseTaken
from memory.extraction.run import retry
from memory.stopping import stop_request
from memory.vocabulary import Gate

FAILED, PARTLY, INTERRUPTED = 1, 3, 130
MOST_IN_A_BATCH = 1000


def positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def batch(text: str) -> int:
    if (number := positive(text)) > MOST_IN_A_BATCH:
        raise ArgumentTypeError(f"at most {MOST_IN_A_BATCH}")
    return number


def day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a day such as 2026-03-02") from None


class Command(BaseCommand):
    help = """\
Read stored conversations now, in the foreground, for facts: everything that is unread, or a part of
it. What it finds keeps the date on which it was said, and waits in the review queue as always.

What was read before, by the worker or by this command, is never read again: each conversation
keeps its place in the database. So stop it at any moment with Ctrl-C, and run it again to go on;
worker and backfill may be at it at the same time. Conversations that are read-only, and owners
whose memory is off, are left alone. Sensitive ones are read by LLM_PRIVATE_MODEL or not at all.
"""

    def create_parser(self, *arguments: Any, **options: Any) -> Any:
        return super().create_parser(
            *arguments, formatter_class=RawDescriptionHelpFormatter, **options
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = EPILOG
        parser.add_argument("--owner", help="username; the only account if there is just one")
        parser.add_argument("--agent", metavar="SLUG", help="only this agent's conversations")
        parser.add_argument("--conversation", metavar="EXTERNAL_ID", help="only this one")
        parser.add_argument(
            "--since",
            type=day,
            metavar="DAY",
            help="only conversations that went on on or after it",
        )
        parser.add_argument(
            "--until", type=day, metavar="DAY", help="only what was said before that day"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be read")
        parser.add_argument(
            "--per-minute", type=positive, metavar="N", help="at most N questions to the model"
        )
        parser.add_argument(
            "--max-tokens", type=positive, metavar="N", help="begin no window once N are spent"
        )
        parser.add_argument(
            "--batch-size",
            type=batch,
            default=50,
            metavar="N",
            help="conversations that are looked up at a time (50)",
        )
        parser.add_argument(
            "--no-vectors",
            action="store_true",
            help="don't load the embedding model: facts that are close in meaning only go unseen",
        )

    def handle(self, *arguments: Any, **options: Any) -> None:
        audit.context.set("command backfill")
        scope = _scope(options)
        if not memory_on(scope.owner):
            raise CommandError(_off(scope.owner))
        messages, windows = reading.windows_in(reading.readable(scope))
        self._tell_plan(scope, messages, windows)
        if options["dry_run"] or not windows:
            return
        if scope.external_id is not None:
            _unstick(scope)
        if not options["no_vectors"]:
            embedding.warm_up()
        limits = Limits(options["batch_size"], options["per_minute"], options["max_tokens"])
        self._read(scope, limits, messages)

    def _tell_plan(self, scope: Scope, messages: int, windows: int) -> None:
        rows = reading.readable(scope)
        found = counted(rows.count(), "conversation")
        most = "at most " if scope.until else ""
        self.stdout.write(
            f"{scope.owner.username}: {found} to read, {most}{counted(messages, 'unread message')} "
            f"in {most}{counted(windows, 'window')}."
        )
        waiting = reading.chosen(scope).filter(sensitive=True).count()
        if waiting and not llm.configured(llm.PRIVATE):
            what = counted(waiting, "sensitive conversation")
            self.stdout.write(f"Waiting until LLM_PRIVATE_MODEL is set: {what}.")
        if windows:
            self.stdout.write(_readers(rows))

    def _read(self, scope: Scope, limits: Limits, messages: int) -> None:
        report, started = Report(), time.monotonic()
        try:
            with stop_request(self.stderr.write) as stop:
                self._follow(scope, limits, stop, report, messages)
        except (MemoryOff, LeaseTaken) as error:
            self._tell(report, started)
            raise CommandError(
                _off(scope.owner) if isinstance(error, MemoryOff) else str(error)
            ) from error
        except KeyboardInterrupt:
            report.end = End.STOPPED
        self._tell(report, started)
        self._exit(report)

    def _follow(
        self, scope: Scope, limits: Limits, stop: Event, report: Report, messages: int
    ) -> None:
        steps = reading.backfill(scope=scope, limits=limits, stop=stop, report=report)
        with closing(steps), tqdm(total=messages, unit=" messages", disable=None) as bar:
            for passed in steps:
                bar.update(passed)
                bar.set_postfix_str(f"{report.counts['created']} new", refresh=False)

    def _tell(self, report: Report, started: float) -> None:
        minutes, seconds = divmod(round(time.monotonic() - started), 60)
        self.stdout.write(
            f"Read to their end: {counted(report.conversations, 'conversation')}; "
            f"{counted(report.windows, 'window')} in {minutes}:{seconds:02}.\n"
            f"{_found(report)}\n"
            f"The model was asked {counted(report.calls, 'time')}: "
            f"{report.input_tokens:,} tokens in, {report.output_tokens:,} out."
        )
        for name, why in report.failures:
            self.stderr.write(f"{name}: {why}")

    def _exit(self, report: Report) -> None:
        if report.failed:
            failed = counted(report.failed, "conversation")
            last = " in a row, so it stopped" if report.end == End.FAILING else ""
            self.stderr.write(f"{failed} failed{last}. Run it again to try once more.")
        if report.end == End.STOPPED:
            self.stderr.write("Stopped. Run it again to go on.")
            sys.exit(INTERRUPTED)
        if report.end == End.BUDGET:
            self.stderr.write("The tokens are spent. Run it again to go on.")
        if report.failed or report.end == End.BUDGET:
            sys.exit(FAILED if report.failed else PARTLY)


EPILOG = """\
examples:
  manage.py backfill --dry-run
  manage.py backfill --agent work --since 2025-01-01 --until 2026-01-01
  manage.py backfill --per-minute 20 --max-tokens 2000000

A conversation is read in order: one that was going on at --since is read from its first unread
message, and the rest of one that goes on after --until stays unread. Days are on the owner's clock.

exit codes: 0 all of it is read; 1 something failed, or memory is off; 2 wrong arguments;
3 the tokens of --max-tokens are spent; 130 stopped.
"""


def _scope(options: dict[str, Any]) -> Scope:
    """Raises CommandError."""
    try:
        owner = owner_named(options["owner"])
        agent = agent_named(owner, options["agent"]) if options["agent"] else None
    except Unnamed as error:
        raise CommandError(str(error)) from error
    since, until = (_midnight(owner, options[name]) for name in ("since", "until"))
    if since and until and since >= until:
        raise CommandError("--since must be before --until.")
    if options["conversation"]:
        _check_name(owner, options["conversation"])
    return Scope(owner, agent, options["conversation"], since, until)


def _midnight(owner: User, day: date | None) -> datetime | None:
    if day is None:
        return None
    zone = OwnerSettings.objects.values_list("time_zone", flat=True).get(owner=owner)
    return datetime.combine(day, clock_time(), ZoneInfo(zone))


def _check_name(owner: User, external_id: str) -> None:
    """Raises CommandError."""
    found = list(Conversation.objects.filter(owner=owner, external_id=external_id))
    if not found:
        raise CommandError(f"{owner.username} has no conversation {external_id!r}.")
    if all(conversation.read_only for conversation in found):
        raise CommandError(f"{external_id} is read-only: nothing is learned from it.")


def _unstick(scope: Scope) -> None:
    """One that is named begins afresh: its earlier failures count no more."""
    for conversation in reading.readable(scope):
        retry(conversation=conversation)


def _off(owner: User) -> str:
    return f"Memory is off for {owner.username}, so nothing is read. Switch it on in the settings."


def _readers(rows: Any) -> str:
    sensitive = set(rows.order_by().values_list("sensitive", flat=True).distinct())
    routes = [llm.configured(llm.PRIVATE if private else llm.GENERAL) for private in sensitive]
    models = sorted({route.model for route in routes if route})
    if models:
        return f"Read by {', '.join(models)}."
    return "Read by the built-in rules, because no language model is configured (LLM_MODEL)."


def _found(report: Report) -> str:
    counts = report.counts
    if not counts["candidates"]:
        return "No candidates."
    why = ", ".join(f"{Gate(gate).label.lower()}: {n}" for gate, n in report.dropped.most_common())
    return (
        f"{counted(counts['candidates'], 'candidate')}: "
        f"{counts['created']} new ({counts['activated']} active at once), "
        f"{counted(counts['superseding'], 'correction')}, {counts['reinforced']} restated, "
        f"{counts['evidence_added']} already waiting, {report.dropped.total()} dropped"
        + (f" ({why})." if why else ".")
    )
