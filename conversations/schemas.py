"""What the API and our own file format accept, field by field. Unknown fields are errors."""

import re
from datetime import date, datetime
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    Field,
    model_validator,
)

from agents.schemas import Slug as Slug
from agents.schemas import Strict as Strict
from agents.schemas import written_out
from conversations import rules
from conversations.ingest import DOCUMENT, OUTCOME
from conversations.models import Message
from conversations.record import Incoming

BATCH = 500  # messages in one request
DISCOVERIES = 200  # in one outcome

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def not_ours(source: str) -> str:
    if source == OUTCOME:
        raise ValueError("is reserved; outcomes have an address of their own")
    if source == DOCUMENT:
        raise ValueError("is reserved for what is read from documents")
    return source


def _one_line(header: str) -> str:
    """A blank line is where the header ends and the discoveries begin."""
    if len(header.splitlines()) > 1:
        raise ValueError("is more than one line")
    return header


def _day(value: Any) -> Any:
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        raise ValueError("write the day out: 2026-03-02")
    return value


Text = Annotated[str, AfterValidator(rules.storable)]
Day = Annotated[date, BeforeValidator(_day)]
Id = Annotated[Text, Field(min_length=1, max_length=rules.ID_LENGTH)]
Source = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")]
Content = Annotated[Text, AfterValidator(rules.content)]
Title = Annotated[Text, Field(max_length=300)]
Header = Annotated[Title, Field(min_length=1), AfterValidator(_one_line)]
Moment = Annotated[AwareDatetime, BeforeValidator(written_out), AfterValidator(rules.moment)]
Discovery = Annotated[Text, Field(min_length=1, max_length=4000)]
Limit = Annotated[int, Field(ge=1, le=500)]
Zone = Annotated[str, Field(max_length=64), AfterValidator(rules.zone)]


def place_of(location: tuple[str | int, ...]) -> str:
    """`messages[3].sent_at` from ("messages", 3, "sent_at")."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return "".join(steps).removeprefix(".")


class MessageIn(Strict):
    id: Id
    role: Message.Role
    content: Content
    sent_at: Moment
    zone: Zone | None = None
    speaker: Annotated[Text, Field(max_length=120)] = ""
    from_owner: bool | None = None
    parent: Id | None = None
    replaces: Id | None = None

    @model_validator(mode="after")
    def _only_users_are_owners(self) -> Self:
        if self.from_owner and self.role != Message.Role.USER:
            raise ValueError("only a message of role user can be from the owner")
        return self

    def incoming(self) -> Incoming:
        return Incoming(
            client_id=self.id,
            role=self.role,
            content=self.content,
            sent_at=self.sent_at,
            zone=self.zone or "",
            speaker=self.speaker,
            from_owner=self.from_owner,
            parent=self.parent,
            replaces=self.replaces,
        )


class BatchIn(Strict):
    agent: Slug | None = None
    source: Annotated[Source, AfterValidator(not_ours)] = "api"
    title: Title = ""
    read_only: bool | None = None
    sensitive: bool | None = None
    messages: Annotated[list[MessageIn], Field(min_length=1, max_length=BATCH)]


class CompactIn(Strict):
    agent: Slug | None = None
    source: Source = "api"
    up_to: Id
    summary: Content = ""


class ExtractIn(Strict):
    agent: Slug | None = None
    source: Source = "api"


class OutcomeIn(Strict):
    id: Annotated[Text, Field(min_length=1, max_length=120)]
    header: Header
    # One by one, or as a text of their own.
    discoveries: (
        Annotated[list[Discovery], Field(min_length=1, max_length=DISCOVERIES)]
        | Annotated[Content, Field(min_length=1)]
    )
    sent_at: Moment
    zone: Zone | None = None
    sensitive: bool | None = None

    def text(self) -> str:
        if isinstance(self.discoveries, str):
            return self.discoveries
        return "\n".join(f"- {discovery}" for discovery in self.discoveries)


class ConversationAsked(Strict):
    agent: Slug | None = None
    source: Source = "api"


class ConversationsAsked(Strict):
    """`after` is the `next` of the page before."""

    agent: Slug | None = None
    source: Source | None = None
    after: str | None = None
    limit: Limit = 50


class MessagesAsked(ConversationAsked):
    """`after` is the `next` of the page before."""

    after: Annotated[int, Field(ge=0, le=2_000_000_000)] = 0
    limit: Limit = 100


class StoredOut(BaseModel):
    """`stored` is false while the owner's memory is off: then nothing was kept, and `why` says so.

    `new` messages were stored; `known` ones were there already, word for word.
    """

    stored: bool
    conversation: str
    new: int = 0
    known: int = 0
    why: str = ""


class DueOut(BaseModel):
    """`due`: there is something unread, and the worker was told."""

    conversation: str
    due: bool
    unread: int


class ExcludeIn(Strict):
    agent: Slug | None = None
    source: Source = "api"


class ExcludedOut(BaseModel):
    """`passed_over`: so many messages were unread, and stay so."""

    conversation: str
    excluded: bool
    passed_over: int


class CompactOut(BaseModel):
    stored: bool
    conversation: str
    due: bool = False
    why: str = ""


class ConversationOut(BaseModel):
    external_id: str
    source: str
    agent: str
    title: str
    read_only: bool
    sensitive: bool
    messages: int
    unread: int
    first_message_at: datetime | None
    last_message_at: datetime | None


class ConversationPage(BaseModel):
    """`next` is the `after` of the next page; null on the last one."""

    items: list[ConversationOut]
    next: str | None


class MessageOut(BaseModel):
    """`sent_at` keeps the moment, `zone` the clock of the person who spoke."""

    id: str
    seq: int
    role: str
    kind: str
    speaker: str
    from_owner: bool
    content: str
    sent_at: datetime
    zone: str
    parent: str | None
    replaces: str | None
    on_branch: bool


class MessagePage(BaseModel):
    """`next` is the `after` of the next page; null on the last one."""

    items: list[MessageOut]
    next: int | None
