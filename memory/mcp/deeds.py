"""What the tools do. Thin: the work is in recall, search, remember and purge.

Each takes its caller and its checked arguments and returns text, all of it safe for a prompt.
Raises Refused, and what the services raise; tools.py puts that into words.
"""

from dataclasses import replace
from zoneinfo import ZoneInfo

from django.utils import timezone

from agents.models import Agent, OwnerSettings
from agents.wording import counted
from memory import cited
from memory import remember as remembering
from memory.mcp import wording
from memory.mcp.caller import Caller, Refused
from memory.mcp.fence import fenced
from memory.mcp.inputs import (
    TOKENS,
    Cited,
    CorrectionAsked,
    ForgetAsked,
    NothingAsked,
    RecallAsked,
    RememberAsked,
    SearchAsked,
)
from memory.purge import requests
from memory.recall import record
from memory.recall import service as recalling
from memory.recall.clean import clean
from memory.recall.trace import Why
from memory.remember import Outcome, Remembered
from memory.scope import facts_readable_by, recallable
from memory.search import service as searching
from memory.search import tiers
from memory.search.failures import Failures
from memory.search.fenced import line
from memory.sensitive import redact
from memory.vocabulary import Gate, Withheld

# Characters of one result.
LONGEST = 1000


def recall(caller: Caller, asked: RecallAsked) -> str:
    agent = caller.agent(asked.agent)
    talk = asked.conversation and record.Talk(agent, asked.source, asked.conversation)
    conversation = talk.found() if talk else None
    found = recalling.recall(
        agent=agent,
        message=asked.message,
        recent=asked.recent,
        conversation=conversation,
        budget=asked.max_tokens,
        withdrawn=False,
    )
    record.told(recall=found, talk=talk or None, conversation=conversation)
    if found.trace.empty_because == Why.MEMORY_OFF:
        return wording.MEMORY_OFF
    return found.block or wording.NOTHING


def search_memory(caller: Caller, asked: SearchAsked) -> str:
    agent = caller.agent(asked.agent)
    failures = Failures()
    hits = searching.search(
        agent=agent, query=asked.query, scope=asked.scope, k=asked.limit, withdrawn=False,
        failures=failures,
    )  # fmt: skip
    shown = [replace(hit, text=_shown(hit.text)) for hit in hits]
    zone, note = clock(agent), failures.in_words()
    text = fenced(
        " ".join(filter(None, (f"Found in memory: {tiers.headings()}.", note))),
        lambda nonce: (line(hit, zone, nonce, with_id=True) for hit in shown),
        budget=asked.max_tokens,
        more="More was found than fits; ask for less, or raise max_tokens.",
    )
    return text or f"{wording.NOTHING} {note}".rstrip()


def remember(caller: Caller, asked: RememberAsked) -> str:
    agent = caller.agent(asked.agent)
    done = remembering.remember(
        agent=agent,
        client=caller.key,
        statement=asked.statement,
        kind=asked.kind,
        cited=_citation(agent, asked),
        tags=asked.tags,
    )
    return _told(done)


def propose_correction(caller: Caller, asked: CorrectionAsked) -> str:
    agent = caller.agent(asked.agent)
    done = remembering.propose(
        agent=agent,
        client=caller.key,
        statement=asked.statement,
        targets=[remembering.fact_for(agent, asked.fact)],
        cited=_citation(agent, asked),
    )
    return _told(done)


def forget(caller: Caller, asked: ForgetAsked) -> str:
    """Even a key that may review only asks here: the words are a model's."""
    agent = caller.agent(asked.agent)
    readable = recallable(facts_readable_by(agent), timezone.now()).filter(pk__in=asked.facts)
    facts = list(readable)
    if len(facts) < len(set(asked.facts)):
        raise Refused("Not every id is that of a known fact; nothing was asked for. Search again.")
    requests.file(owner=agent.owner, agent=agent, client=caller.key, facts=facts)
    return (
        f"Asked for: {counted(len(facts), 'fact')}. The user decides in the review queue; until "
        "then they stay in memory."
    )


def list_agents(caller: Caller, asked: NothingAsked) -> str:
    agents = caller.agents()
    return fenced(
        "Assistants that this key may speak for, by slug.",
        lambda nonce: (_agent_line(agent, nonce) for agent in agents),
        budget=TOKENS,
        more="There are more.",
    )


def clock(agent: Agent) -> ZoneInfo:
    zones = OwnerSettings.objects.values_list("time_zone", flat=True)
    return ZoneInfo(zones.get(owner=agent.owner_id))


def _agent_line(agent: Agent, nonce: str) -> str:
    notes = [agent.get_reads_display().lower(), *(["the default"] if agent.is_default else [])]
    return f"- {agent.slug}: {clean(agent.name, nonce)} ({'; '.join(notes)})"


def _shown(text: str) -> str:
    """A passage of the record may be long, and may hold what no prompt should."""
    text = redact(text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} …"


def _citation(agent: Agent, asked: Cited) -> cited.Citation | None:
    if asked.conversation is None:
        if asked.message is not None:
            raise Refused("conversation: is needed beside message.")
        return None
    return cited.citation(
        agent=agent,
        source=asked.source,
        conversation=asked.conversation,
        message=asked.message,
        quote=asked.quote,
    )


_OUTCOMES = {
    Outcome.ACTIVE: "Remembered.",
    Outcome.CONFIRMED: "Known already, and noted that the user has said it again.",
    Outcome.KNOWN: "Known already, or waiting for the user's review; nothing new was stored.",
}
_GATES = {
    Gate.CREDENTIAL: "it holds a password, key or card number, which memory never keeps.",
    Gate.UNRESOLVED_DATE: "it says when only relative to today; write the date out and try again.",
    Gate.RECALLED_ECHO: "it only repeats what memory itself told you in this conversation.",
}
_REASONS = {
    Withheld.CORRECTION: "corrections always do",
    Withheld.DIRECTIVE: "it reads like an instruction",
    Withheld.ADDRESSES_ASSISTANT: "it speaks to the assistant rather than about the user",
    Withheld.CONTACT: "it holds contact or payment data",
    Withheld.HIDDEN_TEXT: "it holds characters that can't be seen",
    Withheld.NOT_TYPED: "it could not be traced to words that the user typed",
    Withheld.OTHER_WORDS: "it says it in other words than the user did",
    Withheld.NEAR_DUPLICATE: "it is close to something that is stored already",
}
_UNWANTED = "the user does not want it kept. Do not ask again."


def _told(done: Remembered) -> str:
    if done.outcome == Outcome.REFUSED:
        assert done.gate is not None  # noqa: S101 - that is what refused means
        raise Refused(f"Not stored: {_GATES.get(done.gate, _UNWANTED)}")
    if done.outcome == Outcome.PENDING:
        why = next(filter(None, map(_REASONS.get, done.withheld)), "most things do")
        return f"Waits for the user's review and is not in use before: {why}."
    return _OUTCOMES[done.outcome]
