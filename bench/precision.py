"""What comes back that should not: PrecisionMemBench through the application, beside plain cosine
and mem0. No LLM is asked.

    python -m bench.precision [--data FOLDER] [--keep FOLDER] [--without-peers] [--failures]

Precision and recall are means over the cases that expect something (nothing found: precision 0).
Cases that expect nothing pass if nothing but pinned facts comes back. `exact`: just what was
wanted, and for ours what has to ride along as well. The last line is one JSON object.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench import home, peers
from bench.beliefs import DATA, UNIVERSAL, Belief, Case, beliefs, cases
from bench.peers import Job, Peer
from bench.vectors import Vectors

if TYPE_CHECKING:
    from agents.models import Agent, User
    from memory.models import Fact

DOMAINS = ("domain:code", "domain:writing", "domain:hobby")
TOP = 5
# A day after the last belief was reinforced.
NOW = datetime(2026, 10, 8, tzinfo=UTC)
_NO_LIMIT = 1_000
# mem0's own default.
MEM0_LEAST = 0.1
NOTES = {
    "ours": "statements, entities with aliases, pins, supersedes, scopes; no budget but theirs",
    "cosine": f"the {TOP} nearest of what ours may show in that scope; pins granted",
    "mem0": f"the same, {TOP} at most, its default threshold; {peers.NOT_GIVEN['mem0']}",
}
# A store is all that one user has; its name says which domains.
StoreKey = tuple[str, frozenset[str]]
Told = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Result:
    """`unpinned` and `all`: ids of beliefs by case."""

    unpinned: Told
    all: Told | None = None


def main() -> None:
    options = _options()
    known, asked = beliefs(options.data), cases(options.data)
    with TemporaryDirectory(prefix="bench-precision-") as temporary:
        home.start(options.keep or Path(temporary))
        results = _measured(known, asked, with_peers=not options.without_peers)
    scores = {name: _scores(asked, result) for name, result in results.items()}
    _print(scores)
    if options.failures:
        _print_failures(asked, results["ours"])
    print(json.dumps(scores))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--keep", type=Path, help="a folder for the database")
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--failures", action="store_true", help="print the cases that ours fails")
    return parser.parse_args()


def _measured(
    known: Sequence[Belief], asked: Sequence[Case], *, with_peers: bool
) -> dict[str, Result]:
    vectors = Vectors(home.KEPT)
    vectors.add(_text(belief) for belief in known)
    vectors.add(case.query for case in asked)
    jobs = dict(_jobs(known, asked))
    mem0 = _start_mem0(jobs, vectors) if with_peers else None
    with home.told("beliefs"):
        readers = _seed(known, {_store(case) for case in asked})
    with home.told("recalling"):
        results = {"ours": _ours(readers, known, asked)}
    results["cosine"] = Result({case.id: _nearest(known, case, vectors) for case in asked})
    answered = mem0.answers() if mem0 else None
    if answered:
        answers = answered.rankings
        results["mem0"] = Result({case.id: _answered(known, case, jobs, answers) for case in asked})
    return results


def _store(case: Case) -> StoreKey:
    """Cases of one domain share a store that has all of them."""
    return case.user, case.scopes if len(case.scopes) > 1 else frozenset()


def _held(known: Iterable[Belief], store: StoreKey) -> list[Belief]:
    user, domains = store
    domains = domains | {UNIVERSAL} if domains else domains
    return [b for b in known if b.user == user and (not domains or b.scopes & domains)]


def _seed(known: Sequence[Belief], stores: set[StoreKey]) -> "dict[StoreKey, dict[str, Agent]]":
    """The agents of each store by domain; "" reads everything."""
    users = {belief.user for belief in known}
    stores = stores | {(user, frozenset()) for user in users}
    readers = {}
    for number, store in enumerate(sorted(stores, key=lambda key: (key[0], sorted(key[1])))):
        readers[store] = _seed_store(f"owner{number}", _held(known, store))
    from bench import ours

    for agents in readers.values():
        ours.index(agents[""].owner)
    return readers


def _seed_store(name: str, held: Sequence[Belief]) -> "dict[str, Agent]":
    from agents.audit import acting, command
    from agents.models import Agent, OwnerSettings, User

    with acting(command("bench")):
        owner = User.objects.create(username=name)
        OwnerSettings.objects.update_or_create(owner=owner, defaults={"memory_enabled": True})
        agents = {
            domain: Agent.objects.create(owner=owner, slug=domain.replace(":", "-"), name=domain)
            for domain in (*DOMAINS, UNIVERSAL)
        }
        agents[""] = Agent.objects.create(
            owner=owner, slug="all", name="All", is_default=True, reads=Agent.Reads.ALL
        )
    made: dict[str, Fact] = {}
    for belief in _predecessors_first(held):
        _believe(owner, agents, belief, held, made)
    return agents


def _predecessors_first(held: Sequence[Belief]) -> list[Belief]:
    """A chain of supersedes has to be lived through from its start."""
    by_id = {belief.id: belief for belief in held}

    def steps_left(belief: Belief) -> int:
        after = by_id.get(belief.superseded_by or "")
        return 0 if after is None else 1 + steps_left(after)

    return sorted(held, key=steps_left, reverse=True)


def _believe(
    owner: "User",
    agents: "Mapping[str, Agent]",
    belief: Belief,
    held: Sequence[Belief],
    made: "dict[str, Fact]",
) -> None:
    from agents.audit import person
    from memory.lifecycle import Draft, EntityRef, archive, propose, supersede
    from memory.vocabulary import ArchivedReason, EntityType, Kind, Origin, State

    draft = Draft(
        statement=belief.statement,
        kind=Kind.SEMANTIC,
        origin=Origin.MANUAL,
        observed_at=belief.believed_at,
        confidence=belief.confidence,
        language="english",
        pinned=belief.pinned,
        entities=(EntityRef(EntityType.TOPIC, belief.name, belief.aliases),),
    )
    actor = person(owner)
    (scope,) = belief.scopes
    targets = [made[other.id] for other in held if other.superseded_by == belief.id]
    with home.clock(belief.believed_at + timedelta(minutes=1)):
        if targets:
            fact = supersede(targets=targets, draft=draft, actor=actor)
        else:
            agent = None if scope == UNIVERSAL else agents[scope]
            fact = propose(owner=owner, agent=agent, draft=draft, actor=actor, state=State.ACTIVE)
        if belief.resolved:
            archive(fact=fact, why=ArchivedReason.STALE, actor=actor)
    made[belief.id] = fact


def _ours(
    readers: "Mapping[StoreKey, Mapping[str, Agent]]",
    known: Sequence[Belief],
    asked: Sequence[Case],
) -> Result:
    from memory.recall.service import recall

    unpinned, everything = {}, {}
    by_statement = {belief.statement: belief.id for belief in known}
    for case in asked:
        agents = readers[_store(case)]
        (scope,) = case.scopes if len(case.scopes) == 1 else ("",)
        room = _room(case, _pins(known, case))
        told = recall(agent=agents[scope], message=case.query, now=NOW)
        found = [(by_statement[item.fact.statement], item.fact.pinned) for item in told.items]
        pins = [key for key, pinned in found if pinned]
        rest = [key for key, pinned in found if not pinned][:room]
        unpinned[case.id] = frozenset(rest)
        everything[case.id] = frozenset({*pins, *rest})
    return Result(unpinned, everything)


def _jobs(known: Sequence[Belief], asked: Sequence[Case]) -> Iterator[tuple[str, Job]]:
    for name in sorted({_place(case) for case in asked}):
        here = [case for case in asked if _place(case) == name]
        texts = {belief.id: _text(belief) for belief in _shown(known, here[0])}
        questions = list(dict.fromkeys(case.query for case in here if case.query.strip()))
        if texts and questions:
            yield name, Job(texts, questions, TOP, MEM0_LEAST)


def _start_mem0(jobs: Mapping[str, Job], vectors: Vectors) -> Peer:
    python = peers.environment(home.KEPT / "peers")
    return Peer("mem0", python=python, jobs=jobs, vectors=vectors, url=home.superuser_url())


def _place(case: Case) -> str:
    return " ".join([case.user, *sorted(case.scopes)]).replace(":", " ")


def _answered(
    known: Sequence[Belief],
    case: Case,
    jobs: Mapping[str, Job],
    answers: Mapping[str, peers.Rankings],
) -> frozenset[str]:
    job = jobs.get(_place(case))
    if job is None or case.query not in job.questions:
        return frozenset()
    ranked = answers[_place(case)][list(job.questions).index(case.query)]
    return frozenset(key for key, _ in ranked[: _room(case, _pins(known, case))])


def _pins(known: Iterable[Belief], case: Case) -> int:
    """Pinned beliefs of the domain take up room first; those of the prelude take none."""
    return sum(
        belief.is_live and belief.pinned and bool(belief.scopes & case.scopes) for belief in known
    )


def _shown(known: Iterable[Belief], case: Case) -> list[Belief]:
    """What may come back unpinned."""
    return [
        belief
        for belief in known
        if belief.user == case.user
        and belief.scopes & case.scopes
        and belief.is_live
        and not belief.pinned
    ]


def _nearest(known: Sequence[Belief], case: Case, vectors: Vectors) -> frozenset[str]:
    from bench.baselines import cosine

    shown = _shown(known, case)
    if not shown or not case.query.strip():
        return frozenset()
    ranked = cosine(vectors.of(map(_text, shown)), vectors.of([case.query])[0])
    room = _room(case, _pins(known, case))
    return frozenset(shown[place].id for place in ranked[:TOP][:room])


def _room(case: Case, pins: int) -> int:
    return _NO_LIMIT if case.room is None else max(0, case.room - pins)


def _text(belief: Belief) -> str:
    return f"{', '.join((belief.name, *belief.aliases))}: {belief.statement}"


def _scores(asked: Sequence[Case], result: Result) -> dict[str, float]:
    told = [(case.wanted, result.unpinned[case.id]) for case in asked if case.wanted is not None]
    some = [(wanted, found) for wanted, found in told if wanted]
    none = [found for wanted, found in told if not wanted]
    precision = fmean(len(wanted & found) / len(found) if found else 0 for wanted, found in some)
    return {
        "precision": round(precision, 4),
        "recall": round(fmean(len(wanted & found) / len(wanted) for wanted, found in some), 4),
        "empty_passes": sum(not found for found in none),
        "empty_cases": len(none),
        "exact": sum(_is_exact(case, result) for case in asked),
        "cases": len(asked),
    }


def _is_exact(case: Case, result: Result) -> bool:
    found = result.unpinned[case.id]
    if case.wanted is not None and found != case.wanted:
        return False
    everything = found if result.all is None else result.all[case.id]
    if everything & case.forbidden:
        return False
    return result.all is None or case.needed <= everything


def _print(scores: Mapping[str, Mapping[str, float]]) -> None:
    names = next(iter(scores.values()))
    print("\nPrecisionMemBench, 0 to 1, and numbers of cases")
    print("| system |", " | ".join(names), "|")
    print("| --- |", " | ".join("---:" for _ in names), "|")
    for system, row in scores.items():
        print(f"| {system} |", " | ".join(f"{value:.3g}" for value in row.values()), "|")
    print("\nWhat each system was given:")
    for system in scores:
        print(f"- {system}: {NOTES[system]}")


def _print_failures(asked: Iterable[Case], result: Result) -> None:
    for case in asked:
        if not _is_exact(case, result):
            found = sorted(result.unpinned[case.id])
            lost = sorted(case.needed - (result.all or {}).get(case.id, frozenset()))
            print(f"{case.id}: wanted {sorted(case.wanted or ())}, found {found}, lost {lost}")


if __name__ == "__main__":
    main()
