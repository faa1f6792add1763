"""The second look: how each candidate stands to what is stored already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory import llm
from memory.extraction.prompts import REFLECTOR, prompt
from memory.extraction.schema import Candidate, Decision, ReflectorReply
from memory.extraction.windows import escape, fenced, new_nonce
from memory.policy import Known
from memory.vocabulary import State


@dataclass(frozen=True)
class Reflection:
    """`decisions` by candidate number; a candidate that the model passed over has none."""

    decisions: dict[int, Decision]
    usage: llm.Usage = field(default_factory=llm.Usage)


def reflect(
    candidates: Mapping[int, Candidate],
    known: Sequence[Known],
    near: Mapping[int, list[int]],
    route: llm.Route,
) -> Reflection:
    """`near` names for each candidate the handles of the facts found close to it. Raises LlmError.

    Where nothing is stored that could be near, there is nothing to ask.
    """
    if not candidates or not known:
        return Reflection({})
    text = render(candidates, known, near)
    completion = llm.complete(route, prompt(REFLECTOR), text, ReflectorReply)
    decisions: dict[int, Decision] = {}
    for decision in completion.reply.decisions:
        decisions.setdefault(decision.candidate, decision)
    return Reflection(decisions, completion.usage)


def render(
    candidates: Mapping[int, Candidate], known: Sequence[Known], near: Mapping[int, list[int]]
) -> str:
    nonce = new_nonce()
    facts = (
        f'<fact-{nonce} n="{fact.handle}" state="{_state(fact.state)}" kind="{fact.kind.value}">'
        f"{escape(fact.statement)}</fact-{nonce}>"
        for fact in known
    )
    proposed = (
        f'<candidate-{nonce} n="{number}" kind="{candidate.kind.value}"'
        f' near="{" ".join(map(str, near.get(number, [])))}">'
        f"{escape(candidate.statement)}</candidate-{nonce}>"
        for number, candidate in candidates.items()
    )
    return fenced("facts", nonce, facts) + "\n" + fenced("candidates", nonce, proposed)


def _state(state: State) -> str:
    """A forgotten fact is one that the person does not want, as a rejected one is."""
    return State.REJECTED.value if state == State.ARCHIVED else state.value
