"""The strict reply format of the language model that writes a profile."""

from typing import Annotated

from pydantic import Field, StringConstraints

from memory.extraction.schema import Strict, Text

MOST = 30


class Sentence(Strict):
    """`facts` are handles of the facts shown."""

    text: Annotated[Text, StringConstraints(strip_whitespace=True, min_length=3, max_length=400)]
    facts: list[int] = Field(max_length=8)


class ProfileReply(Strict):
    sentences: list[Sentence] = Field(max_length=MOST)
