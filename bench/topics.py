"""What recall tells for messages that hold more than a question. No LLM is asked.

    python -m bench.topics [--data FILE] [--questions 40]

LoCoMo's observations are facts; a question is asked alone, beside others of the same conversation,
before and behind what somebody said in another one, and before and behind a page that was pasted.
`found`: of the evidence of each question in a message, the share that the block holds; `items`:
facts in a block; `empty`: messages for which there is none. What asks for nothing should have none:
the two rows without a question. conv-26 and conv-30 were looked at when constants were chosen. The
last line is one JSON object, in per cent.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench import home
from bench.locomo import Question, Sample, load
from bench.locomo_to_jsonl import DATA

if TYPE_CHECKING:
    from bench.ours import Store

GROUPS = {"tuned on": ("conv-26", "conv-30"), "held out": ("conv-42", "conv-44")}
# Whose turns are in the way, and what is pasted: neither is about the owners.
STRANGERS = "conv-47"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "operations.md"
PASTED = 1_600  # characters
# Adversarial questions have no answer.
_NO_ANSWER = 5


@dataclass
class Row:
    found: list[float] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        shares = {"found": 100 * fmean(self.found)} if self.found else {}
        return shares | {
            "items": fmean(self.items),
            "empty": 100 * fmean(not count for count in self.items),
            "ms": median(self.milliseconds),
        }


def main() -> None:
    options = _options()
    samples = {sample.id: sample for sample in load(options.data)}
    with TemporaryDirectory(prefix="bench-topics-") as folder:
        home.start(Path(folder))
        results = {
            group: _measured([samples[name] for name in names], samples[STRANGERS], options)
            for group, names in GROUPS.items()
        }
        home.stop()
    for group, rows in results.items():
        _print(group, rows)
    print(json.dumps(results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--questions", type=int, default=40, help="of each conversation")
    return parser.parse_args()


def _measured(
    samples: Sequence[Sample], strangers: Sample, options: argparse.Namespace
) -> dict[str, dict[str, float]]:
    from bench import ours

    rows: dict[str, Row] = {}
    for sample in samples:
        with home.told(f"learning {sample.id}"):
            store = ours.ingest(sample)
            ours.learn(store)
            ours.index(store.owner)
        for kind, message, asked in _messages(sample, strangers, options.questions):
            _ask(store, message, asked, rows.setdefault(kind, Row()))
    return {
        kind: {name: round(value, 1) for name, value in row.figures().items()}
        for kind, row in rows.items()
    }


def _ask(store: "Store", message: str, asked: Sequence[Question], row: Row) -> None:
    from bench import ours

    started = time.perf_counter()
    told = ours.told(store, message)
    row.milliseconds.append(1_000 * (time.perf_counter() - started))
    turns = {turn for key in told for turn in store.evidence[key]}
    row.items.append(len(told))
    row.found += [fmean(turn in turns for turn in one.evidence) for one in asked]


def _messages(
    sample: Sample, strangers: Sample, count: int
) -> Iterator[tuple[str, str, Sequence[Question]]]:
    """What kind of message it is, the message, and the questions in it."""
    pick = random.Random(7)
    asked = [one for one in sample.questions if one.evidence and one.category != _NO_ANSWER]
    pick.shuffle(asked)
    page, said = PAGE.read_text(), list(pairwise(turn.content for turn in strangers.turns))
    for number, one in enumerate(asked[:count]):
        two, three = asked[number + 1], asked[number + 2]
        other = " ".join(pick.choice(said))
        start = pick.randrange(len(page) - PASTED)
        pasted = page[start : start + PASTED]
        yield "a question", one.text, [one]
        yield "two questions", f"{one.text} {two.text}", [one, two]
        yield "three questions", f"{one.text} {two.text} {three.text}", [one, two, three]
        yield "two turns, then a question", f"{other} {one.text}", [one]
        yield "a question, then two turns", f"{one.text} {other}", [one]
        yield "a page, then a question", f"{pasted}\n\n{one.text}", [one]
        yield "a question, then a page", f"{one.text}\n\n{pasted}", [one]
        yield "two turns alone", other, []
        yield "a page alone", pasted, []


def _print(group: str, rows: dict[str, dict[str, float]]) -> None:
    print(f"\n| {group} | found | items | empty | ms |\n| --- | ---: | ---: | ---: | ---: |")
    for kind, row in rows.items():
        cells = (f"{row[name]:.1f}" if name in row else "" for name in ("found", "items", "empty"))
        print(f"| {kind} | {' | '.join(cells)} | {row['ms']:.0f} |")


if __name__ == "__main__":
    main()
