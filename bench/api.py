"""What the API bears: recall, ingest and remember over HTTP with 1, 8 and 32 clients. No LLM.

    python -m bench.api [--seconds 6] [--processes 1,2] [--without-mem0] [--minutes 10]

First what `make up` starts, then the server set-up with Redis, each with its worker and beat, over
a store of eight owners of 1,000 facts; then mem0's library behind FastAPI with as many memories;
then what the proxy adds. With --minutes all kinds of calls come mixed, for so long, while worker
and consolidation run, and only that is done. The limit of calls is off (API_CALLS_PER_MINUTE=0).
Clients are threads of this process, on the same cores. The last line is one JSON object.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from bench import home, peers
from bench.load import Accepted, Act, Client, Figures, Told, Wrong, expect, messages, run
from bench.quality import CACHE

if TYPE_CHECKING:
    from bench.seed import Owner
    from bench.setups import SetUp

CLIENTS = (1, 8, 32)
OWNERS = 8
FACTS = 1_000
QUESTIONS = 300  # for the proxy
Rows = dict[str, dict[str, Figures]]


def main() -> None:
    options = _options()
    with TemporaryDirectory(prefix="bench-api-") as folder:
        home.start(Path(folder))
        try:
            told = _told(options, Path(folder))
        finally:
            home.stop()
    print(json.dumps(told))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=6, help="for each row")
    parser.add_argument("--processes", default="1,2", help="web processes of the server set-up")
    parser.add_argument("--facts", type=int, default=FACTS)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="for the proxy; 0: none")
    parser.add_argument("--without-mem0", action="store_true")
    parser.add_argument("--minutes", type=float, default=0, help="of mixed load, and nothing else")
    return parser.parse_args()


def _told(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    from bench import mixed, setups

    world = World(options.facts)
    if options.minutes:
        return {"mixed": mixed.run(world, setups.made_up(folder, folder), options.minutes)}
    acts = {"recall": world.recall, "ingest": world.ingest, "remember": world.remember}
    found = _measured(world, setups.made_up(folder, folder), acts, options.seconds)
    for processes in map(int, options.processes.split(",")):
        logs = folder / f"server-{processes}"
        logs.mkdir()
        setup = setups.served(home.app_url(), logs, processes=processes)
        found[f"server_{processes}"] = _measured(world, setup, acts, options.seconds)
    if not options.without_mem0:
        found["mem0"] = _mem0(world, folder, options.seconds)
    if options.questions:
        from bench import proxy

        found["proxy_overhead_ms"] = proxy.overhead(options.questions, seeder=world.seeder)
    found["lost"] = world.accepted.lost()
    print(f"\n{len(world.accepted)} messages accepted, {found['lost']} lost.")
    return found


class World:
    """Owners with facts, a key each, and what was accepted so far."""

    def __init__(self, facts: int) -> None:
        from bench.seed import Seeder

        with home.told("making vectors of subjects"):
            self.seeder: Seeder = Seeder(home.bench_url())
        self.owners = [self.seeder.owner(f"owner{n}", facts) for n in range(OWNERS)]
        with home.told(f"seeding {OWNERS} owners of {facts}"):
            self.seeder.fill(self.owners)
            self.seeder.settle()
        scopes = ["recall", "ingest", "remember", "search"]
        self.keys = [home.api_key(owner.user, scopes, owner.agent) for owner in self.owners]
        self.accepted = Accepted()

    def hand_over(self, folder: Path) -> None:
        """As a peer is given facts, with their vectors."""
        from bench.floor import Floor

        rows, vectors = Floor(home.bench_url()).everything([one.user.pk for one in self.owners])
        with (folder / "rows.jsonl").open("w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        np.save(folder / "vectors.npy", vectors)

    def clients(self, port: int, count: int) -> list[Client]:
        return [Client(port, n, self.keys[n % OWNERS]) for n in range(count)]

    def owner(self, client: Client) -> "Owner":
        return self.owners[client.number % OWNERS]

    def words(self, client: Client, count: int = 3) -> str:
        return " ".join(client.random.choices(self.seeder.words[200:], k=count))

    def recall(self, client: Client) -> None:
        body = {"message": self.question(client), "conversation": f"load-{client.number}"}
        expect(client.post("/api/v1/recall", body), 200)

    def question(self, client: Client) -> str:
        return self.seeder.question(self.owner(client), client.asked)

    def ingest(self, client: Client) -> None:
        talk = f"load-{client.number}"
        batch = messages(client, lambda: self.words(client))
        told = expect(
            client.post(f"/api/v1/conversations/{talk}/messages", {"messages": batch}), 200
        )
        if json.loads(told)["new"] != len(batch):
            raise Wrong("Accepted without being new.")
        owner = self.owner(client).user.username
        self.accepted.add(owner, talk, [one["id"] for one in batch])

    def remember(self, client: Client) -> None:
        number = client.random.randrange(10**9)
        body = {"statement": f"The user sold {self.words(client)} {number}."}
        told = json.loads(expect(client.post("/api/v1/remember", body), 200))
        if told["outcome"] == "refused":
            raise Wrong(f"Refused: {told['gate']}")

    def search(self, client: Client) -> None:
        expect(client.post("/api/v1/search", {"query": self.question(client), "k": 10}), 200)


def _measured(
    world: World, setup: "SetUp", acts: Mapping[str, Act], seconds: float
) -> dict[str, Any]:
    with home.told(f"starting {setup.name}"):
        setup.start()
    try:
        before = setup.memory()
        rows = _rows(acts, lambda count: world.clients(setup.port, count), seconds, setup.name)
        after = setup.memory()
    finally:
        setup.stop()
    print_rows(setup.name, rows)
    told = (f"{name} {before[name]:.0f} to {now:.0f}" for name, now in after.items())
    print(f"\nMemory, MB: {', '.join(told)}.")
    faults = setup.faults()
    for line in faults[:5]:
        print(f"in a log: {line[:200]}")
    return {**rows, "memory_mb": after, "faults": len(faults)}


def _rows(
    acts: Mapping[str, Act], clients: Callable[[int], Sequence[Client]], seconds: float, name: str
) -> Rows:
    rows: Rows = {}
    for what, act in acts.items():
        rows[what] = {}
        for count in CLIENTS:
            told = run(act, clients(count), seconds)
            rows[what][str(count)] = told.figures()
            _complain(told, f"{name}, {what}, {count} clients")
    return rows


def _complain(told: Told, where: str) -> None:
    for what, times in told.errors.most_common(3):
        print(f"{where}: {times} x {what}", file=sys.stderr)


def _mem0(world: World, folder: Path, seconds: float) -> dict[str, Any]:
    """Its owners have the active facts of ours; what it is asked is what we are."""
    from bench import setups
    from memory import embedding

    logs = folder / "mem0"
    logs.mkdir()
    with home.told("handing facts to mem0"):
        world.hand_over(logs)
    [graph] = (folder / "models").glob("*.onnx")
    setup = setups.mem0(
        home.superuser_url(),
        logs,
        python=peers.environment(CACHE / "peers"),
        graph=graph,
        weights=embedding.packaged_weights(),
    )

    def user(client: Client) -> dict[str, str]:
        return {"user_id": str(world.owner(client).user.pk)}

    def search(client: Client) -> None:
        expect(client.post("/search", {"query": world.question(client)} | user(client)), 200)

    def add(client: Client) -> None:
        text = f"The user sold {world.words(client)} {client.random.randrange(10**9)}."
        said = {"messages": [{"role": "user", "content": text}]}
        expect(client.post("/memories", said | user(client)), 200)

    return _measured(world, setup, {"search": search, "add": add}, seconds)


def print_rows(title: str, rows: Rows) -> None:
    names = ("rps", "p50", "p95", "p99", "errors")
    print(f"\n{title}\n\n| clients |", " | ".join(["calls a second", *names[1:]]), "|")
    print("| --- |", " | ".join("---:" for _ in names), "|")
    for what, by_clients in rows.items():
        for count, row in by_clients.items():
            print(f"| {what}, {count} |", " | ".join(f"{row[name]:g}" for name in names), "|")


if __name__ == "__main__":
    main()
