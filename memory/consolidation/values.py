"""What a stage of consolidation answers with."""

from dataclasses import dataclass, field
from uuid import UUID

Detail = dict[str, int | float | bool | str | list[str]]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that a stage did, or in a dry run would do. Ids and numbers only: `reason` is a
    sentence of ours and never quotes memory text, and so does no value of `detail`.

    `facts`: what was changed or made, the main one first. `objects`: rows that are no facts (cases,
    profiles). `sources`: the facts that it rests on, which stay as they are. `archives`: how many
    active facts it archives. `held`: planned, but past a breaker, so that a person is asked.
    """

    stage: str
    action: str
    reason: str
    facts: tuple[UUID, ...] = ()
    objects: tuple[UUID, ...] = ()
    sources: tuple[UUID, ...] = ()
    reversible: bool = True
    detail: Detail = field(default_factory=dict)
    archives: int = 0
    held: bool = False
