"""What extraction did, over HTTP: its runs, and what each one dropped and why."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from django.http import Http404
from ninja import Query, Router
from pydantic import BaseModel, WithJsonSchema

from agents.auth import KeyRequest, require_scope
from agents.models import ApiKey
from conversations.schemas import Slug, Strict
from memory.api_paging import Cursor, Limit, page_of
from memory.api_reader import Reader
from memory.models import DroppedCandidate, ExtractionRun
from memory.vocabulary import Gate, Trigger

router = Router()
REVIEW = require_scope(ApiKey.Scope.REVIEW)
# What one run can hold at most is a few dozen; this only bounds the answer.
SHOWN = 200
# Written out, because another schema has the name of the class.
RunState = Annotated[
    ExtractionRun.State,
    WithJsonSchema({"type": "string", "enum": ExtractionRun.State.values}),
]


class RunAsked(Strict):
    agent: Slug | None = None


class RunsAsked(RunAsked):
    """`after` is the `next` of the page before."""

    state: RunState | None = None
    after: Cursor | None = None
    limit: Limit = 50


class RunOut(BaseModel):
    """One reading of the messages `first_seq` to `last_seq` of a conversation. `counts`: what it
    proposed and what became of that; `dropped` among them is by gate."""

    id: UUID
    agent: str
    conversation: str
    source: str
    trigger: Trigger
    state: RunState
    attempt: int
    first_seq: int
    last_seq: int
    observer: str
    route: str
    prompt_version: str
    started_at: datetime
    finished_at: datetime | None
    error: str
    llm_calls: int
    input_tokens: int
    output_tokens: int
    counts: dict[str, int | dict[str, int]]

    @classmethod
    def fields_of(cls, run: ExtractionRun) -> dict[str, Any]:
        own = RunOut.model_fields.keys() - {"agent", "conversation", "source"}
        return {name: getattr(run, name) for name in own} | {
            "agent": run.agent.slug,
            "conversation": run.conversation.external_id,
            "source": run.conversation.source,
        }


class DroppedOut(BaseModel):
    """A proposal that a gate stopped. `fact` is the one that it met."""

    gate: Gate
    statement: str
    quote: str
    detail: str
    fact: UUID | None

    @classmethod
    def of(cls, row: DroppedCandidate) -> Self:
        return cls(
            gate=Gate(row.gate),
            statement=row.statement,
            quote=row.quote,
            detail=row.detail,
            fact=row.fact_id,
        )


class RunDetailOut(RunOut):
    """`facts`: the ids of those that it proposed."""

    facts: list[UUID]
    dropped: list[DroppedOut]


class RunPage(BaseModel):
    """`next` is the `after` of the next page; null on the last one."""

    items: list[RunOut]
    next: str | None


@router.get(
    "/runs",
    auth=REVIEW,
    response=RunPage,
    operation_id="list_runs",
    summary="List the runs of extraction, latest first",
)
def list_runs(request: KeyRequest, asked: Query[RunsAsked]) -> RunPage:
    rows = Reader.of(request.auth, asked.agent).runs()
    if asked.state:
        rows = rows.filter(state=asked.state)
    found, following = page_of(rows, "started_at", asked.after, asked.limit)
    return RunPage(items=[RunOut(**RunOut.fields_of(run)) for run in found], next=following)


@router.get(
    "/runs/{uuid:run_id}",
    auth=REVIEW,
    response=RunDetailOut,
    operation_id="read_run",
    summary="Read one run, with what it proposed and dropped",
)
def read_run(request: KeyRequest, run_id: UUID, asked: Query[RunAsked]) -> RunDetailOut:
    reader = Reader.of(request.auth, asked.agent)
    run = reader.runs().filter(pk=run_id).first()
    if run is None:
        raise Http404("There is no such run.")
    facts = reader.facts().filter(run=run).order_by("pk").values_list("pk", flat=True)
    return RunDetailOut(
        **RunOut.fields_of(run),
        facts=list(facts[:SHOWN]),
        dropped=[DroppedOut.of(row) for row in run.dropped.all()[:SHOWN]],
    )
