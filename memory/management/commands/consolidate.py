import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from agents import audit
from agents.gate import MemoryOff
from agents.models import User
from agents.naming import Unnamed, owner_named
from memory.consolidation.registry import STAGES, Stage
from memory.consolidation.run import Plan, Trigger, consolidate, plan
from memory.consolidation.values import Change
from memory.extraction.lease import LeaseTaken
from memory.models import ConsolidationRun

FAILED, STOPPED = 1, 3
# What a stage of the model calls it where there is no model.
NOTHING = "nothing"
LABELS = {stage.name: stage.label for stage in STAGES}


class Command(BaseCommand):
    help = (
        "Do now what the worker does every night: merge what says the same, archive unused events, "
        "ask again about old facts, drop weak candidates. Every change is listed under "
        "/consolidation/ and can be taken back there.\n\n"
        "Exit code 0: done. 1: a stage failed; the others did their work. 3: a breaker stopped the "
        "archiving of active facts, and the run's page asks whether to go on."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.add_argument("--owner", help="username; the only account if there is just one")
        parser.add_argument(
            "--stage",
            action="append",
            choices=list(LABELS),
            metavar="STAGE",
            help=f"only this one; may be given several times. There is: {', '.join(LABELS)}",
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="list what would happen, fact by fact, and change nothing",
        )

    def handle(self, *arguments: Any, **options: Any) -> None:
        audit.context.set("command consolidate")
        try:
            owner = owner_named(options["owner"])
        except Unnamed as error:
            raise CommandError(str(error)) from error
        names = options["stage"] or list(LABELS)
        stages = [stage for stage in STAGES if stage.name in names]
        try:
            if options["dry_run"]:
                self._tell_plan(plan(owner=owner, now=timezone.now(), stages=stages), stages)
            else:
                self._run(owner, stages)
        except MemoryOff as error:
            raise CommandError(
                f"Memory is off for {owner.username}, so nothing is consolidated. "
                "Switch it on in the settings."
            ) from error
        except LeaseTaken as error:
            raise CommandError(str(error)) from error

    def _tell_plan(self, found: Plan, stages: list[Stage]) -> None:
        for stage in stages:
            changes = [change for change in found.changes if change.stage == stage.name]
            self.stdout.write(f"{stage.label}: {_count(changes)}")
            for change in changes:
                self.stdout.write(f"  {_line(change)}")
        if found.stopped_by:
            self.stdout.write(_stopped(found.stopped_by))
        self.stdout.write("Nothing was changed.")

    def _run(self, owner: User, stages: list[Stage]) -> None:
        run = consolidate(owner=owner, now=timezone.now(), trigger=Trigger.COMMAND, stages=stages)
        for stage in stages:
            counts = run.counts.get(stage.name, {})
            self.stdout.write(f"{stage.label}: {run.errors.get(stage.name) or _told(counts)}")
        self.stdout.write(f"Listed under /consolidation/{run.pk}/, where each can be taken back.")
        if run.stopped_by:
            self.stderr.write(_stopped(run.stopped_by))
        if run.state != ConsolidationRun.State.DONE:
            sys.exit(FAILED)
        if run.stopped_by:
            sys.exit(STOPPED)


def _count(changes: list[Change]) -> str:
    return _told(Counter("held back" if change.held else change.action for change in changes))


def _told(counts: Mapping[str, int]) -> str:
    """A stage that only says why it does nothing has no change to count."""
    done = ", ".join(f"{n} {action}" for action, n in counts.items() if action != NOTHING)
    return done or "nothing to do"


def _line(change: Change) -> str:
    if change.action == NOTHING:
        return change.reason
    ids = " ".join(str(pk) for pk in (*change.facts, *change.objects))
    rest = " ".join(str(pk) for pk in change.sources)
    held = "held back: " if change.held else ""
    return f"{held}{change.action} {ids}{' with ' if ids and rest else ''}{rest}. {change.reason}"


def _stopped(breaker: str) -> str:
    label = ConsolidationRun.Breaker(breaker).label
    return f"Stopped: {label[0].lower()}{label[1:]}. The run's page shows the rest and asks."
