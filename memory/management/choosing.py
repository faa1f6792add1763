"""What `forget` and `purge` share: how a person says what, the plan, and going on after a stop."""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from tqdm import tqdm

from agents import audit
from agents.access import keys_of
from agents.audit import Actor
from agents.models import ApiKey, OwnerSettings, User
from agents.naming import Unnamed, agent_named, owner_named
from agents.wording import counted
from conversations.access import conversations_of
from conversations.models import Conversation, Import
from memory.access import runs_of
from memory.models import ExtractionRun
from memory.purge import execute
from memory.purge.plan import EXAMPLES, Deed, Plan, plan_of
from memory.purge.selection import BadSelection, Selection, chosen
from memory.sensitive.hidden import show_hidden
from memory.stopping import stop_request

PLAN_ONLY, INTERRUPTED = 2, 130
RULES: tuple[str, ...] = (
    "fact", "conversation", "agent", "source", "run", "import", "client", "since", "until", "match",
)  # fmt: skip


class ChoosingCommand(BaseCommand):
    deed: Deed
    rules = RULES

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # "--every" must not stand for --everything.
        return super().create_parser(
            prog_name,
            subcommand,
            allow_abbrev=False,
            formatter_class=RawDescriptionHelpFormatter,
            **kwargs,
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--owner", help="username; the only account if there is just one")
        what = parser.add_argument_group(
            "what", "At least one of these. Several narrow each other; --fact goes alone."
        )
        what.add_argument("--fact", action="append", metavar="ID", help="may be given repeatedly")
        what.add_argument(
            "--conversation", metavar="ID", help="the id that its client gave, or ours"
        )
        what.add_argument("--agent", metavar="SLUG", help="what this assistant learned and heard")
        what.add_argument("--source", help="of conversations: api, outcome, or an importer's name")
        what.add_argument("--run", metavar="ID", help="what one reading by the worker found")
        what.add_argument("--import", metavar="ID", help="what one import brought")
        what.add_argument("--client", metavar="PREFIX", help="what came in with one API key")
        what.add_argument("--since", metavar="TIME", help="said then or later: 2026-03-01, or with "
                          "a time; on the owner's clock unless it has an offset")  # fmt: skip
        what.add_argument("--until", metavar="TIME", help="said before then")
        what.add_argument("--match", metavar="TEXT", help="these whole words, in any case")
        parser.add_argument("--yes", action="store_true", help="do it instead of telling")

    def handle(self, *arguments: Any, **options: Any) -> None:
        audit.context.set(f"command {self.deed}")
        owner = _owner(options)
        try:
            selection = self.selection(owner, options)
        except (BadSelection, Unnamed) as error:
            raise CommandError(str(error)) from error
        plan = plan_of(selection, self.deed)
        if plan.is_empty:
            self.stdout.write(f"Nothing matches: there is nothing to {self.deed}.")
            self._tell_staying(plan)
            return
        self._tell(owner, plan)
        if not options["yes"]:
            self.stdout.write("Nothing was done. Add --yes to do it.")
            sys.exit(PLAN_ONLY)
        self._do(owner, selection, plan)

    def selection(self, owner: User, options: dict[str, Any]) -> Selection:
        given = {name: options[name] for name in RULES if options[name] is not None}
        for name, value in given.items():
            if not value or not str(value).strip():
                raise BadSelection(f"--{name} is empty. An empty rule is never taken for all.")
        rules = {_FIELDS.get(name, name): _READ[name](owner, given[name]) for name in given}
        if "conversation" in given:
            source = rules.pop("source", "")
            rules["conversation"] = _conversation(owner, given["conversation"], source)
        if not rules:
            raise BadSelection(
                f"Say what to {self.deed}: `manage.py {self.deed} --help` has the rules."
            )
        return chosen(owner=owner, **rules)

    def _tell(self, owner: User, plan: Plan) -> None:
        write = self.stdout.write
        write(f"To {self.deed} from {owner.username}'s memory:")
        states = ", ".join(f"{count} {state}" for state, count in plan.facts.items())
        write(f"  {counted(plan.facts_in_all, 'fact')}{f' ({states})' if states else ''}")
        if plan.derived:
            verb = "was" if plan.derived == 1 else "were"
            write(f"    of which {plan.derived} {verb} made from others of them")
        for count, *name in (
            (plan.messages, "message", "messages"),
            (plan.titles, "title of a conversation", "titles of conversations"),
            (
                plan.further,
                "dropped candidate, name, case, note or rule",
                "dropped candidates, names, cases, notes and rules",
            ),
            (
                len(plan.documents),
                "document as a whole, with its original",
                "documents as a whole, with their originals",
            ),
        ):
            if count:
                write(f"  {counted(count, *name)}")
        for title in plan.documents[:EXAMPLES]:
            write(f"  - “{show_hidden(title)}”")
        if len(plan.documents) > EXAMPLES:
            write(f"    … and {len(plan.documents) - EXAMPLES} more")
        for fact in plan.examples:
            write(f"  - {show_hidden(fact.statement)}")
        if plan.facts_in_all > len(plan.examples):
            write(f"    … and {plan.facts_in_all - len(plan.examples)} more")
        self._tell_staying(plan)
        if plan.kept:
            write("What stays, though it rests on the same messages or took their place:")
        for fact in plan.kept:
            write(f"  - {show_hidden(fact.statement)}  ({fact.pk})")

    def _tell_staying(self, plan: Plan) -> None:
        for line in plan.staying:
            self.stdout.write(f"Stays: {show_hidden(line)}")

    def _do(self, owner: User, selection: Selection, plan: Plan) -> None:
        actor = audit.command(self.deed, owner)
        try:
            with stoppable(plan.total, self.stderr.write) as tell:
                told = self.run(selection, actor, tell)
        except KeyboardInterrupt:
            self.stderr.write("Stopped. What was done stays done; run it again to go on.")
            sys.exit(INTERRUPTED)
        except execute.StillThere as error:
            raise CommandError(str(error)) from error
        self.stdout.write(told)

    def run(self, selection: Selection, actor: Actor, tell: Callable[[int], Any]) -> str:
        raise NotImplementedError


@contextmanager
def stoppable(total: int, say: Callable[[str], Any]) -> Iterator[execute.Tell]:
    """Shows progress, and stops between two batches when asked to: raises KeyboardInterrupt."""
    with tqdm(total=total, unit=" rows", disable=None) as bar, stop_request(say) as stop:

        def tell(done: int) -> None:
            bar.update(done)
            if stop.is_set():
                raise KeyboardInterrupt

        yield tell


def _owner(options: dict[str, Any]) -> User:
    if options["owner"] is not None and not options["owner"].strip():
        raise CommandError("--owner is empty.")
    try:
        return owner_named(options["owner"])
    except Unnamed as error:
        raise CommandError(str(error)) from error


def _facts(owner: User, values: list[str]) -> tuple[UUID, ...]:
    return tuple(dict.fromkeys(_id("--fact", value) for value in values))


def _id(option: str, value: str) -> UUID:
    try:
        return UUID(value)
    except ValueError:
        raise BadSelection(f"{option} {value!r} is not an id.") from None


def _conversation(owner: User, value: str, source: object) -> Conversation:
    found = conversations_of(owner).filter(external_id=value)
    if source:
        found = found.filter(source=source)
    rows = list(found[:2])
    if not rows and _is_id(value):
        rows = list(conversations_of(owner).filter(pk=UUID(value)))
    if not rows:
        raise BadSelection(f"There is no conversation {value!r}.")
    if len(rows) > 1:
        raise BadSelection(f"Several sources have a conversation {value!r}: add --source.")
    return rows[0]


def _is_id(value: str) -> bool:
    try:
        UUID(value)
    except ValueError:
        return False
    return True


def _run(owner: User, value: str) -> ExtractionRun:
    run = runs_of(owner).filter(pk=_id("--run", value)).first()
    if run is None:
        raise BadSelection(f"There is no run {value}.")
    return run


def _import(owner: User, value: str) -> Import:
    found = Import.objects.filter(owner=owner, pk=_id("--import", value)).first()
    if found is None:
        raise BadSelection(f"There is no import {value}.")
    return found


def _client(owner: User, value: str) -> ApiKey:
    key = keys_of(owner).filter(prefix=value).first()
    if key is None:
        raise BadSelection(f"There is no key {value!r}; `manage.py apikey list` shows them.")
    return key


def _source(owner: User, value: str) -> str:
    known = sorted(conversations_of(owner).order_by().values_list("source", flat=True).distinct())
    if value not in known:
        raise BadSelection(f"There is no source {value!r}. There is: {', '.join(known) or 'none'}.")
    return value


def _moment(owner: User, value: str) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise BadSelection(
            f"{value!r} is not a time such as 2026-03-01 or 2026-03-01T18:00."
        ) from None
    if timezone.is_aware(moment):
        return moment
    clock = OwnerSettings.objects.values_list("time_zone", flat=True).get(owner=owner)
    return moment.replace(tzinfo=ZoneInfo(clock))


_FIELDS = {"fact": "facts", "import": "imported"}
_READ: dict[str, Callable[[User, Any], Any]] = {
    "fact": _facts,
    "conversation": lambda owner, value: value,
    "agent": agent_named,
    "source": _source,
    "run": _run,
    "import": _import,
    "client": _client,
    "since": _moment,
    "until": _moment,
    "match": lambda owner, value: value,
}
