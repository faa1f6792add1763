import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator
from threading import Event
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from agents.wording import counted
from memory import embedding
from memory import reembed as moving
from memory.stopping import stop_request

PARTLY, INTERRUPTED = 3, 130


class Command(BaseCommand):
    help = """\
Make the vectors of all facts, passages and cases with the embedding model of the settings, and then
drop those of other models. Everything may keep running: until the new vectors are there, whoever
runs with the old model uses the old ones, and what has none is found by its words.

To change the model without a gap:
  1. EMBEDDING_MODEL=/models/new manage.py reembed --keep-old   (all else runs with the old)
  2. set EMBEDDING_MODEL=/models/new in .env and restart web server and worker
  3. manage.py reembed                                          (what is new, then the old go)
"""

    def create_parser(self, *arguments: Any, **options: Any) -> Any:
        return super().create_parser(
            *arguments, formatter_class=RawDescriptionHelpFormatter, **options
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.epilog = EPILOG
        parser.add_argument("--dry-run", action="store_true", help="only count")
        parser.add_argument("--keep-old", action="store_true", help="drop nothing at the end")

    def handle(self, *arguments: Any, **options: Any) -> None:
        missing, old = moving.missing(), moving.old()
        self._tell_plan(missing, old)
        if options["dry_run"]:
            return
        self._load()
        try:
            with stop_request(self.stderr.write) as stop:
                self._make(stop, sum(missing.values()))
                self._drop(stop, options["keep_old"])
        except moving.Stuck as error:
            raise CommandError(f"{error} Run it again; if it stays so, see the log.") from error
        except KeyboardInterrupt:
            self._stop()

    def _tell_plan(self, missing: dict[str, int], old: dict[str, int]) -> None:
        found = ", ".join(f"{number:,} {name}" for name, number in missing.items() if number)
        self.stdout.write(f"Without a vector of {embedding.MODEL}: {found or 'nothing'}.")
        for model, number in old.items():
            self.stdout.write(f"Of the model {model}: {counted(number, 'vector')}.")

    def _load(self) -> None:
        """Raises CommandError."""
        try:
            embedding.warm_up()
        except Exception as error:
            raise CommandError(
                f"The embedding model {embedding.MODEL} can't be loaded "
                f"({type(error).__name__}: {error}). Nothing was changed."
            ) from error

    def _make(self, stop: Event, total: int) -> None:
        made = 0
        with tqdm(total=total, unit=" vectors", disable=None) as bar:
            for name, number in moving.make_missing(stop):
                bar.set_postfix_str(name, refresh=False)
                bar.update(number)
                made += number
        self._check_stop(stop)
        self.stdout.write(f"Made {counted(made, 'vector')}.")
        for index in moving.index_new():
            self.stdout.write(f"Made the index {index}.")

    def _drop(self, stop: Event, keep: bool) -> None:
        old = sum(moving.old().values())
        if keep or not old:
            return
        if used := moving.still_used():
            names = ", ".join(sorted({one.embedding_model for one in used}))
            self.stderr.write(
                f"The old vectors stay: the worker still runs with {names}. Restart web server and "
                "worker with the new EMBEDDING_MODEL, and run this again in three minutes."
            )
            sys.exit(PARTLY)
        dropped = sum(_watched(moving.drop_old(stop), old))
        self.stdout.write(f"Dropped {counted(dropped, 'old vector')}.")
        self._check_stop(stop)

    def _check_stop(self, stop: Event) -> None:
        if stop.is_set():
            self._stop()

    def _stop(self) -> None:
        self.stderr.write("Stopped. Run it again to go on.")
        sys.exit(INTERRUPTED)


def _watched(steps: Iterator[int], total: int) -> Iterator[int]:
    with tqdm(total=total, unit=" vectors", disable=None) as bar:
        for number in steps:
            bar.update(number)
            yield number


EPILOG = """\
It can be stopped with Ctrl-C and goes on where it was. The worker makes missing vectors by itself
too, a little each minute; two at it do no harm.

exit codes: 0 all is made, and the old are gone unless --keep-old; 1 the model can't be loaded;
3 all is made, but the old stay because they are in use; 130 stopped.
"""
