"""What assistants ask to forget. An assistant's key only asks; the owner decides in the queue."""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from agents.audit import Actor
from agents.models import Agent, ApiKey, User
from memory import lifecycle
from memory.lifecycle.rows import need_person
from memory.models import Fact, ForgetRequest
from memory.vocabulary import ArchivedReason, State

MOST = 50  # facts in one request
LIVE = (State.PENDING, State.ACTIVE)


class TooMany(ValueError):
    def __init__(self, count: int) -> None:
        super().__init__(f"That would be {count} facts. Ask for at most {MOST} at a time.")


def file(
    *, owner: User, agent: Agent | None, client: ApiKey, facts: Iterable[Fact]
) -> list[ForgetRequest]:
    """One request a fact; asking again is asking once. Raises TooMany."""
    rows = list(facts)
    if len(rows) > MOST:
        raise TooMany(len(rows))
    ForgetRequest.objects.bulk_create(
        [ForgetRequest(owner=owner, agent=agent, client=client, fact=row) for row in rows],
        ignore_conflicts=True,
    )
    return list(waiting(owner).filter(fact__in=[row.pk for row in rows]))


def waiting(owner: User) -> QuerySet[ForgetRequest]:
    """For the queue: what is still to be decided, the newest first."""
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    rows = ForgetRequest.objects.filter(owner=owner, state=ForgetRequest.State.OPEN)
    return rows.filter(fact__state__in=LIVE).select_related("fact__agent", "agent", "client")


def accept(*, request: ForgetRequest, actor: Actor) -> ForgetRequest:
    """Forgets the fact. Raises NotAllowed, Conflict (the fact went another way), AlreadyDecided."""
    with transaction.atomic():
        row = _open(request)
        lifecycle.archive(fact=row.fact, why=ArchivedReason.FORGOTTEN, actor=actor)
        return _decide(row, ForgetRequest.State.ACCEPTED, actor)


def decline(*, request: ForgetRequest, actor: Actor) -> ForgetRequest:
    """The fact stays. Raises NotAllowed, AlreadyDecided."""
    with transaction.atomic():
        return _decide(_open(request), ForgetRequest.State.DECLINED, actor)


class AlreadyDecided(lifecycle.LifecycleError):
    def __init__(self) -> None:
        super().__init__("This request was already decided elsewhere.")


def _open(request: ForgetRequest) -> ForgetRequest:
    row = (
        ForgetRequest.objects.select_for_update(of=("self",), no_key=True)
        .select_related("fact__owner", "owner")
        .filter(pk=request.pk, owner=request.owner_id, state=ForgetRequest.State.OPEN)
        .first()
    )
    if row is None:
        raise AlreadyDecided
    return row


def _decide(row: ForgetRequest, state: ForgetRequest.State, actor: Actor) -> ForgetRequest:
    row.state, row.decided_at = state, timezone.now()
    row.reviewer = need_person(actor, row.owner)
    row.save(update_fields=["state", "decided_at", "reviewer"])
    return row


def request_of(owner: User, request_id: UUID) -> ForgetRequest:
    """What belongs to another does not exist: 404."""
    row = ForgetRequest.objects.filter(owner=owner, pk=request_id).first()
    if row is None:
        raise Http404("There is no such request.")
    return row
