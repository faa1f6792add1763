"""The two strict reply formats of the language model that finds and writes cases."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints

from memory.extraction.schema import Strict, Text
from memory.models.case import ACTORS, GOAL, PART
from memory.vocabulary import Quality

# In one stretch of a conversation.
MAX_EXCHANGES = 3


def _in_one_line(value: Any) -> Any:
    return " ".join(value.split()) if isinstance(value, str) else value


# Before the lengths are looked at.
Line = Annotated[Text, BeforeValidator(_in_one_line)]


def _of(least: int, most: int) -> StringConstraints:
    return StringConstraints(min_length=least, max_length=most)


class Exchange(Strict):
    """`first` and `last` are numbers of messages in the window."""

    first: int
    last: int
    goal: Annotated[Line, _of(3, 300)]


class CaseClassifierReply(Strict):
    exchanges: list[Exchange] = Field(max_length=MAX_EXCHANGES)


class CaseWriterReply(Strict):
    """`messages` are those that prove it; `same_as` the handle of a case that says the same."""

    goal: Annotated[Line, _of(*GOAL)]
    context: Annotated[Line, _of(*PART)]
    approach: Annotated[Line, _of(*PART)]
    outcome: Annotated[Line, _of(*PART)]
    quality: Quality
    lessons: Annotated[Line, _of(0, 500)]
    actors: list[Annotated[Line, _of(1, 120)]] = Field(min_length=1, max_length=ACTORS)
    tags: list[Annotated[Line, _of(1, 40)]] = Field(max_length=8)
    messages: list[int] = Field(min_length=1, max_length=10)
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")]
    same_as: int | None

    @property
    def texts(self) -> tuple[str, ...]:
        parts = (self.goal, self.context, self.approach, self.outcome, self.lessons)
        return (*parts, *self.actors, *self.tags)
