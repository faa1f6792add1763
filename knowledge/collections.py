"""The collections of an owner, made and changed by page and API alike."""

from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.http import Http404

from agents.audit import Actor, acting
from agents.models import Agent
from knowledge.models import Collection

LONGEST_NAME, LONGEST_DESCRIPTION = 120, 500


@dataclass(frozen=True, slots=True)
class Wanted:
    """With no agent, every assistant that reads what is global may search it."""

    name: str
    description: str = ""
    agent: Agent | None = None

    @property
    def plain_name(self) -> str:
        return " ".join(self.name.split())


class Overtaken(Exception):
    def __init__(self) -> None:
        super().__init__("A collection of that name came up meanwhile. Choose another name.")


def faults(row: Collection, wanted: Wanted) -> dict[str, str]:
    """What can't be, by field, in words for the person who asked. `row` may be a new one."""
    found = {}
    if not wanted.plain_name:
        found["name"] = "Give it a name."
    elif len(wanted.plain_name) > LONGEST_NAME:
        found["name"] = f"At most {LONGEST_NAME} characters."
    elif _taken(row, wanted):
        whose = f"{wanted.agent.name} has" if wanted.agent else "There is"
        found["name"] = f"{whose} a collection of that name already."
    if len(wanted.description) > LONGEST_DESCRIPTION:
        found["description"] = f"At most {LONGEST_DESCRIPTION} characters."
    return found


def _taken(row: Collection, wanted: Wanted) -> bool:
    others = Collection.objects.filter(owner=row.owner_id, agent=wanted.agent)
    return others.filter(name=wanted.plain_name).exclude(pk=row.pk).exists()


def store(*, row: Collection, wanted: Wanted, actor: Actor, reason: str) -> Collection:
    """`wanted` is without faults. Raises Overtaken where another took its name meanwhile, Http404
    where somebody deleted it."""
    row.name, row.description, row.agent = wanted.plain_name, wanted.description, wanted.agent
    try:
        with transaction.atomic(), acting(actor, reason):
            _hold(row)
            row.save()
    except IntegrityError as error:
        raise Overtaken from error
    return row


def _hold(row: Collection) -> None:
    known = Collection.objects.select_for_update(no_key=True).filter(pk=row.pk, owner=row.owner_id)
    if not row._state.adding and known.values_list("pk").first() is None:
        raise Http404("There is no such collection.")
