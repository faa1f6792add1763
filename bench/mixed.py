"""Everything at once for some minutes: clients, the worker's extraction and consolidation."""

import threading
import time
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Any

from bench import home
from bench.load import Act, Client
from bench.load import run as run_load

if TYPE_CHECKING:
    from bench.api import World
    from bench.setups import SetUp

CLIENTS = 8
EVERY = 5.0  # seconds between two looks at memory
CONSOLIDATE = 60.0
# A part of the time, at the beginning and at the end: what grows between them stays.
TENTHS = 10
WAIT_FOR_WORKER = 90


def run(world: "World", setup: "SetUp", minutes: float) -> dict[str, Any]:
    with home.told(f"starting {setup.name}"):
        setup.start()
    deadlocks = _deadlocks()
    watch = _Watch(world, setup)
    try:
        watch.start()
        told = run_load(_mix(world), world.clients(setup.port, CLIENTS), 60 * minutes)
        _let_worker_end(world)
    finally:
        watch.stop()
        setup.stop()
    found = {
        "minutes": minutes,
        **told.figures(),
        "accepted": len(world.accepted),
        "lost": world.accepted.lost(),
        "deadlocks": _deadlocks() - deadlocks,
        "faults": len(setup.faults()),
        "memory_mb": watch.by_tenth(),
        "growth_mb": watch.growth(),
        **_done(),
    }
    _print(found, told.errors, setup)
    return found


def _mix(world: "World") -> Act:
    """Of twenty calls eleven recall, six store what was said, two search, one remembers."""
    acts = [world.recall] * 11 + [world.ingest] * 6 + [world.search] * 2 + [world.remember]

    def act(client: Client) -> None:
        client.random.choice(acts)(client)

    return act


class _Watch(threading.Thread):
    """Notes memory, and asks for a consolidation of every owner each minute."""

    def __init__(self, world: "World", setup: "SetUp") -> None:
        super().__init__(name="watch", daemon=True)
        self.world, self.setup = world, setup
        self.seen: list[dict[str, float]] = []
        self.ended = threading.Event()

    def run(self) -> None:
        from django.db import connection

        began, asked = time.monotonic(), 0
        while not self.ended.wait(EVERY):
            self.seen.append(self.setup.memory())
            if (time.monotonic() - began) / CONSOLIDATE > asked:
                asked += 1
                self._consolidate()
        connection.close()

    def _consolidate(self) -> None:
        from django.utils import timezone

        from memory.consolidation.due import ask_for_run

        for owner in self.world.owners:
            ask_for_run(owner.user, timezone.now())

    def stop(self) -> None:
        self.ended.set()
        self.join(30)

    def by_tenth(self) -> dict[str, list[float]]:
        size = max(1, len(self.seen) // TENTHS)
        parts = [self.seen[n : n + size] for n in range(0, len(self.seen), size)][:TENTHS]
        names = self.seen[0] if self.seen else {}
        return {
            name: [round(median(one[name] for one in part)) for part in parts] for name in names
        }

    def growth(self) -> dict[str, float]:
        """From the third tenth, when all is loaded, to the last."""
        return {
            name: values[-1] - values[min(2, len(values) - 1)]
            for name, values in self.by_tenth().items()
        }


def _let_worker_end(world: "World") -> None:
    """What is due is read; so is what the last sweep took up."""
    from memory.models import ConsolidationSchedule

    give_up = time.monotonic() + WAIT_FOR_WORKER
    while time.monotonic() < give_up:
        if not ConsolidationSchedule.objects.filter(requested_at__isnull=False).exists():
            return
        time.sleep(1)


def _done() -> dict[str, int]:
    from memory.models import ConsolidationRun, ExtractionRun

    runs = Counter(ExtractionRun.objects.values_list("state", flat=True))
    return {
        "extraction_runs": runs.total(),
        "extraction_failed": runs["failed"],
        "consolidation_runs": ConsolidationRun.objects.count(),
    }


def _deadlocks() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        (count,) = cursor.fetchone()
    return int(count)


def _print(found: dict[str, Any], errors: Counter[str], setup: "SetUp") -> None:
    for name, value in found.items():
        print(f"{name}: {value}")
    for what, times in errors.most_common(5):
        print(f"error, {times} x: {what}")
    for line in setup.faults()[:10]:
        print(f"in a log: {line[:200]}")
