"""How long recall takes, beside the floor and beside mem0. No LLM is asked.

    python -m bench.latency [--million [--owners 1000] [--without-index]] [--questions 300]
        [--largest 100000] [--keep FOLDER] [--without-mem0]

One owner each of 1,000, 10,000 and 100,000 facts, among twenty of 1,000; with --million a thousand
owners of 1,000 and one of 10,000. Only the latter has so many that recall asks the index of
vectors, which is long in building over a million: --without-index leaves it out. Floor: one query
embedding and the fastest query for the nearest of one owner's vectors that finds as much as ours.
Floor, ours and mem0 take turns, question by question, so that a busy machine is busy for all three.
All questions are distinct and the cache of embeddings is off but in the row that shows it. A folder
that --keep left behind is asked again without being filled again. The last line is one JSON object,
in milliseconds.
"""

import argparse
import json
import os
import statistics
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bench import home, peers
from bench.live import Client, Mem0, Server, writes
from bench.quality import CACHE

if TYPE_CHECKING:
    from bench.floor import Way
    from bench.seed import Owner

SYSTEMS = {
    "floor": "Floor",
    "ours": "Ours",
    "mem0": "mem0 that is given our vector, with the time of our embedding",
    "mem0_own": "mem0 that embeds for itself, with sentence-transformers on the same weights",
}
SIZES = {"1k": 1_000, "10k": 10_000, "100k": 100_000}
OTHERS = 20
MILLION = 1_000  # owners of 1,000 facts each
# Questions that are asked before any is counted.
WARM = 10
# Questions by which the floor's way is chosen, and of which it is told how much ours finds: one in
# so many for which a scan gets stuck must not be half of what is missing.
PROBES = 100
CLIENTS = (1, 8)
WRITES_A_SECOND = 10
# More takes it longer to index than all the rest takes.
MEM0_HOLDS = 100_000
# In the folder of a store that is filled.
KEPT = "owners.json"
Times = dict[str, dict[str, float]]


def main() -> None:
    options = _options()
    with TemporaryDirectory(prefix="bench-latency-") as temporary:
        folder = options.keep or Path(temporary)
        home.start(folder)
        _Run(options, folder).go()
        home.stop()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--owners", type=int, default=MILLION, help="fewer, to try --million out")
    parser.add_argument("--without-index", action="store_true")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--keep", type=Path, help="a folder for the database, asked again later")
    parser.add_argument("--without-mem0", action="store_true")
    parser.add_argument("--largest", type=int, default=100_000)
    return parser.parse_args()


