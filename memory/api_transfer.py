"""A memory out and in over HTTP, in pieces. Thin: what it does is in memory/transfer."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Literal
from uuid import UUID

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router
from pydantic import BaseModel, Field

from agents.audit import key_holder
from agents.auth import KeyRequest, agent_for, require_scope
from agents.bodies import WrongType
from agents.models import ApiKey
from conversations.schemas import Slug, Strict, Text
from memory.lifecycle import NotAllowed
from memory.transfer import proposals, store
from memory.transfer.export import export
from memory.transfer.lists import LISTS, format_of
from memory.transfer.plan import Conflict
from memory.transfer.store import Result

router = Router()
Format = Literal["auto", "remembrancer", "memory-md", "claude-md", "bullets", "mem0", "chatgpt"]

# Of one import. A larger one is brought in with the command.
LARGEST = 200_000_000
PIECE = 64 * 1024
A_FILE = {"schema": {"type": "string", "format": "binary"}}


class ExportAsked(Strict):
    agent: Slug | None = None
    conversations: bool = True


class ImportAsked(Strict):
    """`name` is what the import is called in lists; it may tell the format, as MEMORY.md does."""

    name: Annotated[Text, Field(min_length=1, max_length=200)] = "import"
    format: Literal[
        "auto", "remembrancer", "memory-md", "claude-md", "bullets", "mem0", "chatgpt"
    ] = "auto"
    agent: Slug | None = None
    approve: bool = False
    conflict: Conflict = Conflict.SKIP
    dry_run: bool = False


class ImportOut(BaseModel):
    """Counts: what is new, and what stayed out by why. No id where nothing was new."""

    imported: UUID | None
    new: dict[str, int]
    left_out: dict[str, int]
    notes: list[str]


@router.get(
    "/export",
    auth=require_scope(ApiKey.Scope.EXPORT),
    operation_id="export_memories",
    summary="The whole memory, or an agent's own part of it, as a file",
    openapi_extra={"responses": {200: {"content": {"application/jsonl": A_FILE}}}},
)
def export_memories(request: KeyRequest, asked: Query[ExportAsked]) -> StreamingHttpResponse:
    key = request.auth
    part = asked.agent is not None or key.agent is not None
    agent = agent_for(key, asked.agent) if part else None
    lines = export(owner=key.owner, agent=agent, conversations=asked.conversations)
    response = StreamingHttpResponse(_pieces(lines), content_type="application/jsonl")
    response["Content-Disposition"] = 'attachment; filename="memory.jsonl"'
    return response


@router.post(
    "/import",
    auth=require_scope(ApiKey.Scope.REVIEW),
    response=ImportOut,
    operation_id="import_memories",
    summary="Bring in a memory file, or what another program remembers",
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/octet-stream": A_FILE}}
    },
)
def import_memories(request: KeyRequest, asked: Query[ImportAsked]) -> ImportOut:
    """The body is the file itself. All of it is stored, or nothing."""
    if request.content_type == "multipart/form-data":
        raise WrongType("the file itself, such as application/octet-stream")
    with _received(request) as path:
        result = _brought_in(request.auth, asked, path)
    return ImportOut(
        imported=result.imported,
        new=dict(result.new),
        left_out=dict(result.left),
        notes=result.notes,
    )


def _brought_in(key: ApiKey, asked: ImportAsked, path: Path) -> Result:
    format = format_of(path, asked.name) if asked.format == "auto" else asked.format
    actor = key_holder(key)
    if format in LISTS:
        if asked.approve or asked.conflict != Conflict.SKIP:
            raise NotAllowed("A list waits for review; nothing in it can be let in as it was.")
        return proposals.propose_list(
            agent=agent_for(key, asked.agent),
            path=path,
            name=asked.name,
            format=format,
            actor=actor,
            dry_run=asked.dry_run,
        )
    if key.agent is not None or asked.agent is not None:
        raise NotAllowed("A memory file is the whole owner's: use a key without an agent.")
    if asked.approve:
        return store.bring_in(
            owner=key.owner,
            path=path,
            name=asked.name,
            actor=actor,
            conflict=asked.conflict,
            dry_run=asked.dry_run,
        )
    if asked.conflict == Conflict.SUPERSEDE:
        raise NotAllowed("Replacing facts needs a person's word: approve.")
    return proposals.propose_file(
        owner=key.owner,
        path=path,
        name=asked.name,
        actor=actor,
        conflict=asked.conflict,
        dry_run=asked.dry_run,
    )


@contextmanager
def _received(request: HttpRequest) -> Iterator[Path]:
    """The body as a file, which is read twice. Raises RequestDataTooBig."""
    with NamedTemporaryFile(prefix="remembrancer-import-") as file:
        size = 0
        while piece := request.read(PIECE):
            size += len(piece)
            if size > LARGEST:
                raise RequestDataTooBig
            file.write(piece)
        file.flush()
        yield Path(file.name)


def _pieces(lines: Iterable[str]) -> Iterator[bytes]:
    waiting: list[bytes] = []
    size = 0
    for line in lines:
        waiting.append(line.encode())
        size += len(waiting[-1])
        if size >= PIECE:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)
