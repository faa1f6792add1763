"""What the desk and the admin cost an owner of many facts: times, queries, rows that one reads.

    python -m bench.desk [--facts 1000000] [--pending 10000] [--keep FOLDER]

Facts are seeded with COPY into a Postgres of the bench's own, without vectors and terms, which
these pages don't read. Every request goes through the whole application. A query's rows are those
that its plan's scans touched, dropped ones included. The last line is JSON.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    import psycopg
    from django.test import Client

    from agents.models import User

NOW = datetime.now(UTC)
REPEATS = 15
PER_TALK = 10  # candidates of one conversation
WORDS = (
    "bees",
    "hens",
    "rent",
    "tea",
    "rust",
    "boats",
    "pears",
    "trains",
    "maths",
    "bread",
    "choir",
)
_FACT = (
    "id, owner_id, agent_id, kind, statement, text_hash, language, state, confidence, tags, pinned,"
    " origin, valid_precision, created_at, observed_at, last_confirmed_at, archived_reason,"
    " archived_from, withheld_for, withheld_detail, prompt_version, reviewer_id, reviewed_at,"
    " conversation_id, decayed_at"
)


Ask = Callable[["Client"], Any]


@dataclass(frozen=True)
class Cost:
    page: str
    milliseconds: float
    queries: int
    most_rows: int


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--pending", type=int, default=10_000)
    parser.add_argument("--keep", help="a folder for the database, to use again")
    options = parser.parse_args()
    folder = options.keep or tempfile.mkdtemp(prefix="bench-desk-")
    os.environ |= {
        "REMEMBRANCER_HOME": folder,
        "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    import django

    django.setup()
    costs = _costs(_owner(options.facts, options.pending))
    print("| page | median ms | queries | most rows read by one |\n| --- | ---: | ---: | ---: |")
    for cost in costs:
        print(f"| {cost.page} | {cost.milliseconds:.0f} | {cost.queries} | {cost.most_rows:,} |")
    print(json.dumps({"facts": options.facts, "pages": [asdict(cost) for cost in costs]}))
    if not options.keep:
        _remove(folder)


def _remove(folder: str) -> None:
    from django.conf import settings
    from django.db import connections

    from config import embedded

    connections.close_all()
    embedded.leave(embedded.join(settings.HOME))
    shutil.rmtree(folder, ignore_errors=True)


def _owner(facts: int, pending: int) -> "User":
    import psycopg
    from django.conf import settings
    from django.core.management import call_command

    from agents.models import User
    from config import embedded

    call_command("migrate", verbosity=0)
    known = User.objects.filter(username="desk").first()
    if known is not None:
        return known
    owner: User = User.objects.create_user(username="desk")
    url = embedded.join(settings.HOME).url(embedded.SUPERUSER)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        _seed(connection, owner, facts, pending)
        connection.execute("VACUUM ANALYZE")
    return owner


def _seed(connection: "psycopg.Connection[Any]", owner: "User", facts: int, pending: int) -> None:
    from agents.models import new_id

    agent = owner.agents.get(is_default=True)
    talks = [new_id() for _ in range(pending // PER_TALK)]
    _copy(
        connection,
        "conversations_conversation",
        "id, owner_id, agent_id, source, external_id, title, read_only, sensitive, created_at,"
        " last_activity_at, first_message_at, last_message_at, last_seq, compacted_seq,"
        " cursor_seq, due_trigger, attempts, last_error",
        (
            (key, owner.pk, agent.pk, "api", f"c{n}", f"Talk {n}", False, False, NOW, NOW, NOW,
             NOW, PER_TALK, 0, PER_TALK, "", 0, "")
            for n, key in enumerate(talks)
        ),
    )  # fmt: skip
    messages = [new_id() for _ in range(pending)]
    waiting = [new_id() for _ in range(pending)]
    _copy(
        connection,
        "conversations_message",
        "id, owner_id, conversation_id, seq, client_id, role, kind, speaker, from_owner, content,"
        " sent_at, zone, on_branch, created_at",
        (
            (key, owner.pk, talks[n // PER_TALK], n % PER_TALK + 1, f"m{n}", "user", "said", "",
             True, f"Well, {_words(n)} it is.", NOW, "UTC", True, NOW)
            for n, key in enumerate(messages)
        ),
    )  # fmt: skip
    decided = [new_id() for _ in range(facts - pending)]
    _copy(connection, "memory_fact", _FACT, _decided(owner, agent.pk, decided))
    _copy(connection, "memory_fact", _FACT, _pending(owner, agent.pk, waiting, talks))
    _copy(
        connection,
        "memory_evidence",
        "id, owner_id, fact_id, message_id, quote, created_at",
        ((new_id(), owner.pk, fact, messages[n], _words(n), NOW) for n, fact in enumerate(waiting)),
    )
    _copy(
        connection,
        "memory_correctiontarget",
        "id, owner_id, fact_id, target_id, open",
        ((new_id(), owner.pk, waiting[n], decided[n], True) for n in range(0, pending, 5)),
    )


def _decided(owner: "User", agent: UUID, ids: list[UUID]) -> Iterator[tuple[Any, ...]]:
    from memory.text import text_hash

    pick = random.Random(1)
    for n, key in enumerate(ids):
        statement = f"The user knows {_words(n)} {n}."
        said = NOW - timedelta(hours=pick.randint(1, 20_000))
        # The first ones are what corrections would replace.
        state = pick.choice(("active",) * 18 + ("rejected", "archived")) if n > 20_000 else "active"
        end = ("forgotten", "active") if state == "archived" else ("", "")
        faded = NOW if state == "active" and n % 1_000 == 0 else None
        yield (
            key, owner.pk, agent, "semantic", statement, text_hash(statement), "english", state,
            0.9, [], False, "extraction", "day", said, said, said, *end, [], "", "", owner.pk,
            said, None, faded,
        )  # fmt: skip


def _pending(
    owner: "User", agent: UUID, ids: list[UUID], talks: list[UUID]
) -> Iterator[tuple[Any, ...]]:
    from memory.text import text_hash

    for n, key in enumerate(ids):
        statement = f"The user wants {_words(n)} {n}."
        said = NOW - timedelta(minutes=n)
        yield (
            key, owner.pk, agent, "semantic", statement, text_hash(statement), "english",
            "pending", 0.9, [], False, "extraction", "day", said, said, said, "", "", ["durable"],
            "", "", None, None, talks[n // PER_TALK], None,
        )  # fmt: skip


def _words(number: int) -> str:
    return " ".join(random.Random(number).choices(WORDS, k=4))


def _copy(connection: "psycopg.Connection[Any]", table: str, columns: str, rows: Any) -> None:
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row)


def _costs(owner: "User") -> list[Cost]:
    from django.test import Client

    from agents.models import User

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(owner)
    desk = [_cost(client, name, ask) for name, ask in _requests(owner)]
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    return desk + [_cost(client, name, ask) for name, ask in _admin_requests(owner)]


def _admin_requests(owner: "User") -> Iterator[tuple[str, Ask]]:
    from django.urls import reverse

    from memory.models import Fact
    from memory.vocabulary import State

    facts = reverse("admin:memory_fact_changelist")
    some = Fact.objects.filter(owner=owner, state=State.PENDING).order_by("pk")[100]
    lists: dict[str, dict[str, Any]] = {
        "the list": {},
        "page 100": {"p": 100},
        "by state": {"state__exact": "archived"},
        "by state, few": {"state__exact": "pending"},
        "by state, none": {"state__exact": "pending", "kind__exact": "procedural"},
        "by origin, none": {"origin__exact": "import"},
        "by assistant": {"agent__id__exact": some.agent_id},
        "without a vector": {"vector": "none"},
        "of a month": {"created_at__year": NOW.year - 1, "created_at__month": 3},
        "by id": {"q": some.pk},
        "by conversation": {"q": some.conversation_id},
        "words that many have": {"q": "bees"},
        "words that few have": {"q": "wants bees hens"},
        "words that none has": {"q": "xylophone"},
    }
    for name, query in lists.items():
        yield f"admin, facts: {name}", _getting(facts, query)
    yield "admin, a fact", _getting(reverse("admin:memory_fact_change", args=[some.pk]))
    for table in ("memory_evidence", "memory_factusage", "agents_auditevent"):
        yield f"admin, {table}: the list", _getting(reverse(f"admin:{table}_changelist"))


def _getting(place: str, query: dict[str, Any] | None = None) -> Ask:
    return lambda client: client.get(place, query or {})


def _requests(owner: "User") -> Iterator[tuple[str, Ask]]:
    from django.urls import reverse
    from django.utils import timezone

    from memory.review import queue

    waiting = queue.waiting(owner, timezone.now()).order_by("-conversation_id", "pk")
    middle = waiting[waiting.count() // 2]
    key, talk = queue.key(middle), str(middle.conversation_id)
    review = reverse("review")
    yield "queue, first page", lambda c: c.get(review, {"view": "list"})
    yield "queue, from the middle", lambda c: c.get(review, {"view": "list", "after": key})
    yield "one at a time, from the middle", lambda c: c.get(review, {"view": "one", "after": key})
    yield "count", lambda c: c.get(reverse("waiting-count"))
    yield "all of a conversation", lambda c: c.get(reverse("bulk"), {"conversation": talk})
    yield "decided", lambda c: c.get(reverse("decided"))
    yield "snoozed", lambda c: c.get(reverse("snoozed"))
    yield "still true?", lambda c: c.get(reverse("reconfirm"))
    rest = iter(list(waiting[: 3 * REPEATS]))
    htmx = {"HX-Request": "true"}

    def confirm(client: "Client") -> Any:
        return client.post(reverse("confirm", args=[next(rest).pk]), headers=htmx)

    yield "confirm", confirm


def _cost(client: "Client", page: str, ask: Ask) -> Cost:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    ask(client)
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        answer = ask(client)
        times.append(1000 * (time.perf_counter() - started))
        assert answer.status_code == 200, (page, answer.status_code)
    with CaptureQueriesContext(connection) as captured:
        ask(client)
    selects = [q["sql"] for q in captured if q["sql"].startswith("SELECT") and " FROM " in q["sql"]]
    most = max(_rows_read(sql) for sql in selects if " FOR " not in sql)
    return Cost(page, round(statistics.median(times), 1), len(captured), most)


def _rows_read(sql: str) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + sql.replace("%", "%%"))
        (plans,) = cursor.fetchone()
    return _scanned(plans[0]["Plan"])


def _scanned(node: dict[str, Any]) -> int:
    below = sum(_scanned(child) for child in node.get("Plans", []))
    if "Scan" not in node["Node Type"]:
        return below
    dropped = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return below + int((node["Actual Rows"] + dropped) * node["Actual Loops"])


if __name__ == "__main__":
    main()
