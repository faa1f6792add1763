"""What search_kb finds in real manuals, beside BM25 alone and vectors alone; how fast documents are
taken in; how fast 100,000 passages are searched.

    python -m bench.kb [--keep FOLDER] [--large PASSAGES] [--failures] [--tune]

The corpus is fetched by apt-get (bench/kb_corpus.py), the questions are made from the manuals' own
index, glossary and references (bench/kb_questions.py). `recall@5`: of the questions, those with a
passage of their answer among the first five, at most two of one document in every row. Half of the
questions were used to choose constants; the figures are those of the other half. The last line is
one JSON object.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean, quantiles
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench import home
from bench.kb_corpus import Manuals, fetched
from bench.kb_ingest import Ingested, take_in
from bench.kb_questions import EACH, Question, questions
from bench.measure import interval_of
from bench.quality import CACHE

if TYPE_CHECKING:
    from uuid import UUID

    from agents.models import Agent
    from bench.kb_legs import Legs, Parts
    from knowledge.models import DocumentPassage

FIRST, RANKS = 5, 10
LARGE = 100_000
# That are tried.
WORDS, HEADINGS = (0.1, 0.3, 0.5, 0.7, 1.0), (0.0, 0.1, 0.3)
USER, COLLECTION = "bench", "Manuals"
Ranking = Callable[[str], Sequence["DocumentPassage"]]


def main() -> None:
    options = _options()
    manuals = fetched(options.corpus)
    asked = questions(manuals)
    with TemporaryDirectory(prefix="bench-kb-") as temporary:
        home.start(options.keep or Path(temporary))
        agent, ingested = _ingested(manuals)
        print(
            f"{ingested.documents} documents, {ingested.pages:.0f} pages, {ingested.passages}"
            f" passages in {ingested.seconds:.0f} s ({ingested.processor:.0f} s of processor time);"
            f" at most {ingested.megabytes} MB; not read: {len(ingested.failed)}"
        )
        if options.tune:
            _tune(agent, asked)
            return
        ranks = {name: _ranks(asked, ranking) for name, ranking in rankings(agent).items()}
        _print(asked, ranks)
        _print_lead(asked, ranks)
        if options.failures:
            _print_failures(asked, ranks["ours"])
        search = _searched(agent, asked, options.large) if options.large else {}
    print(json.dumps(_summary(asked, ranks, ingested) | {"search_ms": search}))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--corpus", type=Path, default=CACHE / "kb", help="a folder for the manuals"
    )
    parser.add_argument("--keep", type=Path, help="a folder for the database")
    parser.add_argument(
        "--large", type=int, default=LARGE, help="passages of the owner for speed; 0: none"
    )
    parser.add_argument("--failures", action="store_true", help="print what ours does not find")
    parser.add_argument("--tune", action="store_true", help="try other weights, and end")
    return parser.parse_args()


def _ingested(manuals: Manuals) -> tuple["Agent", Ingested]:
    """A kept database is completed."""
    from agents.models import User
    from knowledge.models import Collection

    owner = User.objects.filter(username=USER).first() or User.objects.create_user(USER)
    collection, _ = Collection.objects.get_or_create(owner=owner, name=COLLECTION)
    with home.told(f"Taking in {len(manuals.files())} documents"):
        found = take_in(owner, collection, manuals.files())
    for name, reason in found.failed.items():
        print(f"not read: {name}: {reason}", file=sys.stderr)
    return owner.agents.get(is_default=True), found


def rankings(agent: "Agent") -> dict[str, Ranking]:
    """Each leg alone has no gate, and is as good as it can be: exact vectors, every posting."""
    from bench.kb_legs import Legs
    from knowledge.search import search_kb

    legs = Legs(agent)
    return {
        "ours": lambda query: [one.passage for one in search_kb(agent, query, 3 * RANKS)],
        "bm25": legs.by_words,
        "vector": legs.by_meaning,
    }


def _ranks(asked: Sequence[Question], ranking: Ranking) -> dict[str, int]:
    """By question, the place of the first passage of its answer, from 1; 0: not among the first."""
    found = {}
    for question in asked:
        shown = [
            passage
            for passage in ranking(question.text)
            if passage.document.file_name != question.asked_in
        ]
        found[question.text] = rank(question, shown)
    return found


def rank(question: Question, shown: Sequence["DocumentPassage"]) -> int:
    for place, passage in enumerate(shown[:RANKS], 1):
        pages = passage.page_from, passage.page_to
        text = f"{' '.join(passage.headings)} {passage.text}"
        if any(a.is_in(passage.document.file_name, text, pages) for a in question.answers):
            return place
    return 0


def recall(ranks: Sequence[int]) -> float:
    return round(100 * fmean(0 < one <= FIRST for one in ranks), 1)


def mrr(ranks: Sequence[int]) -> float:
    return round(fmean(map(_reciprocal, ranks)), 3)


def _print(asked: Sequence[Question], ranks: Mapping[str, Mapping[str, int]]) -> None:
    for half in (True, False):
        print(
            f"\n{'held out' if half else 'used for tuning':17}{'n':>5}"
            + "".join(f"{n:>16}" for n in ranks)
        )
        for kind in (*EACH, ""):
            some = [q for q in asked if q.is_held_out == half and kind in (q.kind, "")]
            cells = ""
            for found in ranks.values():
                places = [found[question.text] for question in some]
                cells += f"{recall(places):>9} {mrr(places):.3f} "
            print(f"{kind or 'all':17}{len(some):>5} {cells}")


def _print_lead(asked: Sequence[Question], ranks: Mapping[str, Mapping[str, int]]) -> None:
    print("\nOurs ahead of each leg alone, with 95% intervals over questions:")
    for leg, half in product(("bm25", "vector"), ("held out", "all")):
        some = [one.text for one in asked if one.is_held_out or half == "all"]
        pairs = [(ranks["ours"][text], ranks[leg][text]) for text in some]
        first = [100.0 * ((0 < a <= FIRST) - (0 < b <= FIRST)) for a, b in pairs]
        reciprocal = [_reciprocal(a) - _reciprocal(b) for a, b in pairs]
        print(f"{leg:>8} {half:>9}: recall@5 {_lead(first, 1)}, MRR {_lead(reciprocal, 3)}")


def _reciprocal(rank: int) -> float:
    return 1 / rank if rank else 0.0


def _lead(differences: Sequence[float], digits: int) -> str:
    low, high = interval_of(differences)
    return f"{fmean(differences):.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _print_failures(asked: Sequence[Question], ranks: Mapping[str, int]) -> None:
    for question in asked:
        if not 0 < ranks[question.text] <= FIRST:
            print(f"{question.kind}: {question.text} ({question.answers[0].file_name})")


def _summary(
    asked: Sequence[Question], ranks: Mapping[str, Mapping[str, int]], ingested: Ingested
) -> dict[str, object]:
    """Speeds are null of a kept database, into which nothing was taken this time."""
    held = [question.text for question in asked if question.is_held_out]
    places = {name: [found[text] for text in held] for name, found in ranks.items()}
    return {
        "questions": len(held),
        "recall@5": {name: recall(found) for name, found in places.items()},
        "mrr": {name: mrr(found) for name, found in places.items()},
        "pages_per_minute": _a_minute(ingested.pages, ingested.seconds),
        "pages_per_processor_minute": _a_minute(ingested.pages, ingested.processor),
        "memory_mb": ingested.megabytes,
    }


def _a_minute(pages: float, seconds: float) -> int | None:
    return round(60 * pages / seconds) if seconds else None


def _tune(agent: "Agent", asked: Sequence[Question]) -> None:
    """What else the parts of a score could weigh. To be chosen by the first two columns, whose
    half is for it; the others are of the half that was held out."""
    from bench.kb_legs import Legs

    legs = Legs(agent)
    parts = {question.text: legs.parts(question.text) for question in asked}
    print(f"\n{'words':>8}{'headings':>10}{'tuning':>16}{'held out':>16}")
    for words, headings in product(WORDS, HEADINGS):
        _print_tried(asked, f"{words:>8}{headings:>10}", _weighed(legs, parts, words, headings))
    _print_tried(
        asked, f"{'reciprocal ranks':>18}", lambda query: legs.best(_by_ranks(parts[query]))
    )


def _weighed(
    legs: "Legs", parts: Mapping[str, Mapping["UUID", "Parts"]], words: float, headings: float
) -> Ranking:
    def ranking(query: str) -> Sequence["DocumentPassage"]:
        scores = {
            pk: one.cosine + words * one.words + headings * one.headings
            for pk, one in parts[query].items()
        }
        return legs.best(scores)

    return ranking


def _by_ranks(parts: Mapping["UUID", "Parts"]) -> dict["UUID", float]:
    """Reciprocal rank fusion of both legs, k 60."""
    scores = dict.fromkeys(parts, 0.0)
    for leg in ("cosine", "words"):
        found = [pk for pk, one in parts.items() if getattr(one, leg) > 0]
        found.sort(key=lambda pk: -getattr(parts[pk], leg))
        for place, pk in enumerate(found, 1):
            scores[pk] += 1 / (60 + place)
    return scores


def _print_tried(asked: Sequence[Question], title: str, ranking: Ranking) -> None:
    ranks = _ranks(asked, ranking)
    cells = ""
    for half in (False, True):
        places = [ranks[one.text] for one in asked if one.is_held_out == half]
        cells += f"{recall(places):>10} {mrr(places):.3f}"
    print(title + cells)


def _searched(agent: "Agent", asked: Sequence[Question], passages: int) -> dict[str, float]:
    """Each question once, for an owner with so many passages."""
    from bench.kb_large import enlarged
    from knowledge.search import search_kb

    large = enlarged(agent, passages)
    for question in asked[:10]:  # caches of the database
        search_kb(large, question.text)
    times = []
    for question in asked:
        started = time.perf_counter()
        search_kb(large, f"{question.text} ")
        times.append(1000 * (time.perf_counter() - started))
    cuts = quantiles(times, n=20)
    return {"passages": passages, "p50": round(cuts[9], 1), "p95": round(cuts[18], 1)}


if __name__ == "__main__":
    main()
