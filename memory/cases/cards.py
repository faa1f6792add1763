"""What a reviewer sees of one case: its text, what to be careful about, and what it rests on."""

from dataclasses import dataclass

from memory.models import Case
from memory.review.cards import Excerpt, Reason
from memory.sensitive import redact
from memory.vocabulary import Withheld

SHOWN = 500  # characters of a message


@dataclass(frozen=True, slots=True)
class CaseCard:
    case: Case
    warnings: list[Reason]
    excerpts: list[Excerpt]


def card(case: Case) -> CaseCard:
    return CaseCard(
        case=case,
        warnings=[
            Reason(code, _label(code), is_warning=True, words="") for code in case.withheld_for
        ],
        excerpts=[
            Excerpt(row.message, before=_start(row.message.content), quote="", after="")
            for row in case.sources.all()
        ],
    )


def _label(code: str) -> str:
    return str(Withheld(code).label) if code in Withheld.values else code


def _start(text: str) -> str:
    text = redact(text[:SHOWN])
    return text if len(text) < SHOWN else text.rsplit(None, 1)[0] + " …"
