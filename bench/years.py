"""Two simulated years of one owner, through the application itself, on a clock of the bench's own.

    python -m bench.years [--days N] [--rate R] [--seed N] [--keep FOLDER]

Each day: a conversation is ingested, extracted, policy decides, and after four in the morning the
store is consolidated; recall is asked twice. Once a week the owner spends two minutes at the desk.
The model is scripted, at the HTTP level: it and the owner know what is true, the application does
not. It errs at the given rate in each of its steps. The last line is one JSON object.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bench import home
from bench.years_world import SLOTS, Day, World, make

if TYPE_CHECKING:
    from agents.models import Agent, User
    from bench.years_count import Counts
    from bench.years_llm import Model
    from bench.years_owner import Owner

DAYS, RATE = 730, 0.02
ENDS = date(2026, 11, 29)
QUARTER = 91
PROBES = 2
# When on a day things happen, in UTC, which is the owner's clock here.
NIGHT, SAID, EVENING = timedelta(hours=4), timedelta(hours=12), timedelta(hours=19)
RETRIES = (timedelta(minutes=30), timedelta(minutes=45), timedelta(hours=2), timedelta(hours=3))


def main() -> None:
    options = _options()
    with TemporaryDirectory(prefix="bench-years-") as temporary:
        home.start(options.keep or Path(temporary))
        try:
            result = simulate(days=options.days, rate=options.rate, seed=options.seed)
        finally:
            home.stop()
    print(json.dumps(result))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--rate", type=float, default=RATE, help="how often the model errs, 0 to 1")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--keep", type=Path, help="a folder for the database that outlives the run")
    options = parser.parse_args()
    if options.days < 1 or not 0 <= options.rate <= 1:
        parser.error("days are at least 1, and the rate is between 0 and 1")
    return options


def simulate(*, days: int, rate: float, seed: int = 7, quiet: bool = False) -> dict[str, Any]:
    """In a database with nothing of this owner in it. Returns the figures of the last line."""
    from django.conf import settings

    from bench.years_count import Counts
    from bench.years_llm import Model
    from bench.years_owner import Owner
    from tests.llm_server import scripted_llm

    world = make(days, ENDS - timedelta(days=days), seed)
    model = Model(world, rate)
    user, agent = _account(datetime.combine(world.start, datetime.min.time(), UTC))
    owner, counts = Owner(user, agent, world), Counts(user, agent, world)
    started = time.monotonic()
    with scripted_llm() as server:
        model.serve(server)
        before = settings.LLM_ROUTES
        general = {"model": "scripted", "base_url": server.url, "api_key": "key"}
        settings.LLM_ROUTES = {"general": general, "private": {"model": ""}}
        try:
            for day in _progress(days, quiet):
                _live(day, model, owner, counts)
                # What it heard is of no use any more, and two years of it would fill the memory.
                server.requests.clear()
        finally:
            settings.LLM_ROUTES = before
    last = counts.rows[-1]
    if not quiet:
        _print(counts, owner, model, days, time.monotonic() - started)
    return {
        "runs": days,
        "llm_error_rate": rate,
        "true_captured": round(last.captured / (last.true or 1), 4),
        "true_lost": last.wrongly_archived,
        "stale_recall": round(counts.stale_told / (counts.told or 1), 4),
        "wrongly_activated": last.wrongly_activated,
        "duplicates": last.duplicates,
        "max_queue": counts.max_queue,
    }


def _account(now: datetime) -> "tuple[User, Agent]":
    from agents.accounts import create_owner
    from agents.audit import command
    from agents.models import Agent

    with home.clock(now):
        user = create_owner(
            username="years", actor=command("bench"), reason="bench", time_zone="UTC"
        )
    return user, Agent.objects.get(owner=user, is_default=True)


def _live(day: int, model: "Model", owner: "Owner", counts: "Counts") -> None:
    from memory.consolidation.run import consolidate_if_due

    model.day = day
    today = datetime.combine(model.world.on(day), datetime.min.time(), UTC)
    with home.clock(today + NIGHT):
        consolidate_if_due(owner.user.pk)
    with home.clock(today + SAID):
        _ingest(owner.agent, model.world, day, today + SAID)
    for wait in RETRIES:
        with home.clock(today + SAID + wait):
            _extract(today + SAID + wait)
    counts.after_reading()
    now = today + EVENING
    with home.clock(now):
        counts.waits(now)
        if day % 7 == 6:
            owner.sit_down(now, day)
        for slot, question in _questions(model.world, day):
            counts.probe(slot, question, now, day)
        if (day + 1) % QUARTER == 0 or day + 1 == len(model.world.days):
            counts.quarter(-(-(day + 1) // QUARTER), now, day)


def _ingest(agent: "Agent", world: World, day: int, now: datetime) -> None:
    from conversations.ingest import store_messages
    from conversations.models import Message
    from conversations.record import Incoming, Into

    into = Into(agent=agent, source="api", external_id=f"day-{day}")
    messages = []
    for number, (role, text) in enumerate(_conversation(world.days[day])):
        sent_at = now - timedelta(minutes=60 - number)
        messages.append(Incoming(f"m{number}", Message.Role(role), text, sent_at))
    store_messages(into=into, messages=messages)


def _conversation(day: Day) -> Iterator[tuple[str, str]]:
    yield "user", f"Good morning! {day.noise}"
    yield "assistant", "Good morning. Here is a short answer to your question."
    for _, words in day.said:
        yield "user", f"Something else. {words}"
        yield "assistant", "Noted. Is there anything that I can do about it?"
    for _, carrier in day.poison:
        yield "user", carrier
        yield "assistant", "That text tries to steer me, so I take it as text."


def _extract(now: datetime) -> None:
    """As the worker does: the sweep hands out what is due, one conversation after the other."""
    from memory.extraction import due
    from memory.extraction.run import extract_if_due

    for conversation_id in due.sweep(now):
        following = extract_if_due(conversation_id)
        while following is not None:
            following = extract_if_due(following)


def _questions(world: World, day: int) -> Iterator[tuple[str, str]]:
    """About things that the owner has told of, whatever holds now."""
    rng = random.Random(day)
    told = sorted({truth.slot for truth in world.durable if truth.since <= day})
    for slot in rng.sample(told, min(PROBES, len(told))):
        yield slot, _question(slot)


def _question(slot: str) -> str:
    questions = {
        "city": "Which town do I live in?", "employer": "Where do I work?",
        "role": "What is my job title?", "car": "Which car do I drive?",
        "phone": "Which phone do I have?", "drink": "What do I drink in the morning?",
        "rent": "How many euros of rent do I pay a month?", "training": "On which day do I train?",
        "editor": "In what do I write code?", "manager": "Who is my manager?",
        "language": "Which language am I learning?", "project": "What is my current project?",
        "bedtime": "When do I go to bed?", "doctor": "Who is my doctor?",
        "hobby": "Which hobby do I enjoy?", "thing": "What do I own?",
        "allergy": "What am I allergic to?", "food": "Which food do I dislike?",
    }  # fmt: skip
    kind, _, value = slot.partition(" ")
    if slot in SLOTS or kind in questions:
        return questions[kind] if not value else f"{questions[kind]} Is it {value}?"
    return f"What is the name of my {kind}?"


def _progress(days: int, quiet: bool) -> Iterator[int]:
    for day in range(days):
        yield day
        if not quiet and (day + 1) % 73 == 0:
            print(f"day {day + 1} of {days}", file=sys.stderr, flush=True)


def _print(counts: "Counts", owner: "Owner", model: "Model", days: int, seconds: float) -> None:
    print(f"{days} days, {seconds:.0f} s, {seconds / days:.2f} s a day")
    print(f"The model erred: {dict(model.erred)}")
    print(f"The owner decided: {dict(owner.decisions)}")
    print(f"Recall: {counts.probes} probes told {counts.told} facts, {counts.stale_told} stale,")
    print(f"  and {counts.silent_told} of which the owner never said that they are over")
    print(f"Not captured at the end: {dict(counts.uncaptured(days - 1))}")
    names = list(vars(counts.rows[0]))
    print("\n|", " | ".join(name.replace("_", " ") for name in names), "|")
    print("|", " | ".join("---:" for _ in names), "|")
    for row in counts.rows:
        print("|", " | ".join(str(value) for value in vars(row).values()), "|")
    for statement in counts.wrong:
        print(f"wrongly active: {statement}")


if __name__ == "__main__":
    main()
