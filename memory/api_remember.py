"""What an assistant asks to have remembered. Thin: what becomes of it is in memory/remember.py."""

from typing import TYPE_CHECKING, Annotated, Self
from uuid import UUID

from ninja import Router, Status
from pydantic import BaseModel, Field

from agents.auth import KeyRequest, agent_for, require_scope
from agents.models import Agent, ApiKey
from conversations.schemas import Id, Slug, Source, Strict, Text
from memory import remember as service
from memory.api_reader import Reader
from memory.api_schemas import Statement, Tags
from memory.cited import Citation, citation
from memory.lifecycle import Stale, version
from memory.models import Fact
from memory.vocabulary import Gate, Kind, Withheld

if TYPE_CHECKING:
    from memory.api_facts import CorrectionIn

router = Router()
Quote = Annotated[Text, Field(max_length=2000)]


class CitedIn(Strict):
    """A message of the agent's own conversation. Without `message` it is the newest of the owner's
    that holds the quote."""

    conversation: Id
    source: Source = "api"
    message: Id | None = None
    quote: Quote = ""

    def found(self, agent: Agent) -> Citation:
        """Raises NoSuchConversation, NoSuchMessage."""
        return citation(
            agent=agent,
            source=self.source,
            conversation=self.conversation,
            message=self.message,
            quote=self.quote,
        )


class RememberIn(Strict):
    """One self-contained sentence about the owner, in the third person, and what it rests on."""

    agent: Slug | None = None
    statement: Statement
    kind: Kind = Kind.SEMANTIC
    tags: Tags = []
    cited: CitedIn | None = None


class ProposeIn(RememberIn):
    """`corrects`: facts that it would take the place of."""

    corrects: Annotated[list[UUID], Field(max_length=10)] = []


class AskedOut(BaseModel):
    """`outcome`: `active` (may be told from now on), `pending` (waits for the owner), `confirmed`
    (was known, and the owner has said it again), `known` (nothing changed), `refused` (not stored,
    and `gate` says why). `withheld`: why it waits; `detail`: the words behind that."""

    outcome: service.Outcome
    fact: UUID | None
    withheld: list[Withheld]
    gate: Gate | None
    detail: str

    @classmethod
    def of(cls, found: service.Remembered) -> Self:
        return cls(
            outcome=found.outcome,
            fact=found.fact.pk if found.fact else None,
            withheld=list(found.withheld),
            gate=found.gate,
            detail=found.detail,
        )


@router.post(
    "/remember",
    auth=require_scope(ApiKey.Scope.REMEMBER),
    response=AskedOut,
    operation_id="remember",
    summary="Store what the owner said to remember",
)
def remember(request: KeyRequest, asked: RememberIn) -> AskedOut:
    """Active at once only where it cites an owner's message that holds the quote outside of pasted
    text, and nothing about it is doubtful. All else waits for the owner."""
    agent = agent_for(request.auth, asked.agent)
    found = service.remember(
        agent=agent,
        client=request.auth,
        statement=asked.statement,
        kind=asked.kind,
        cited=asked.cited.found(agent) if asked.cited else None,
        tags=asked.tags,
    )
    return AskedOut.of(found)


@router.post(
    "/propose",
    auth=require_scope(ApiKey.Scope.PROPOSE),
    response={202: AskedOut},
    operation_id="propose",
    summary="Propose a fact, or a correction, to the owner",
)
def propose(request: KeyRequest, asked: ProposeIn) -> Status[AskedOut]:
    """It always waits. A correction keeps the kind and the readers of what it corrects."""
    agent = agent_for(request.auth, asked.agent)
    targets = [service.fact_for(agent, pk) for pk in dict.fromkeys(asked.corrects)]
    found = service.propose(
        agent=agent,
        client=request.auth,
        statement=asked.statement,
        kind=None if targets else asked.kind,
        targets=targets,
        cited=asked.cited.found(agent) if asked.cited else None,
        tags=asked.tags,
    )
    return Status(202, AskedOut.of(found))


def proposed(
    key: ApiKey, reader: Reader, asked: "CorrectionIn", fact: Fact, seen: str
) -> Status[AskedOut]:
    """A correction by a key that can't decide. Raises Stale."""
    if seen and seen != version(fact):
        raise Stale(fact)
    found = service.propose(
        agent=agent_for(key, reader.agent.slug if reader.agent else None),
        client=key,
        statement=asked.statement,
        targets=[fact],
        tags=asked.tags or (),
    )
    return Status(202, AskedOut.of(found))
