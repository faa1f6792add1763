"""The first look at a window: what in it is worth proposing."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memory import llm
from memory.extraction import windows
from memory.extraction.prompts import OBSERVER, prompt
from memory.extraction.schema import Candidate, ObserverReply
from memory.extraction.windows import Window

RULES = "rules"


@dataclass(frozen=True)
class Observation:
    candidates: Sequence[Candidate]
    usage: llm.Usage = field(default_factory=llm.Usage)


def observe(window: Window, route: llm.Route | None) -> Observation:
    """Without a route the built-in rules read the owner's messages. Raises LlmError."""
    if route is None:
        from memory.extraction import rules

        return Observation(rules.observe(window.for_policy()))
    text = windows.render(window)
    completion = llm.complete(route, prompt(OBSERVER), text, ObserverReply)
    return Observation(completion.reply.candidates, completion.usage)
