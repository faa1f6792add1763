"""The last word on a candidate: what the reflector said about it, as far as the rules let it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from memory.extraction.schema import Action, Decision
from memory.policy.activation import activation
from memory.policy.difference import Difference, differs
from memory.policy.screen import dropped, reinforced_by
from memory.policy.values import (
    AddEvidence,
    Create,
    Dropped,
    Known,
    Neighbour,
    Outcome,
    Passed,
    PolicyContext,
    Reinforce,
    Supersede,
)
from memory.vocabulary import Gate, State, Withheld

# With no reflector a fact this near is shown beside the candidate. Cosine decides nothing: with
# MiniLM a reversed preference has 0.997 and a paraphrase 0.736, so this only picks what to show.
NEAR = 0.7


def resolve(
    passed: Passed, decision: Decision, known: Sequence[Known], ctx: PolicyContext
) -> Outcome:
    """`known` are the facts that the reflector was shown, under the handles of that call."""
    shown = {fact.handle: fact for fact in known}
    if strangers := [handle for handle in decision.handles if handle not in shown]:
        return dropped(passed.candidate, Gate.BAD_HANDLE, f"no fact {strangers[0]} was shown")
    named = [shown[handle] for handle in dict.fromkeys(decision.handles)]
    if decision.action == Action.SKIP:
        return dropped(passed.candidate, Gate.SKIPPED, decision.reason)
    if decision.action == Action.CREATE:
        return _create(passed, ctx)
    if not named:
        return dropped(passed.candidate, Gate.BAD_HANDLE, "no fact was named")
    if decision.action == Action.SUPERSEDE:
        return _supersede(passed, named, ctx)
    return _same(passed, _foremost(named), ctx)


def without_reflector(
    passed: Passed, neighbours: Sequence[Neighbour], ctx: PolicyContext
) -> Outcome:
    """Nobody can tell a paraphrase from its opposite: it waits, the nearest fact beside it."""
    nearest = max(neighbours, key=lambda neighbour: neighbour.cosine, default=None)
    if nearest is None or nearest.cosine < NEAR:
        return _create(passed, ctx)
    return _create(passed, ctx, Withheld.NEAR_DUPLICATE, beside=nearest.fact)


def passed_over(passed: Passed, ctx: PolicyContext) -> Outcome:
    """The reflector was asked and left this one out: nobody knows what it contradicts."""
    return _create(passed, ctx, Withheld.NOT_COMPARED)


def gate_of(outcome: Passed | Outcome) -> Gate | None:
    """The gate that an answer counts under, None for what is stored as a fact of its own."""
    if isinstance(outcome, Dropped):
        return outcome.gate
    if isinstance(outcome, Reinforce):
        return Gate.SAME_AS_ACTIVE
    return Gate.SAME_AS_PENDING if isinstance(outcome, AddEvidence) else None


def count_gates(outcomes: Iterable[Passed | Outcome]) -> dict[Gate, int]:
    return dict(Counter(gate for outcome in outcomes if (gate := gate_of(outcome))))


def _create(
    passed: Passed, ctx: PolicyContext, *more: Withheld, beside: UUID | None = None
) -> Create:
    state, withheld, details = activation(passed, ctx)
    return Create(
        candidate=passed.candidate,
        state=State.PENDING if more else state,
        withheld=(*more, *withheld),
        details=details,
        beside=beside,
    )


def _supersede(passed: Passed, named: list[Known], ctx: PolicyContext) -> Outcome:
    """Only active facts are replaced. Beside a pending or rejected one it waits as a new fact."""
    targets = tuple(fact.fact for fact in named if fact.state == State.ACTIVE)
    if targets:
        return _correction(passed, targets, None, ctx)
    if all(_says_the_same(passed, fact) for fact in named):
        return _same(passed, _foremost(named), ctx)
    return _beside(passed, named[0], None, ctx)


def _same(passed: Passed, fact: Known, ctx: PolicyContext) -> Outcome:
    """The reflector takes both for one. It is believed unless something that matters differs."""
    difference = differs(passed.candidate.statement, fact.statement)
    if difference and fact.state == State.ACTIVE:
        return _correction(passed, (fact.fact,), difference, ctx)
    if difference:
        return _beside(passed, fact, difference, ctx)
    if fact.state == State.ACTIVE:
        return reinforced_by(passed, fact.fact, ctx)
    if fact.state == State.PENDING:
        return AddEvidence(passed.candidate, fact.fact)
    if fact.state == State.ARCHIVED:  # forgotten: its text is not kept a second time
        return Dropped(Gate.TOMBSTONED, "", "")
    return dropped(passed.candidate, Gate.SAME_AS_REJECTED)


def _correction(
    passed: Passed, targets: tuple[UUID, ...], difference: Difference | None, ctx: PolicyContext
) -> Supersede:
    _, withheld, details = activation(passed, ctx)
    if difference:
        details[Withheld.CORRECTION] = f"{difference.aspect}: {difference.found}"
    return Supersede(passed.candidate, targets, (Withheld.CORRECTION, *withheld), details)


def _beside(
    passed: Passed, fact: Known, difference: Difference | None, ctx: PolicyContext
) -> Create:
    created = _create(passed, ctx, Withheld.NEAR_DUPLICATE, beside=fact.fact)
    if difference is None:
        return created
    found = f"{difference.aspect}: {difference.found}"
    return replace(created, details={**created.details, Withheld.NEAR_DUPLICATE: found})


def _says_the_same(passed: Passed, fact: Known) -> bool:
    return differs(passed.candidate.statement, fact.statement) is None


def _foremost(named: Sequence[Known]) -> Known:
    order = (State.ACTIVE, State.PENDING, State.REJECTED, State.ARCHIVED)
    return min(named, key=lambda fact: order.index(fact.state))
