"""The tools by name: what each needs, takes and does, and how its refusals are told."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from agents import limits
from agents.gate import MemoryOff
from conversations.ingest import NoSuchConversation
from conversations.schemas import place_of
from conversations.sketches.reading import NoSuchSketch
from conversations.sketches.writing import Changed, Kept, TooLong
from memory.cited import NoSuchMessage
from memory.lifecycle import LifecycleError
from memory.mcp import deeds, inputs, sketches, wording
from memory.mcp.caller import Caller, Refused, Scope
from memory.purge.requests import TooMany
from memory.remember import BadStatement, NoSuchFact

log = logging.getLogger(__name__)

SHOWN_ERRORS = 5
# Their messages are ours and made for people; none repeats what is stored.
TOLD = (
    Refused,
    BadStatement,
    Changed,
    Kept,
    LifecycleError,
    NoSuchConversation,
    NoSuchFact,
    NoSuchMessage,
    NoSuchSketch,
    TooLong,
    TooMany,
    limits.TooManyCalls,
)


@dataclass(frozen=True, slots=True)
class Tool:
    """`adds`: it may store something. `takes_away`: what it asks for could take something away."""

    name: str
    title: str
    about: str
    scopes: frozenset[Scope]
    takes: type[BaseModel]
    does: Callable[[Caller, Any], str]
    adds: bool = False
    takes_away: bool = False

    @property
    def counts_as(self) -> limits.Kind:
        if Scope.RECALL in self.scopes and len(self.scopes) == 1:
            return limits.Kind.RECALL
        return limits.Kind.WRITE if self.adds else limits.Kind.READ

    @property
    def schema(self) -> dict[str, Any]:
        return self.takes.model_json_schema()


MEMORY = frozenset({Scope.RECALL, Scope.SEARCH, Scope.REMEMBER, Scope.PROPOSE, Scope.FORGET})

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "recall",
            "Recall what matters now",
            wording.RECALL,
            frozenset({Scope.RECALL}),
            inputs.RecallAsked,
            deeds.recall,
        ),
        Tool(
            "search_memory",
            "Search memory",
            wording.SEARCH,
            frozenset({Scope.SEARCH}),
            inputs.SearchAsked,
            deeds.search_memory,
        ),
        Tool(
            "remember",
            "Ask to remember",
            wording.REMEMBER,
            frozenset({Scope.REMEMBER}),
            inputs.RememberAsked,
            deeds.remember,
            adds=True,
        ),
        Tool(
            "propose_correction",
            "Propose a correction",
            wording.CORRECT,
            frozenset({Scope.PROPOSE}),
            inputs.CorrectionAsked,
            deeds.propose_correction,
            adds=True,
        ),
        Tool(
            "forget",
            "Ask to forget",
            wording.FORGET,
            frozenset({Scope.FORGET}),
            inputs.ForgetAsked,
            deeds.forget,
            adds=True,
            takes_away=True,
        ),
        Tool(
            "sketch_read",
            "Read working notes",
            sketches.READ,
            frozenset({Scope.SEARCH}),
            sketches.ReadAsked,
            sketches.read,
        ),
        Tool(
            "sketch_write",
            "Write working notes",
            sketches.WRITE,
            frozenset({Scope.REMEMBER}),
            sketches.WriteAsked,
            sketches.write,
            adds=True,
        ),
        Tool(
            "list_agents",
            "List assistants",
            wording.AGENTS,
            MEMORY,
            inputs.NothingAsked,
            deeds.list_agents,
        ),
    )
}


def register(tool: Tool) -> None:
    """For apps above this one, from their AppConfig.ready. Raises ValueError for a second tool of
    the name."""
    if TOOLS.setdefault(tool.name, tool) is not tool:
        raise ValueError(f"There is a tool {tool.name} already.")


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    failed: bool = False


def open_to(caller: Caller) -> list[Tool]:
    return [tool for tool in TOOLS.values() if caller.may(tool.scopes)]


def call(caller: Caller, tool: Tool, arguments: Mapping[str, Any]) -> Answer:
    """Never raises for what the caller did; nothing is half done."""
    if not caller.may(tool.scopes):
        return Answer(f"This key lacks the scope {min(tool.scopes)}.", failed=True)
    try:
        limits.count(caller.key, tool.counts_as)
        return Answer(tool.does(caller, tool.takes.model_validate(dict(arguments))))
    except ValidationError as error:
        return Answer(_in_words(error), failed=True)
    except MemoryOff:
        return Answer(wording.MEMORY_OFF, failed=tool.adds)
    except TOLD as refusal:
        return Answer(str(refusal), failed=True)
    except Exception:
        log.exception("tool %s failed", tool.name)
        return Answer(wording.FAILED, failed=True)


def _in_words(error: ValidationError) -> str:
    """Names fields, repeats no value."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return "\n".join(
        f"{place_of(one['loc'])[:80] or 'arguments'}: {one['msg'].removeprefix('Value error, ')}"
        for one in found[:SHOWN_ERRORS]
    )
