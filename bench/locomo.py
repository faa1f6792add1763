"""LoCoMo as the benches read it: conversations, questions with evidence, observations.

Defects of the data: four of the 1,986 questions name no turn; some strings hold several ids, one a
leading zero ("D30:05"), one a second colon ("D:11:26", read as D11:26), one only a "D".
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from bench import samples
from bench.locomo_to_jsonl import DATA, sessions

# Everything was tuned on these two; the other eight were only measured.
TUNED_ON = ("conv-26", "conv-30")
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single hop", 5: "adversarial"}

_ID = re.compile(r"D:?(\d+):0*(\d+)")


@dataclass(frozen=True)
class Turn:
    id: str
    session: str
    speaker: str
    # With the caption of its image, which carries facts.
    content: str
    said_at: datetime
    # As peers and baselines get it.
    dated: str


@dataclass(frozen=True)
class Question:
    text: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Observation:
    """A statement that LoCoMo's authors had written about a session. Equal ones are one."""

    statement: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Sample:
    id: str
    speakers: tuple[str, str]
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    observations: tuple[Observation, ...]

    @cached_property
    def by_id(self) -> dict[str, Turn]:
        return {turn.id: turn for turn in self.turns}

    @cached_property
    def by_session(self) -> dict[str, list[Turn]]:
        found: dict[str, list[Turn]] = {}
        for turn in self.turns:
            found.setdefault(turn.session, []).append(turn)
        return found

    @property
    def asked_at(self) -> datetime:
        """The questions come a day after everything was said."""
        return max(turn.said_at for turn in self.turns) + timedelta(days=1)


def load(path: Path = DATA) -> list[Sample]:
    return [_sample(raw) for raw in json.loads(samples.text_of(path))]


def ids_in(value: Any) -> Iterator[str]:
    for text in value if isinstance(value, list) else [value]:
        yield from (f"D{session}:{turn}" for session, turn in _ID.findall(str(text)))


def _sample(raw: dict[str, Any]) -> Sample:
    turns = tuple(_turns(raw))
    known = {turn.id for turn in turns}
    talk = raw["conversation"]
    return Sample(
        id=raw["sample_id"],
        speakers=(talk["speaker_a"], talk["speaker_b"]),
        turns=turns,
        questions=tuple(_questions(raw, known)),
        observations=tuple(_observations(raw, known)),
    )


def _turns(raw: dict[str, Any]) -> Iterator[Turn]:
    for session in sessions(raw):
        date = raw["conversation"][f"session_{session['id'].rsplit('-', 1)[1]}_date_time"]
        for message in session["messages"]:
            yield Turn(
                id=message["id"],
                session=session["id"],
                speaker=message["speaker"],
                content=message["content"],
                said_at=datetime.fromisoformat(message["sent_at"]),
                dated=f"{date} {message['speaker']}: {message['content']}",
            )


def _questions(raw: dict[str, Any], known: set[str]) -> Iterator[Question]:
    for asked in raw["qa"]:
        evidence = tuple(dict.fromkeys(key for key in ids_in(asked["evidence"]) if key in known))
        if evidence:
            yield Question(asked["question"].strip(), asked["category"], evidence)


def _observations(raw: dict[str, Any], known: set[str]) -> Iterator[Observation]:
    found: dict[str, dict[str, None]] = {}
    for by_speaker in raw["observation"].values():
        for pairs in by_speaker.values():
            for statement, evidence in pairs:
                ids = (key for key in ids_in(evidence) if key in known)
                found.setdefault(statement.strip(), {}).update(dict.fromkeys(ids))
    for statement, evidence in found.items():
        yield Observation(statement, tuple(evidence))
