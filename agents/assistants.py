"""The assistants of an owner, made and changed by page and API alike."""

from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from agents.access import agents_of
from agents.audit import Actor, acting
from agents.models import Agent


@dataclass(frozen=True, slots=True)
class Wanted:
    name: str
    slug: str
    reads: str
    is_default: bool


class Overtaken(Exception):
    def __init__(self) -> None:
        super().__init__("Somebody changed the assistants meanwhile. Look at them again.")


def slug_of(name: str) -> str:
    """Empty where the name has no Latin letter."""
    return slugify(name)[:64].lower()


def faults(row: Agent, wanted: Wanted) -> dict[str, str]:
    """What can't be, by field, in words for the person who asked."""
    found = {}
    if not wanted.slug:
        found["slug"] = "Give it a short name of Latin letters."
    taken = Agent.objects.filter(owner=row.owner_id, slug=wanted.slug).exclude(pk=row.pk)
    if wanted.slug and taken.exists():
        found["slug"] = f"{wanted.slug} is taken, perhaps by one that was deleted."
    if wanted.reads == Agent.Reads.ALL and not wanted.is_default:
        found["reads"] = "Only the default assistant may read every fact."
    if row.is_default and not wanted.is_default:
        found["is_default"] = "Make another one the default instead."
    return found


def store(*, row: Agent, wanted: Wanted, actor: Actor, reason: str) -> Agent:
    """One default at a time: the one that was it gives way, and reads everything no more.

    `wanted` is without faults. Raises Overtaken where another took its short name meanwhile.
    """
    try:
        with transaction.atomic(), acting(actor, reason):
            if wanted.is_default and not row.is_default:
                _give_way(row)
            for name in ("name", "slug", "reads", "is_default"):
                setattr(row, name, getattr(wanted, name))
            row.save()
    except IntegrityError as error:
        raise Overtaken from error
    return row


def _give_way(row: Agent) -> None:
    old = agents_of(row.owner).filter(is_default=True).first()
    if old is not None:
        old.reads = Agent.Reads.OWN_AND_GLOBAL if old.reads == Agent.Reads.ALL else old.reads
        old.is_default = False
        old.save(update_fields=["is_default", "reads"])
