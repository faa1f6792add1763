"""The profile and the facts as documents that a person attaches to a chat."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.utils import timezone

from agents import limits
from agents.gate import memory_on
from agents.models import Agent
from memory import tokens
from memory.mcp import wording
from memory.mcp.caller import Caller, Refused, Scope
from memory.mcp.deeds import clock
from memory.mcp.fence import fenced
from memory.profile.material import readable
from memory.profile.reading import view_of
from memory.recall import ahead
from memory.recall.block import line, new_nonce
from memory.recall.clean import clean
from memory.recall.tuning import tuning

SCOPES = frozenset({Scope.RECALL})
BUDGET = 4000
FACTS = 300  # more would not fit
PREFIX = "remembrancer://agents/"
_URI = re.compile(re.escape(PREFIX) + r"([-a-zA-Z0-9_]{1,64})/([a-z]+)")


@dataclass(frozen=True, slots=True)
class Document:
    name: str
    title: str
    about: str
    read: Callable[[Agent], str]

    def uri(self, agent: Agent) -> str:
        return f"{PREFIX}{agent.slug}/{self.name}"


def _profile(agent: Agent) -> str:
    view = view_of(agent, timezone.now())

    def lines(nonce: str) -> Iterable[str]:
        yield from (f"- {clean(told.text, nonce)}" for told in view.sentences)
        for group in view.groups:
            mark = group.tag or group.kind
            yield from (f"- [{mark}] {clean(fact.statement, nonce)}" for fact in group.facts)

    return fenced(
        "What is known of the user, in short.", lines, budget=BUDGET, more="There is more."
    )


def _facts(agent: Agent) -> str:
    now = timezone.now().astimezone(clock(agent))
    facts = list(readable(agent, now).defer("search")[:FACTS])
    return fenced(
        "The facts about the user that this assistant may know, the last confirmed first.",
        lambda nonce: (line(fact, now, nonce) for fact in facts),
        budget=BUDGET,
        more="There are more facts; search_memory finds them.",
    )


def _rules(agent: Agent) -> str:
    budget = tuning().rules_budget
    told = ahead.told_now(agent, budget=budget, nonce=new_nonce(), count=tokens.count)
    return told.text.rstrip()


DOCUMENTS = (
    Document(
        "profile",
        "What is known of me",
        "A short portrait of the user, made of accepted facts only. Attach it where the whole chat"
        " is about the user; else recall brings the few facts that matter.",
        _profile,
    ),
    Document(
        "facts",
        "All facts about me",
        "The user's accepted facts that this assistant may know, pinned and durable ones first, as"
        f" many as fit into {BUDGET} tokens.",
        _facts,
    ),
    Document(
        "rules",
        "What I told you to follow",
        "The standing instructions that the user wrote for this assistant. They ride ahead of every"
        " answer of recall too; attach them where recall is not called. Read-only: the user writes"
        " them in a browser.",
        _rules,
    ),
)


def read(caller: Caller, uri: str) -> str:
    """Raises Refused, TooManyCalls."""
    if not caller.may(SCOPES):
        raise Refused("This key lacks the scope recall.")
    found = _URI.fullmatch(uri)
    document = next((one for one in DOCUMENTS if found and one.name == found[2]), None)
    if found is None or document is None:
        raise Refused("There is no such resource.")
    agent = caller.agent(found[1])
    limits.count(caller.key, limits.Kind.READ)
    if not memory_on(agent.owner):
        return wording.MEMORY_OFF
    return document.read(agent) or wording.NOTHING
