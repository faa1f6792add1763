"""Migrations at a third of their cost.

For each index, constraint, trigger and wording of a model Django draws up all models around it
anew, which is most of the work of migrating from nothing. No operation of ours looks at these in a
drawn model: each brings its own. tests/deploy/test_up.py migrates in Django's way.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from django.db.migrations import operations
from django.db.migrations.state import ProjectState
from pgtrigger.migrations import AddTrigger, RemoveTrigger

OF_OPTIONS = (
    operations.AddConstraint,
    operations.AddIndex,
    operations.AlterModelOptions,
    operations.RemoveConstraint,
    operations.RemoveIndex,
    AddTrigger,
    RemoveTrigger,
)


@contextmanager
def quickly() -> Iterator[None]:
    with ExitStack() as patches:
        for one in OF_OPTIONS:
            forwards = _without_drawing(one.state_forwards)
            patches.enter_context(patch.object(one, "state_forwards", forwards))
        yield


def _without_drawing(forwards: Any) -> Any:
    def changed(self: Any, app_label: str, state: ProjectState) -> None:
        drawn = state.__dict__.pop("apps", None)
        forwards(self, app_label, state)
        if drawn is not None:
            state.__dict__["apps"] = drawn

    return changed
