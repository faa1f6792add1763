"""The strict reply format of the language model that reflects, and why an insight is dropped."""

from typing import Annotated

from django.db.models import TextChoices
from pydantic import Field, StringConstraints

from memory.extraction.schema import MAX_STATEMENT, Strict, Text

MOST = 3
LEAST_CITED = 2


class Insight(Strict):
    """`facts` are handles of the facts shown, `same_as` that of an earlier insight."""

    statement: Annotated[
        Text, StringConstraints(strip_whitespace=True, min_length=3, max_length=MAX_STATEMENT)
    ]
    facts: list[int] = Field(min_length=1, max_length=10)
    confidence: float = Field(ge=0, le=1, allow_inf_nan=False)
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")]
    same_as: int | None


class InsightReply(Strict):
    insights: list[Insight] = Field(max_length=MOST)


class Refusal(TextChoices):
    CREDENTIAL = "credential", "holds a credential"
    BAD_HANDLE = "bad_handle", "names a fact that was not shown"
    TOO_FEW = "too_few", "rests on fewer than two facts"
    SOURCE_GONE = "source_gone", "a fact that it rests on is no longer active"
    REPEATED = "repeated", "was concluded before"
    REJECTED = "rejected", "was rejected before"
    UNRESOLVED_DATE = "unresolved_date", "a relative date was left unresolved"
    TOMBSTONED = "tombstoned", "was purged or forgotten before"
