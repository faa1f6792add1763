"""The first look at a window: what in it is worth proposing."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memory import llm
from memory.extraction import rules, windows
from memory.extraction.prompts import DOCUMENT, OBSERVER, prompt
from memory.extraction.schema import Candidate, ObserverReply
from memory.extraction.windows import Window

RULES = "rules"


@dataclass(frozen=True)
class Observation:
    candidates: Sequence[Candidate]
    usage: llm.Usage = field(default_factory=llm.Usage)


def prompt_for(window: Window) -> str:
    return DOCUMENT if window.is_document else OBSERVER


def observe(window: Window, route: llm.Route | None) -> Observation:
    """Without a route the built-in rules read the owner's messages. Raises LlmError."""
    if route is None:
        new = [message for n, message in window.for_policy().items() if window.is_new(n)]
        return Observation(rules.observe(new))
    text = windows.render(window)
    completion = llm.complete(route, prompt(prompt_for(window)), text, ObserverReply)
    return Observation(completion.reply.candidates, completion.usage)
