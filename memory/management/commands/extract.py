import sys
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from agents import audit
from agents.gate import MemoryOff, memory_on
from agents.models import User
from agents.naming import Unnamed, owner_named
from conversations.models import Conversation
from memory import embedding, llm
from memory.extraction import due
from memory.extraction.lease import LeaseTaken
from memory.extraction.run import extract, retry
from memory.extraction.windows import MESSAGES
from memory.models import ExtractionRun
from memory.vocabulary import Gate, Trigger

FAILED, INTERRUPTED = 1, 130


class Command(BaseCommand):
    help = (
        "Read conversations now, in the foreground: those that are due, one, or all. "
        "Exit code 0: all of it is read. 1: something failed, and the worker tries it again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--owner", help="username; the only account if there is just one")
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--conversation", metavar="EXTERNAL_ID", help="only this one, due or not"
        )
        which.add_argument("--all", action="store_true", help="everything unread, due or not")
        parser.add_argument(
            "--no-vectors",
            action="store_true",
            help="don't load the embedding model: facts that are close in meaning only go unseen",
        )

    def handle(self, *arguments: Any, **options: Any) -> None:
        audit.context.set("command extract")
        try:
            owner = owner_named(options["owner"])
        except Unnamed as error:
            raise CommandError(str(error)) from error
        if not memory_on(owner):
            raise CommandError(_off(owner))
        chosen = self._without_waiting(self._chosen(owner, options))
        if not chosen:
            return
        if not options["no_vectors"]:
            embedding.warm_up()
        self._read_all(chosen)

    def _chosen(self, owner: User, options: dict[str, Any]) -> list[Conversation]:
        if options["conversation"]:
            return _named(owner, options["conversation"])
        unread = due.unread(owner).select_related("owner", "agent__owner")
        if options["all"]:
            chosen, nothing = list(unread), "Everything is read."
        else:
            due_ones = unread.filter(pk__in=due.due(timezone.now()).values("pk"))
            chosen, nothing = list(due_ones), _not_due(unread.count())
        if not chosen:
            self.stdout.write(nothing)
        return chosen

    def _without_waiting(self, chosen: list[Conversation]) -> list[Conversation]:
        if llm.configured(llm.PRIVATE):
            return chosen
        waiting = sum(conversation.sensitive for conversation in chosen)
        if waiting:
            self.stdout.write(f"{waiting} sensitive conversations wait for LLM_PRIVATE_MODEL.")
        return [conversation for conversation in chosen if not conversation.sensitive]

    def _read_all(self, chosen: list[Conversation]) -> None:
        self.stdout.write(_reader(chosen))
        failed = 0
        with tqdm(total=sum(map(_windows, chosen)), unit=" windows", disable=None) as bar:
            for conversation in chosen:
                try:
                    failed += not self._read(conversation, bar)
                except MemoryOff as error:
                    raise CommandError(_off(conversation.owner)) from error
                except LeaseTaken as error:
                    raise CommandError(f"{conversation.external_id}: {error}") from error
                except KeyboardInterrupt:
                    self.stderr.write("Stopped. Run it again to go on.")
                    sys.exit(INTERRUPTED)
        if failed:
            self.stderr.write(f"{failed} of {len(chosen)} conversations failed.")
            sys.exit(FAILED)

    def _read(self, conversation: Conversation, bar: "tqdm[Any]") -> bool:
        runs = []
        for run in _runs(conversation):
            bar.update()
            runs.append(run)
        failed = [run.error for run in runs if run.state != ExtractionRun.State.APPLIED]
        with tqdm.external_write_mode():
            self.stdout.write(f"{conversation.external_id}: {_summary(runs)}")
            for error in failed:
                self.stderr.write(f"{conversation.external_id}: {error}")
        return not failed


def _runs(conversation: Conversation) -> Iterator[ExtractionRun]:
    """One window at a time, so that it can be watched and stopped."""
    while True:
        runs = _extract(conversation)
        yield from runs
        if not runs or runs[0].state != ExtractionRun.State.APPLIED:
            return


def _extract(conversation: Conversation) -> list[ExtractionRun]:
    """Waits while a worker reads for the same owner. Raises LeaseTaken after a lease's length."""
    give_up = time.monotonic() + settings.EXTRACTION_LEASE_SECONDS
    while True:
        try:
            return extract(conversation=conversation, trigger=Trigger.REQUEST, windows=1)
        except LeaseTaken:
            if time.monotonic() > give_up:
                raise
            time.sleep(1)


def _named(owner: User, external_id: str) -> list[Conversation]:
    rows = Conversation.objects.filter(owner=owner, external_id=external_id)
    found = list(rows.select_related("owner", "agent__owner"))
    if not found:
        raise CommandError(f"{owner.username} has no conversation {external_id!r}.")
    if all(conversation.read_only for conversation in found):
        raise CommandError(f"{external_id} is read-only: nothing is learned from it.")
    for conversation in found:
        retry(conversation=conversation)
    return found


def _off(owner: User) -> str:
    return f"Memory is off for {owner.username}, so nothing is read. Switch it on in the settings."


def _not_due(unread: int) -> str:
    if not unread:
        return "Nothing is due: everything is read."
    return (
        f"Nothing is due yet. {unread} conversations hold something unread; --all reads them now."
    )


def _reader(chosen: list[Conversation]) -> str:
    routes = {route.model for c in chosen if (route := llm.route_for(c))}
    if routes:
        return f"Reading {len(chosen)} conversations with {', '.join(sorted(routes))}."
    return (
        f"Reading {len(chosen)} conversations with the built-in rules, "
        "because no language model is configured (LLM_MODEL)."
    )


def _windows(conversation: Conversation) -> int:
    return -(-(conversation.last_seq - conversation.cursor_seq) // MESSAGES)


def _summary(runs: list[ExtractionRun]) -> str:
    totals: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    for run in runs:
        gates = run.counts.get("dropped", {})
        dropped.update(gates)
        totals.update({name: n for name, n in run.counts.items() if name != "dropped"})
    if not totals["candidates"]:
        return f"{len(runs)} windows, no candidates"
    why = ", ".join(f"{Gate(gate).label.lower()}: {n}" for gate, n in dropped.most_common())
    return (
        f"{len(runs)} windows, {totals['candidates']} candidates: "
        f"{totals['created']} new ({totals['activated']} active at once), "
        f"{totals['superseding']} corrections, {totals['reinforced']} restated, "
        f"{totals['evidence_added']} already waiting, {sum(dropped.values())} dropped"
        + (f" ({why})" if why else "")
    )
