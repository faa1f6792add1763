"""A person takes back what a run did, one change or all, as far as nothing rests on it since."""

from dataclasses import dataclass, field
from uuid import UUID

from django.utils import timezone

from agents.audit import Actor, acting
from memory import lifecycle
from memory.consolidation.registry import stage_named
from memory.lifecycle import LifecycleError, NotAllowed
from memory.models import ConsolidationChange, ConsolidationRun, Fact


@dataclass(eq=False)
class CannotUndo(Exception):
    """Nothing has changed. The message is for people; `fact` is what stands in the way."""

    message: str
    fact: UUID | None = None

    def __str__(self) -> str:
        return self.message


@dataclass
class Undone:
    """Of a whole run: how many changes were taken back, and what stands in the way of others."""

    done: int = 0
    refused: list[tuple[ConsolidationChange, CannotUndo]] = field(default_factory=list)


def undo_change(*, change: ConsolidationChange, actor: Actor) -> None:
    """Raises CannotUndo, NotAllowed."""
    if actor.person is None or actor.person.pk != change.owner_id:
        raise NotAllowed("Only the owner can take back what a run did.")
    with acting(actor, f"undo of consolidation {change.run_id}"):
        # Two tabs: the second waits here and is told.
        row = ConsolidationChange.objects.select_for_update().get(pk=change.pk)
        _check(row)
        stage = stage_named(row.stage)
        if stage is None:
            raise CannotUndo("This stage is no longer part of the program.")
        try:
            stage.undo(row, actor)
        except LifecycleError as error:
            raise _in_words(error) from error
        except Fact.DoesNotExist as error:
            raise CannotUndo("The fact was purged since.") from error
        row.undone_at, row.undone_by = timezone.now(), actor.person
        row.save(update_fields=["undone_at", "undone_by"])


def undo_run(*, run: ConsolidationRun, actor: Actor) -> Undone:
    """The newest change first; what is refused stays, the others are taken back."""
    outcome = Undone()
    for change in run.changes.filter(**REVERSIBLE).order_by("-id"):
        try:
            undo_change(change=change, actor=actor)
        except CannotUndo as refusal:
            outcome.refused.append((change, refusal))
        else:
            outcome.done += 1
    return outcome


REVERSIBLE = {"reversible": True, "held": False, "undone_at": None}


def _check(row: ConsolidationChange) -> None:
    if row.undone_at is not None:
        raise CannotUndo("This was taken back already.")
    if row.held:
        raise CannotUndo("This was only planned: there is nothing to take back.")
    if not row.reversible:
        raise CannotUndo("This changed nothing that could be taken back.")


def _in_words(error: LifecycleError) -> CannotUndo:
    if isinstance(error, lifecycle.Conflict):
        return CannotUndo(f"The fact has changed since: it is {_state(error.fact)}.", error.fact.pk)
    if isinstance(error, lifecycle.Stale):
        return CannotUndo("The fact was confirmed, or has faded again, since.", error.fact.pk)
    if isinstance(error, lifecycle.Duplicate):
        return CannotUndo("A fact with the same text was recorded since.", error.existing.pk)
    return CannotUndo(str(error))


def _state(fact: Fact) -> str:
    if fact.state != "archived":
        return fact.state
    return f"archived ({fact.get_archived_reason_display().lower()})"
