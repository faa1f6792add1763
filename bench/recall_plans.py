"""Plans and times of recall's queries, and of every list in the browser, over a big store.

Owners of 1,000, 10,000 and 100,000 facts stand among a hundred others of 1,000 facts, in a Postgres
of the bench's own. Prints two tables and, with --plans, each plan; the last line is JSON.

    python -m bench.recall_plans [--largest 100000] [--others 100] [--keep FOLDER] [--plans]
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from bench.store import Seeded

MESSAGES = 40
BIG_TABLES = (
    "memory_fact", "memory_factembedding", "memory_factentity", "memory_entityalias",
    "conversations_message", "conversations_conversation", "memory_extractionrun",
)  # fmt: skip


class Query(NamedTuple):
    place: str
    sql: str
    values: Any


def main() -> None:
    arguments = _arguments()
    home = arguments.keep or tempfile.mkdtemp(prefix="remembrancer-bench-")
    os.environ |= {
        "REMEMBRANCER_HOME": home,
        "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    import django

    django.setup()
    owners = _store(arguments.largest, arguments.others)
    from memory import embedding

    embedding.warm_up()
    times = {seeded.facts: _recall_times(seeded) for seeded in owners}
    _print_times(times)
    queries = [*_recall_queries(owners[-1]), *_page_queries(owners[-1])]
    plans = [explained(query) for query in queries]
    _print_plans(plans, whole=arguments.plans)
    print(json.dumps({"recall_ms": times}))
    if not arguments.keep:
        _remove(home)


def _remove(home: str) -> None:
    from django.conf import settings
    from django.db import connections

    from config import embedded

    connections.close_all()
    embedded.leave(embedded.join(settings.HOME))
    shutil.rmtree(home)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=100_000)
    parser.add_argument("--others", type=int, default=100)
    parser.add_argument("--keep", help="a folder for the database, to use again")
    parser.add_argument("--plans", action="store_true", help="print every plan")
    return parser.parse_args()


def _store(largest: int, others: int) -> "list[Seeded]":
    from django.conf import settings
    from django.core.management import call_command

    from agents.models import Agent, User
    from bench.store import Seeded, Writer
    from config import embedded
    from memory import embedding

    sizes = [1_000, 10_000, largest]
    call_command("migrate", verbosity=0)
    if not User.objects.exists():
        server = embedded.join(settings.HOME)
        writer = Writer(server.url(embedded.SUPERUSER))
        for number in range(others):
            writer.seed(f"other{number}", 1_000, model=embedding.MODEL)
        for size in sizes:
            writer.seed(f"owner{size}", size, model=embedding.MODEL)
        writer.analyse()
    return [
        Seeded(agent.owner, agent, size)
        for size in sizes
        for agent in Agent.objects.filter(owner__username=f"owner{size}", slug="main")
    ]


def _messages(seeded: "Seeded") -> Iterator[str]:
    """Half of them share words with facts, all are distinct."""
    import random

    from bench.store import vocabulary

    rng, words = random.Random(seeded.facts), vocabulary()
    forms = ("what do I know about {} and {}?", "where did I see {}", "my {} {} {} in March 2026")
    for number in range(MESSAGES):
        picked = [words[int(len(words) * rng.random() ** 3)] for _ in range(3)]
        yield forms[number % 3].format(*picked)


def _recall_times(seeded: "Seeded") -> dict[str, float]:
    from memory import embedding
    from memory.recall.query import as_facts_say
    from memory.recall.service import recall

    steps: dict[str, list[float]] = defaultdict(list)
    for number, message in enumerate(_messages(seeded)):
        started = time.perf_counter()
        result = recall(agent=seeded.agent, message=message)
        elapsed = 1000 * (time.perf_counter() - started)
        started = time.perf_counter()
        embedding.embed([as_facts_say(message) + " "])
        alone = 1000 * (time.perf_counter() - started)
        if number < 3:  # warm
            continue
        for report in result.trace.legs:
            assert report.outcome != "failed", report
            steps[report.leg].append(report.milliseconds)
        for name in ("facts", "block"):
            steps[name].append(result.trace.timings[name])
        steps["total"].append(elapsed)
        steps["embedding alone"].append(alone)
    return {name: round(statistics.median(values), 2) for name, values in steps.items()} | {
        "p95": round(sorted(steps["total"])[int(0.95 * len(steps["total"]))], 2)
    }


def _print_times(times: dict[int, dict[str, float]]) -> None:
    names = next(iter(times.values()))
    print("| step, median ms |", " | ".join(f"{size:,} facts" for size in times), "|")
    print("| --- |", " | ".join("---:" for _ in times), "|")
    for name in names:
        print(f"| {name} |", " | ".join(f"{row[name]:.1f}" for row in times.values()), "|")


def _recall_queries(seeded: "Seeded") -> list[Query]:
    from django.db import transaction

    from memory.recall.service import recall

    message = list(_messages(seeded))[5]  # it names a month
    # Within a transaction everything is asked on this connection.
    with transaction.atomic():
        return captured("recall", lambda: recall(agent=seeded.agent, message=message))


def _page_queries(seeded: "Seeded") -> list[Query]:
    from django.test import Client
    from django.urls import NoReverseMatch, reverse

    from memory.models import ExtractionRun, Fact

    client = Client(HTTP_HOST="localhost")
    client.force_login(seeded.owner)
    fact = Fact.objects.filter(owner=seeded.owner, state="active").first()
    run = ExtractionRun.objects.filter(owner=seeded.owner).first()
    assert fact is not None
    assert run is not None
    pages: list[tuple[str, list[Any], str]] = [
        ("review", [], ""),
        ("facts", [], ""),
        ("facts", [], "?q=bike"),
        ("facts", [], "?state=pending"),
        ("fact", [fact.pk], ""),
        ("conversations", [], ""),
        ("conversation", [run.conversation_id], ""),
        ("runs", [], ""),
        ("run", [run.pk], ""),
    ]
    found: list[Query] = []
    for name, arguments, query in pages:
        try:
            address = reverse(name, args=arguments) + query
        except NoReverseMatch:
            print(f"no page {name}", file=sys.stderr)
            continue
        found += captured(address, partial(client.get, address))
    return found


def captured(place: str, action: Callable[[], object]) -> list[Query]:
    """What `action` asks the database for."""
    from django.db import connection

    found: list[Query] = []

    def note(execute: Any, sql: str, values: Any, *rest: Any) -> Any:
        if sql.lstrip().startswith(("SELECT", "WITH")):
            found.append(Query(place, sql, values))
        return execute(sql, values, *rest)

    with connection.execute_wrapper(note):
        action()
    return found


def explained(query: Query) -> dict[str, Any]:
    (plan,) = _asked(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query.sql}", query.values)[0]
    lines = _asked(f"EXPLAIN (ANALYZE, BUFFERS) {query.sql}", query.values)
    plan = json.loads(plan)[0] if isinstance(plan, str) else plan[0]
    return {
        "place": query.place,
        "sql": query.sql,
        "ms": plan["Execution Time"],
        "planning": plan["Planning Time"],
        "scans": list(_scans(plan["Plan"])),
        "text": "\n".join(line for (line,) in lines),
    }


def _asked(sql: str, values: Any) -> list[Any]:
    """As it was asked: by recall with values by name, which the server binds."""
    from django.db import connection

    from memory.recall.statements import ask

    if isinstance(values, Mapping):
        return ask(sql, values)
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


def _scans(node: dict[str, Any]) -> Iterator[str]:
    relation, index = node.get("Relation Name"), node.get("Index Name")
    if relation in BIG_TABLES or index:
        rows = int(node["Actual Rows"] * node["Actual Loops"])
        yield f"{node['Node Type']} {index or relation} ({rows:,} rows)"
    for child in node.get("Plans", ()):
        yield from _scans(child)


def _print_plans(plans: list[dict[str, Any]], *, whole: bool) -> None:
    print("\n| where | ms | planning | scans |\n| --- | ---: | ---: | --- |")
    for plan in plans:
        scans = "; ".join(plan["scans"])
        print(f"| {plan['place']} | {plan['ms']:.1f} | {plan['planning']:.1f} | {scans} |")
    if whole:
        for plan in plans:
            print(f"\n-- {plan['place']}\n{plan['sql'][:1500]}\n\n{plan['text'][:4000]}")


if __name__ == "__main__":
    main()
