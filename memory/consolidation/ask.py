"""What the language model is asked about a group of facts, and what it may answer."""

from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import StringConstraints

from memory import llm
from memory.consolidation.near import Group
from memory.extraction.schema import MAX_STATEMENT, Strict, Text
from memory.extraction.windows import escape, fenced, new_nonce
from memory.models import Evidence

PROMPT = "merge-v1"


class MergeReply(Strict):
    same: bool
    statement: Annotated[
        Text, StringConstraints(strip_whitespace=True, max_length=MAX_STATEMENT)
    ] = ""
    reason: Annotated[Text, StringConstraints(strip_whitespace=True, max_length=300)] = ""


def ask(group: Group, route: llm.Route) -> llm.Completion[MergeReply]:
    """Raises LlmError."""
    nonce = new_nonce()
    facts = (
        f'<fact-{nonce} n="{number}">{escape(fact.statement)}</fact-{nonce}>'
        for number, fact in enumerate(group.members, start=1)
    )
    return llm.complete(route, _prompt(), fenced("facts", nonce, facts), MergeReply)


def route_for(group: Group) -> llm.Route | None:
    """The private route or none where any member came from a sensitive conversation."""
    return llm.configured(llm.PRIVATE if is_sensitive(group) else llm.GENERAL)


def is_sensitive(group: Group) -> bool:
    if any(fact.conversation and fact.conversation.sensitive for fact in group.members):
        return True
    evidence = Evidence.objects.filter(fact__in=group.ids)
    return evidence.filter(message__conversation__sensitive=True).exists()


@cache
def _prompt() -> str:
    path = Path(__file__).parent / "prompts" / f"{PROMPT}.md"
    return path.read_text(encoding="utf-8")
