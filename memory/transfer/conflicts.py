"""Facts of a file that stand where an active fact stands here: nothing of the kind happens by
itself."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from agents.audit import Actor
from memory import lifecycle
from memory.lifecycle import Draft
from memory.models import Fact
from memory.transfer.facts import FactWriter
from memory.transfer.lines import FactLine
from memory.transfer.plan import Conflict, Left
from memory.vocabulary import Origin, State, Withheld


def settle(
    facts: FactWriter, conflict: Conflict, actor: Actor, new: Counter[str], left: Counter[str]
) -> None:
    """After all others are in. Each new fact is born under an id of its own."""
    for _, line in facts.disputed:
        if conflict == Conflict.SKIP:
            left[Left.CONFLICT] += 1
            continue
        targets = list(
            Fact.objects.filter(
                owner=facts.owner,
                pk__in=facts.plan.verdicts[line.id].against,
                state=State.ACTIVE,
            ).select_related("owner", "agent")
        )
        try:
            _take_side(facts, line, targets, conflict, actor)
        except (lifecycle.Duplicate, lifecycle.Tombstoned, lifecycle.NotAllowed):
            left[Left.CONFLICT] += 1
        else:
            what = "facts in the place of others" if conflict == Conflict.SUPERSEDE else "facts"
            new[what] += 1


def _take_side(
    facts: FactWriter, line: FactLine, targets: Sequence[Fact], conflict: Conflict, actor: Actor
) -> None:
    draft = replace(draft_of(line), pinned=line.pinned, imported_by=facts.imported)
    if conflict == Conflict.SUPERSEDE:
        lifecycle.supersede(targets=targets, draft=draft, actor=actor, reason="import")
        return
    draft = replace(draft, withheld_for=(Withheld.CORRECTION,))
    agent = facts.agents[line.agent] if line.agent else None
    lifecycle.propose(
        owner=facts.owner,
        agent=agent,
        draft=draft,
        actor=actor,
        targets=targets,
        reason="import",
    )


def draft_of(line: FactLine) -> Draft:
    """What the line says, as a new fact; whose it is and what became of it are for the caller."""
    return Draft(
        statement=line.statement,
        kind=line.kind,
        origin=Origin.IMPORT,
        observed_at=line.observed_at,
        confidence=line.confidence,
        language=line.language,
        tags=tuple(line.tags),
        valid_from=line.valid_from,
        valid_until=line.valid_until,
        valid_precision=line.valid_precision,
    )
