"""The two questions to the language model: what in a stretch is a case, and what it says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory import llm
from memory.cases.schema import CaseClassifierReply, CaseWriterReply, Exchange
from memory.extraction import windows
from memory.extraction.prompts import prompt
from memory.extraction.windows import Window, escape, fenced, new_nonce
from memory.models import Case

CLASSIFIER = "case-classifier-v1"
WRITER = "case-writer-v1"


@dataclass(frozen=True)
class Known:
    """A case on file under a handle that exists only in one call."""

    handle: int
    case: Case


def classify(window: Window, route: llm.Route) -> llm.Completion[CaseClassifierReply]:
    """Raises LlmError."""
    return llm.complete(route, prompt(CLASSIFIER), windows.render(window), CaseClassifierReply)


def part_of(window: Window, exchange: Exchange) -> Window | None:
    """The messages of the exchange alone, some of which may have been read before.

    None where its numbers name none, or none that is new.
    """
    numbers = range(exchange.first, exchange.last + 1)
    chosen = tuple(m for n, m in window.numbered.items() if n in numbers)
    if len(chosen) < len(numbers) or not chosen or not window.is_new(exchange.last):
        return None
    return replace(
        window, first_seq=chosen[0].seq, last_seq=chosen[-1].seq, messages=chosen, context=()
    )


def write(
    part: Window, known: Sequence[Known], route: llm.Route
) -> llm.Completion[CaseWriterReply]:
    """Raises LlmError."""
    text = f"{windows.render(part)}\n{_on_file(known)}"
    return llm.complete(route, prompt(WRITER), text, CaseWriterReply)


def _on_file(known: Sequence[Known]) -> str:
    nonce = new_nonce()
    return fenced(
        "cases",
        nonce,
        (
            f'<case-{nonce} n="{one.handle}" state="{one.case.state}">'
            f"{escape(one.case.goal)} → {escape(one.case.outcome)}</case-{nonce}>"
            for one in known
        ),
    )
