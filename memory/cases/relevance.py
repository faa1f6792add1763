"""The confirmed cases that bear on a message, judged as facts are: by meaning and words in common.

Only reads. An owner without cases costs nothing: whoever calls has asked whether there
are any.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.search import SearchQuery
from django.db.models import F, FloatField, OuterRef, Q, QuerySet, Subquery, Value
from pgvector.django import CosineDistance

from agents.models import Agent
from memory import embedding
from memory.cases.scope import cases_readable_by
from memory.models import Case, CaseEmbedding
from memory.search.words import content_stems
from memory.text import detect_language, language_config
from memory.text.language import UNKNOWN
from memory.vocabulary import State

# Told in one block, and listed beside facts by a search of everything.
MOST = 2
# Looked at for one message.
_ROWS = 30
# A case is longer than a fact, so that its vector lies further from a question. Measured with
# MiniLM on 24 questions about 12 cases: at 0.35 the right case opens for 19, no other for any, and
# none for 10 questions about something else (the nearest 0.27); at 0.45, the bound of facts, 12.
OPENS_COSINE = 0.35
OPENS_SHARE, OPENS_SHARE_COSINE = 0.30, 0.20
LEAST_WORDS = 2


@dataclass(frozen=True)
class Relevant:
    """`share`: of the message's words of content, how much the case says. `cosine` is None where
    there is no vector, or none that means anything."""

    case: Case
    cosine: float | None
    share: float
    words: int

    @property
    def score(self) -> float:
        return (self.cosine or 0.0) + self.share

    @property
    def opens(self) -> bool:
        by_words = self.words >= LEAST_WORDS and self.share >= OPENS_SHARE
        if self.cosine is None:
            return by_words
        return self.cosine >= OPENS_COSINE or (by_words and self.cosine >= OPENS_SHARE_COSINE)


def relevant(
    *,
    agent: Agent,
    message: str,
    vector: Sequence[float] | None,
    gate: bool = True,
    language: str = "",
) -> list[Relevant]:
    """Best first; without `gate` also those that no assistant would be told. `vector` is of the
    message, None where the model is not there; `language`, if it is known already."""
    language = language or detect_language(message)
    config = language_config(language)
    if language != UNKNOWN and not embedding.reads(language):
        vector = None
    rows = list(_candidates(agent, message, config, vector))
    if not rows:
        return []
    asked = config if config != "simple" else "english"
    texts = [(asked, message), *((_config(row, asked), text_of(row)) for row in rows)]
    stems, *said = content_stems(texts)
    judged = [_judged(row, stems, theirs) for row, theirs in zip(rows, said, strict=True)]
    found = [one for one in judged if one.opens or not gate]
    return sorted(found, key=lambda one: (-one.score, one.case.pk))


def text_of(case: Case) -> str:
    return "\n".join((case.goal, case.context, case.outcome, case.lessons, *case.tags))


def told_as(case: Case) -> str:
    """One line: what was wanted, and what came of it or what it taught."""
    lesson = f" Lesson: {case.lessons}" if case.lessons else ""
    return f"{case.goal} → {case.outcome}{lesson}"


def _candidates(
    agent: Agent, message: str, config: str, vector: Sequence[float] | None
) -> QuerySet[Any]:
    """In one query, whichever way they are found."""
    cases = cases_readable_by(agent).filter(state=State.ACTIVE).defer("search")
    words = Q(search=_any_word(message, config))
    if vector is None:
        cases = cases.annotate(cosine=Value(None, output_field=FloatField()))
        return cases.filter(words).order_by("-created_at", "-pk")[:_ROWS]
    own = CaseEmbedding.objects.filter(case=OuterRef("pk"), model=embedding.MODEL)
    near = own.annotate(cosine=Value(1.0) - CosineDistance("vector", list(vector)))
    cases = cases.annotate(cosine=Subquery(near.values("cosine")[:1], output_field=FloatField()))
    return cases.filter(words | Q(cosine__gte=OPENS_SHARE_COSINE)).order_by(
        F("cosine").desc(nulls_last=True), "pk"
    )[:_ROWS]


def _any_word(message: str, config: str) -> SearchQuery:
    """Stop words fall out by the language's own list."""
    words = dict.fromkeys("".join(c if c.isalnum() else " " for c in message).split())
    terms = " | ".join(f"'{word}'" for word in list(words)[:60]) or "''"
    return SearchQuery(terms, config=config, search_type="raw")


def _judged(row: Any, asked: set[str], said: set[str]) -> Relevant:
    shared = asked & said
    trusted = row.language in ("english", "simple") or not embedding.READS
    return Relevant(
        case=row,
        cosine=row.cosine if trusted else None,
        share=len(shared) / len(asked) if asked else 0.0,
        words=len(shared),
    )


def _config(row: Case, asked: str) -> str:
    return row.language if row.language != "simple" else asked
