"""The language model of the two years: it knows the script, and errs at a stated rate.

It speaks HTTP like a real one and sees only what the application sends it.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from bench.years_world import NOISE, SLOTS, Truth, World, wrong
from tests.llm_server import Recorded, Reply, ScriptedLlm, answers, fails

# How often a planted text is taken for the owner's: prompts alone stop little.
GULLIBLE = 0.5
# How often an event is noted in other words than it was told.
PARAPHRASES = 0.3
_MESSAGE = re.compile(
    r'<message-(\w+) n="(\d+)" from="([^"]+)"[^>]*?( read="before")?>\n(.*?)\n</message-\1>',
    re.DOTALL,
)  # fmt: skip
_ITEM = r"<{name}-\w+ n=\"(\d+)\"([^>]*)>(.*?)</{name}-"


@dataclass
class Model:
    world: World
    rate: float
    day: int = 0
    erred: Counter[str] = field(default_factory=Counter)
    rng: random.Random = field(default_factory=lambda: random.Random(11))

    def serve(self, server: ScriptedLlm) -> None:
        server.observe_with(self._breaks_or(self.observe))
        server.reflect_with(self._breaks_or(self.reflect))
        for task, decide in {
            "MergeReply": self.merge,
            "InsightReply": lambda _: answers({"insights": []}),
            "CaseClassifierReply": lambda _: answers({"exchanges": []}),
            "ProfileReply": lambda _: answers({"sentences": []}),
        }.items():
            server._answers[task] = self._breaks_or(decide)

    def errs(self, how: str) -> bool:
        if self.rng.random() >= self.rate:
            return False
        self.erred[how] += 1
        return True

    def _breaks_or(self, decide: Any) -> Any:
        def reply(request: Recorded) -> Reply:
            if self.errs("no reply"):
                return self.rng.choice((fails(503), answers("not JSON"), answers({"x": 1})))
            answer: Reply = decide(request)
            return answer

        return reply

    # The observer

    def observe(self, request: Recorded) -> Reply:
        found: list[dict[str, Any]] = []
        for _, number, role, before, text in _MESSAGE.findall(request.user):
            if role == "owner" and not before:
                found += self._noted(int(number), text)
        return answers({"candidates": found[:20]})

    def _noted(self, number: int, text: str) -> Iterator[dict[str, Any]]:
        for truth, words in self._heard(text):
            yield from self._candidate(truth, words, number)
        for statement, carrier in self.world.days[self.day].poison:
            if carrier in text and self.rng.random() < GULLIBLE:
                event = statement.startswith("The user paid")
                yield self._fields(statement, statement, number, event=event)
        for noise in NOISE:
            if noise in text and self.errs("invented"):
                thing = f"The user collects {self.rng.choice(('stamps', 'coins', 'spoons'))}."
                yield self._fields(thing, noise, number, event=self.rng.random() < 0.5)

    def _heard(self, text: str) -> Iterator[tuple[Truth, str]]:
        for truth, words in self.world.days[self.day].said:
            if words in text:
                yield truth, words

    def _candidate(self, truth: Truth, words: str, number: int) -> Iterator[dict[str, Any]]:
        if self.errs("missed"):
            return
        is_event = truth.event is not None
        if is_event:
            statement = truth.statements[self.rng.random() < PARAPHRASES]
        else:
            statement = truth.statements[truth.told.index(words)]
        if self.errs("misread"):
            statement = wrong(statement, self.rng)
        if self.errs("wrong kind"):
            is_event = not is_event
        yield self._fields(statement, words, number, event=is_event)

    def _fields(self, statement: str, quote: str, number: int, *, event: bool) -> dict[str, Any]:
        day = self.world.on(self.day) - timedelta(days=1)
        return {
            "statement": statement,
            "kind": "episodic" if event else "semantic",
            "confidence": round(self.rng.uniform(0.75, 0.99), 2),
            "tags": ["fact"],
            "entities": [],
            "sources": [{"message": number, "quote": quote}],
            "validity": {
                "start": day.isoformat() if event else None, "end": None, "precision": "day"
            },
            "language": "en",
            "changes_behavior": True,
            "about_owner": True,
            "general_knowledge": False,
        }  # fmt: skip

    # The reflector

    def reflect(self, request: Recorded) -> Reply:
        facts = [
            (int(n), re.search(r'state="(\w+)"', rest)[1], text)  # type: ignore[index]
            for n, rest, text in _items("fact", request.user)
        ]
        decisions = [
            self._decide(int(n), text, facts) for n, _, text in _items("candidate", request.user)
        ]
        return answers({"decisions": decisions})

    def _decide(self, number: int, text: str, facts: list[tuple[int, str, str]]) -> dict[str, Any]:
        action, handles = self._rightly(text, facts)
        if facts and self.errs("misjudged"):
            action = self.rng.choice(("create", "supersede", "reinforce", "skip"))
            handles = [self.rng.choice(facts)[0]] if action in ("supersede", "reinforce") else []
        return {"candidate": number, "action": action, "handles": handles, "reason": "so"}

    def _rightly(self, text: str, facts: list[tuple[int, str, str]]) -> tuple[str, list[int]]:
        meaning = self.world.meaning.get(text)
        same = [f for f in facts if f[2] == text or (meaning and self._means(f[2]) is meaning)]
        for state, action in (("active", "reinforce"), ("pending", "same"), ("rejected", "same")):
            found = [handle for handle, its, _ in same if its == state]
            if found:
                return action, found[:1]
        slot = meaning.slot if meaning else _slot_of(text)
        rivals = [
            handle
            for handle, state, other in facts
            if state == "active" and slot in SLOTS and _slot_of(other) == slot
        ]
        return ("supersede", rivals) if rivals else ("create", [])

    def _means(self, statement: str) -> Truth | None:
        return self.world.meaning.get(statement)

    # Merging

    def merge(self, request: Recorded) -> Reply:
        texts = [text for _, _, text in _items("fact", request.user)]
        meanings = {self.world.meaning.get(text, text) for text in texts}
        same = len(meanings) == 1
        statement = max(texts, key=len) if same else ""
        if self.errs("merged wrongly"):
            same, statement = True, wrong(max(texts, key=len), self.rng)
        elif same:
            statement = f"{statement[:-1]}, as before."
            truth = next(iter(meanings))
            if isinstance(truth, Truth):
                self.world.meaning[statement] = truth
        return answers({"same": same, "statement": statement, "reason": "so"})


def _items(name: str, text: str) -> list[tuple[str, str, str]]:
    return re.findall(_ITEM.replace("{name}", name), text, re.DOTALL)


def _slot_of(statement: str) -> str:
    """By its form, so that a misread value still is of its slot."""
    for slot, (forms, _, _) in SLOTS.items():
        for form in forms:
            head, _, tail = form.partition("{v}")
            if statement.startswith(head) and tail.rstrip(".") in statement[len(head) :]:
                return slot
    return ""
