"""PrecisionMemBench as the bench reads it: beliefs about one user, and what a query may bring back.

How its words become ours:
- `content` is the statement; a domain is an agent that also reads the global facts; the scope
  `user:universal` is global and pinned, because its beliefs ride in every prelude there;
- `pinned` is pinned; `superseded_by` a supersede by that belief; `resolved_at` an archived fact;
- canonical name and aliases are one entity of the fact; another `user_id` is another owner;
- a query over two domains is asked by an agent that reads everything, of an owner who has only
  those domains;
- `relevantBeliefs` are the unpinned items of the block; pinned ones come first in `maxBeliefs`.
The two session cases are left out: they have beliefs changed between turns by a language model.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bench import samples

DATA = samples.FOLDER / "precisionmembench"
UNIVERSAL = "user:universal"
USER = "test-user"


@dataclass(frozen=True)
class Belief:
    id: str
    user: str
    scopes: frozenset[str]
    statement: str
    name: str
    aliases: tuple[str, ...]
    confidence: float
    believed_at: datetime
    pinned: bool
    superseded_by: str | None
    resolved: bool

    @property
    def is_live(self) -> bool:
        return self.superseded_by is None and not self.resolved


@dataclass(frozen=True)
class Case:
    id: str
    user: str
    scopes: frozenset[str]
    query: str
    # The unpinned beliefs that should come back; None where the case does not say.
    wanted: frozenset[str] | None
    # Whatever has to be in the block, and whatever may not.
    needed: frozenset[str]
    forbidden: frozenset[str]
    # Beliefs that fit, pinned ones included.
    room: int | None


def beliefs(folder: Path = DATA) -> list[Belief]:
    return [_belief(raw) for raw in json.loads(samples.text_of(folder / "beliefs.seed.json"))]


def cases(folder: Path = DATA) -> list[Case]:
    return [_case(raw) for raw in json.loads(samples.text_of(folder / "retrieval.cases.json"))]


def _belief(raw: dict[str, Any]) -> Belief:
    scopes = frozenset(raw["scope"])
    return Belief(
        id=raw["_id"],
        user=raw["user_id"],
        scopes=scopes,
        statement=raw["content"],
        name=raw["canonical_name"].replace("_", " "),
        aliases=tuple(raw["aliases"]),
        confidence=raw["confidence"],
        believed_at=datetime.fromisoformat(raw["last_reinforced_at"]),
        pinned=raw["pinned"] or UNIVERSAL in scopes,
        superseded_by=raw["superseded_by"],
        resolved=raw["resolved_at"] is not None,
    )


def _case(raw: dict[str, Any]) -> Case:
    expected = raw["expect"]
    relevant = expected.get("relevantBeliefs", {})
    only = relevant.get("shouldOnlyInclude")
    parts = [expected.get(part, {}) for part in ("pinnedFacts", "openQuestions")]
    forbidden = set(relevant.get("mustExclude", ()))
    # A belief forbidden in one part of their prompt may stand in another; ours is one block.
    needed = {key for part in parts for key in part.get("mustInclude", ())}
    return Case(
        id=raw["caseId"],
        user=raw.get("userId", USER),
        scopes=frozenset(raw["scope"]),
        query=raw["query"],
        wanted=None if only is None else frozenset(only),
        needed=frozenset(needed),
        forbidden=frozenset(forbidden),
        room=raw.get("budget", {}).get("maxBeliefs"),
    )
