"""What each tool takes. The descriptions are read by models."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from conversations.schemas import Id, Slug, Source, Strict, Text
from memory.extraction.schema import MAX_STATEMENT
from memory.purge import requests
from memory.recall.schemas import LEAST_BUDGET
from memory.remember import LEAST
from memory.search.hits import Scope
from memory.vocabulary import Kind, Tag

MOST_TOKENS = 4000
TOKENS = 1500
MESSAGE = 20_000  # characters

LIMIT = "The answer takes at most so many tokens."
Tokens = Annotated[int, Field(ge=LEAST_BUDGET, le=MOST_TOKENS)]
# How long it may be the service says, in words that help more.
Statement = Annotated[
    Text,
    Field(
        description="One self-contained sentence in the third person, at most 500 characters: The"
        " user …",
        json_schema_extra={"minLength": LEAST, "maxLength": MAX_STATEMENT},
    ),
]


class AgentAsked(Strict):
    agent: Annotated[
        Slug | None,
        Field(description="Slug of the assistant to act for; only if list_agents lists several."),
    ] = None


class Spoken(AgentAsked):
    conversation: Annotated[
        Id | None,
        Field(description="Id of the conversation as it was stored, if your host gave you one."),
    ] = None
    source: Annotated[
        Source, Field(description="Which program stored that conversation; leave it as it is.")
    ] = "api"


class RecallAsked(Spoken):
    message: Annotated[
        Text, Field(max_length=MESSAGE, description="The user's message, word for word.")
    ]
    recent: Annotated[
        list[Annotated[Text, Field(max_length=MESSAGE)]],
        Field(max_length=3, description="The user's last messages before it, oldest first."),
    ] = []
    max_tokens: Annotated[Tokens | None, Field(description=LIMIT)] = None


class SearchAsked(AgentAsked):
    query: Annotated[
        Text, Field(min_length=1, max_length=MESSAGE, description="Words or a question.")
    ]
    scope: Annotated[
        Scope,
        Field(
            description="facts, cases (how earlier tasks went), raw (what was said), sketches"
            " (working notes), documents, or all."
        ),
    ] = Scope.ALL
    limit: Annotated[int, Field(ge=1, le=20, description="Results at most.")] = 8
    max_tokens: Annotated[Tokens, Field(description=LIMIT)] = TOKENS


class Cited(Spoken):
    message: Annotated[
        Id | None,
        Field(description="Id of the user's message in it; without, it is found by the quote."),
    ] = None
    quote: Annotated[
        Text,
        Field(
            max_length=1500,
            description="The user's exact words that say it, copied from their message.",
        ),
    ] = ""


class RememberAsked(Cited):
    statement: Statement
    kind: Annotated[
        Kind,
        Field(
            description="semantic: a lasting fact or preference; episodic: something that happened;"
            " procedural: how the user does something."
        ),
    ] = Kind.SEMANTIC
    tags: Annotated[list[Tag], Field(max_length=5, description="What it is about.")] = []


class CorrectionAsked(Cited):
    fact: Annotated[UUID, Field(description="Id of the fact, from search_memory.")]
    statement: Statement


class ForgetAsked(AgentAsked):
    facts: Annotated[
        list[UUID],
        Field(min_length=1, max_length=requests.MOST, description="Ids from search_memory."),
    ]


class NothingAsked(Strict):
    pass
