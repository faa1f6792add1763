"""Who acts, and why: told to the database, whose trigger writes it into the audit trail."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.db import connection, transaction

from agents.models import ApiKey, User


@dataclass(frozen=True)
class Actor:
    """`person` is the human who decides; without one a step that needs a person is refused."""

    name: str
    person: User | None = None


def person(user: User) -> Actor:
    return Actor(name=f"person:{user.pk}", person=user)


def key_holder(key: ApiKey) -> Actor:
    """Only a key with the review scope stands for a person: its owner."""
    reviews = ApiKey.Scope.REVIEW in key.scopes
    return Actor(name=f"key:{key.pk}", person=key.owner if reviews else None)


def command(name: str, owner: User | None = None) -> Actor:
    """Whoever may run commands on this server may decide for its owners: a command that does names
    the one. The trail says that it was a command."""
    return Actor(name=f"command:{name}", person=owner)


POLICY = Actor(name="policy")

# The request, task or command in whose course things happen; set by middleware and the task base.
context: ContextVar[str] = ContextVar("audit_context", default="")


@contextmanager
def acting(actor: Actor, reason: str = "") -> Iterator[None]:
    """A transaction whose changes the trail ascribes to this actor, for this reason.

    Inside another such block the outer actor comes back when the inner one ends.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(current_setting('remembrancer.actor', true), ''),"
            " coalesce(current_setting('remembrancer.reason', true), '')"
        )
        before = cursor.fetchone()
        _tell(actor.name, reason)
        yield
        _tell(*before)


def _tell(actor: str, reason: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('remembrancer.actor', %s, true),"
            " set_config('remembrancer.reason', %s, true),"
            " set_config('remembrancer.context', %s, true)",
            [actor, reason[:300], context.get()],
        )