class _Run:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        from bench.floor import Floor
        from bench.seed import Seeder

        self.options, self.folder = options, folder
        self.url = home.bench_url()
        with home.told("making vectors of subjects"):
            self.seeder: Seeder = Seeder(self.url)
        self.floor: Floor = Floor(self.url)
        self.results: dict[str, Times] = {name: {} for name in SYSTEMS}
        self.ways: dict[str, Way] = {}
        self.database = _Database()

    def go(self) -> None:
        kept = self.folder / KEPT
        stores = self.seeder.kept(kept) if kept.exists() else self._seed()
        if not kept.exists():
            self.seeder.keep(stores, kept)
        steps: dict[str, dict[str, float]] = {}
        for label, owners in stores.items():
            steps[label] = self._compare(label, owners)
        self._print_comparison()
        print_table("Steps of recall, medians", steps)
        print_table("The same question again, embedding known", {"ours": self._cached(stores)})
        try:
            self._under_load(stores)
        finally:  # what was measured before counts, whatever became of the load
            print(json.dumps({**self.results, "ann_recall": self._ann_recall()}))

    def _ann_recall(self) -> float:
        return round(min(way.found_by_ours for way in self.ways.values()), 4)

    def _seed(self) -> dict[str, list["Owner"]]:
        from agents.models import User
        from bench.seed import build_index, drop_index

        if User.objects.exists():
            sys.exit(f"{self.folder} holds a store that was not filled to its end: delete it.")
        seeder = self.seeder
        if self.options.million:
            many = [seeder.owner(f"owner{n}", 1_000) for n in range(self.options.owners)]
            stores = {"1M": many, "10k": [seeder.owner("owner10k", 10_000)]}
            others = []
        else:
            sizes = {k: n for k, n in SIZES.items() if n <= self.options.largest}
            stores = {label: [seeder.owner(f"owner{label}", n)] for label, n in sizes.items()}
            others = [seeder.owner(f"other{n}", 1_000) for n in range(OTHERS)]
        drop_index()
        with home.told("seeding"):
            seeder.fill([*others, *(owner for owners in stores.values() for owner in owners)])
        if not self.options.without_index:
            with home.told("building the index of vectors"):
                build_index()
        with home.told("vacuum"):
            seeder.settle()
        return stores

    def _compare(self, label: str, owners: Sequence["Owner"]) -> dict[str, float]:
        from memory import embedding

        embedding.known.limit = 0
        mem0 = self._mem0(label, owners)
        asked = list(self._questions(owners, self.options.questions))
        way = self.ways[label] = self.floor.choose(asked[:PROBES])
        taken: dict[str, list[float]] = defaultdict(list)
        steps: dict[str, list[float]] = defaultdict(list)
        for number, (owner, question) in enumerate(asked):
            turns = [
                lambda: self._floor(owner, question, way.look, taken),  # noqa: B023
                lambda: self._ours(owner, question, taken, steps),  # noqa: B023
            ]
            for turn in turns[:: 1 if number % 2 else -1]:
                turn()
            if mem0:
                vector = self.floor.vector
                given, own = mem0.search(question, vector, str(owner.user.pk))
                taken["mem0"].append(given + taken["embedding"][-1])
                taken["mem0_own"].append(own)
            if number == WARM:
                taken.clear()
                steps.clear()
        if mem0:
            mem0.stop()
        for name in SYSTEMS:
            if taken[name]:
                self.results[name][label] = _spread(taken[name])
        steps["embedding alone"] = taken["embedding"]
        steps["nearest alone"] = taken["nearest"]
        return {name: statistics.median(values) for name, values in steps.items()}

    def _floor(
        self, owner: "Owner", question: str, nearest: Any, taken: dict[str, list[float]]
    ) -> None:
        embedding, near = self.floor.ask(owner.user.pk, question, nearest)
        taken["embedding"].append(embedding)
        taken["nearest"].append(near)
        taken["floor"].append(embedding + near)

    def _ours(
        self,
        owner: "Owner",
        question: str,
        taken: dict[str, list[float]],
        steps: dict[str, list[float]],
    ) -> None:
        from memory.recall.service import recall

        self.database.drain()
        started = time.perf_counter()
        result = recall(agent=owner.agent, message=question)
        taken["ours"].append(1_000 * (time.perf_counter() - started))
        for report in result.trace.legs:
            assert report.outcome != "failed", report
            if report.outcome == "ok":
                steps[f"leg {report.leg}"].append(report.milliseconds)
        steps["all legs"].append(result.trace.timings["legs"])
        steps["scores"].append(result.trace.timings["facts"])
        steps["block"].append(result.trace.timings["block"])
        steps["database, all connections"].append(self.database.drain())
        steps["items told"].append(len(result.items))

    def _questions(self, owners: Sequence["Owner"], count: int) -> Iterator[tuple["Owner", str]]:
        for number in range(count):
            owner = self.seeder.random.choice(owners)
            yield owner, self.seeder.question(owner, number)

    def _mem0(self, label: str, owners: Sequence["Owner"]) -> Mem0 | None:
        if self.options.without_mem0 or sum(one.facts for one in owners) > MEM0_HOLDS:
            return None
        with home.told(f"filling mem0 with {label}"):
            rows, vectors = self.floor.everything([owner.user.pk for owner in owners])
            mem0 = Mem0(
                f"m{label.lower()}",
                url=home.superuser_url(),
                python=peers.environment(CACHE / "peers"),
                rows=rows,
                vectors=vectors,
            )
            return mem0 if mem0.is_ready() else None

    def _cached(self, stores: Mapping[str, Sequence["Owner"]]) -> dict[str, float]:
        from memory import embedding

        embedding.known.limit = 512
        found = {}
        for label, owners in stores.items():
            taken: dict[str, list[float]] = defaultdict(list)
            for owner, question in self._questions(owners, 50):
                _in_process(owner, question)
                self._ours(owner, question, taken, defaultdict(list))
            found[label] = statistics.median(taken["ours"])
        embedding.known.limit = 0
        return found

    def _under_load(self, stores: Mapping[str, Sequence["Owner"]]) -> None:
        """In process and over HTTP, one and eight at once, alone and beside a writer."""
        rows: dict[str, dict[str, float]] = {}
        server = Server(self.folder)
        try:
            server.wait()
            before = server.memory()
            for label, owners in stores.items():
                for way, call in (("in process", None), ("HTTP", server)):
                    rows |= self._load(label, owners, way, call)
            print_table("Under load: milliseconds", rows)
            print(
                f"\nMemory: web server {before:.0f} MB at first, {server.memory():.0f} MB at last,"
                f" this process {_own_memory():.0f} MB."
            )
        finally:
            server.stop()

    def _load(
        self, label: str, owners: Sequence["Owner"], way: str, server: Server | None
    ) -> dict[str, dict[str, float]]:
        rows = {}
        for clients in CLIENTS:
            for with_writes in (False, True):
                asked = list(self._questions(owners, max(50, self.options.questions // 3)))
                call = _HttpCalls(server, (one for one, _ in asked)) if server else _in_process
                name = f"{label}, {way}, {clients} at once" + (", writes" if with_writes else "")
                if with_writes:
                    with writes(owners[0].user.username, a_second=WRITES_A_SECOND):
                        rows[name] = _spread(_at_once(call, asked, clients))
                else:
                    rows[name] = _spread(_at_once(call, asked, clients))
        return rows

    def _print_comparison(self) -> None:
        for name, times in self.results.items():
            if times:
                print_table(f"{SYSTEMS[name]}, milliseconds", times)
        ratios = {
            label: {
                "p50 over the floor's": ours["p50"] / self.results["floor"][label]["p50"],
                "p95 over its p50": ours["p95"] / ours["p50"],
                "nearest found, of exact": self.ways[label].found_by_ours,
            }
            for label, ours in self.results["ours"].items()
        }
        print_table("Ratios", ratios)
        for label, way in self.ways.items():
            print(f"The floor at {label} looks by {way.name}, which finds {way.found:.3f}.")


class _Database:
    """Waited for, by whichever thread and connection: the look for what is near is not asked by the
    thread that waits for recall."""

    def __init__(self) -> None:
        from django.db import connection
        from django.db.backends.signals import connection_created

        self.taken: list[float] = []
        connection.execute_wrappers.append(self)
        connection_created.connect(self._watch, weak=False)

    def drain(self) -> float:
        """Milliseconds since it was last asked."""
        taken, self.taken = self.taken, []
        return sum(taken)

    def _watch(self, connection: Any, **_: Any) -> None:
        if self not in connection.execute_wrappers:
            connection.execute_wrappers.append(self)

    def __call__(self, execute: Any, *arguments: Any) -> Any:
        started = time.perf_counter()
        try:
            return execute(*arguments)
        finally:
            self.taken.append(1_000 * (time.perf_counter() - started))


Call = Callable[["Owner", str], None]


def _in_process(owner: "Owner", question: str) -> None:
    from memory.recall.service import recall

    recall(agent=owner.agent, message=question)


class _HttpCalls:
    """A kept connection a thread."""

    def __init__(self, server: Server, owners: Iterable["Owner"]) -> None:
        self.server = server
        users = {owner.user.pk: owner.user for owner in owners}
        self.keys = {key: home.api_key(user) for key, user in users.items()}
        self.local = threading.local()

    def __call__(self, owner: "Owner", question: str) -> None:
        client: Client | None = getattr(self.local, "client", None)
        if client is None:
            client = self.local.client = Client(self.server.port)
        client.recall(question, self.keys[owner.user.pk])


def _at_once(call: Call, asked: Sequence[tuple["Owner", str]], clients: int) -> list[float]:
    def one(pair: tuple["Owner", str]) -> float:
        started = time.perf_counter()
        call(*pair)
        return 1_000 * (time.perf_counter() - started)

    def end() -> None:
        from django.db import connection

        connection.close()

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(one, asked[:WARM]))
        taken = list(pool.map(one, asked[WARM:]))
        for _ in range(clients):
            pool.submit(end)
    return taken


def _spread(taken: Sequence[float]) -> dict[str, float]:
    ordered = sorted(taken)
    at = {name: ordered[int(share * (len(ordered) - 1))] for name, share in _SHARES.items()}
    return {name: round(value, 2) for name, value in at.items()}


_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def _own_memory() -> float:
    import psutil

    return float(psutil.Process(os.getpid()).memory_info().rss / 2**20)


def print_table(title: str, rows: Mapping[str, Mapping[str, float]]) -> None:
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    print(f"\n{title}\n\n| |", " | ".join(names), "|")
    print("| --- |", " | ".join("---:" for _ in names), "|")
    for label, row in rows.items():
        cells = (f"{row[name]:.2f}" if name in row else "" for name in names)
        print(f"| {label} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
