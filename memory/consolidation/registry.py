"""The stages of a run, in their order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from agents.audit import Actor
from agents.models import User
from memory.cases import stage as cases
from memory.consolidation import (
    archive_episodic,
    decay_semantic,
    dedupe_pending,
    demote_pending,
    merge,
)
from memory.consolidation.values import Change
from memory.models import ConsolidationChange
from memory.profile import stage as profile
from memory.reflection import stage as reflection


class Run(Protocol):
    def __call__(self, *, owner: User, now: datetime, dry_run: bool = False) -> list[Change]: ...


class Resume(Protocol):
    def __call__(self, *, owner: User, now: datetime, planned: list[Change]) -> list[Change]: ...


@dataclass(frozen=True)
class Stage:
    """`undo` takes one change back and raises LifecycleError where something has happened since;
    `resume` goes on with what a breaker held back."""

    name: str
    label: str
    run: Run
    undo: Callable[[ConsolidationChange, Actor], None]
    resume: Resume | None = None


STAGES: Sequence[Stage] = (
    Stage(merge.STAGE, "Merge near-duplicates", merge.run, merge.undo, merge.resume),
    Stage(dedupe_pending.STAGE, "Fold equal candidates", dedupe_pending.run, dedupe_pending.undo),
    Stage(
        archive_episodic.STAGE,
        "Archive unused events",
        archive_episodic.run,
        archive_episodic.undo,
        archive_episodic.resume,
    ),
    Stage(
        decay_semantic.STAGE, "Ask again about old facts", decay_semantic.run, decay_semantic.undo
    ),
    Stage(demote_pending.STAGE, "Drop weak candidates", demote_pending.run, demote_pending.undo),
    Stage(reflection.STAGE, "Reflect on the week", reflection.run, reflection.undo),
    Stage(cases.STAGE, "Write cases", cases.run, cases.undo),
    Stage(profile.STAGE, "Write profiles", profile.run, profile.undo),
)


def stage_named(name: str) -> Stage | None:
    return next((stage for stage in STAGES if stage.name == name), None)
