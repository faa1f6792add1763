"""What becomes of each fact of a file that a person lets in as it is. Decides; writes nothing."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from uuid import UUID, uuid5

from agents.models import Agent, User
from memory.lifecycle.returns import barred
from memory.models import Fact
from memory.sensitive import credentials
from memory.text import text_hash
from memory.transfer.keepers import agents_here, keeper
from memory.transfer.lines import FactLine
from memory.transfer.reading import Checked, read
from memory.vocabulary import ArchivedReason, State

AT_ONCE = 500


class Conflict(StrEnum):
    """Where a fact of the file stands for what an active fact stands for here."""

    SKIP = "skip"
    SUPERSEDE = "supersede"
    PENDING = "pending"


class Left(StrEnum):
    """Why a fact stays out. In words for the report."""

    KNOWN = "here already"
    SAME_TEXT = "said by a fact that is here"
    REJECTED = "rejected here"
    BARRED = "purged or forgotten here"
    CREDENTIAL = "hold a credential"
    SAME_CASE = "told by a case that is here"
    TALK_HERE = "cases of a conversation that is here already, or not in the file"
    SUCCESSOR = "replaced by a fact that stays out"
    CONFLICT = "other than an active fact here, which stays (--conflict)"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`here`: the id under which it is, or will be, in this store; None where it stays out.

    `against`: the active facts whose place it would take.
    """

    here: UUID | None
    left: Left | None = None
    state: State | None = None
    against: tuple[UUID, ...] = ()

    @property
    def is_new(self) -> bool:
        return self.left is None


@dataclass
class FactPlan:
    verdicts: dict[UUID, Verdict] = field(default_factory=dict)
    left: Counter[Left] = field(default_factory=Counter)
    new: Counter[State] = field(default_factory=Counter)
    conflicts: int = 0

    def here(self, fact: UUID | None) -> UUID | None:
        verdict = self.verdicts.get(fact) if fact else None
        return verdict.here if verdict else None


Seen = dict[tuple[object, str], UUID]


def facts_of_file(path: Path) -> Iterator[tuple[int, FactLine]]:
    return ((number, line) for number, line in read(path) if isinstance(line, FactLine))


def plan(*, owner: User, path: Path, checked: Checked) -> FactPlan:
    found = FactPlan()
    agents, seen = agents_here(owner), Seen()
    for batch in batches(facts_of_file(path)):
        found.verdicts |= _judged(owner, agents, [line for _, line in batch], seen)
    _find_conflicts(checked, found)
    _follow_successors(owner, checked, found)
    _count(checked, found)
    return found


def batches(numbered: Iterable[tuple[int, FactLine]]) -> Iterator[list[tuple[int, FactLine]]]:
    batch: list[tuple[int, FactLine]] = []
    for one in numbered:
        batch.append(one)
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def other_id(owner: User, fact: UUID) -> UUID:
    """For a fact whose id another owner of this server has: the same each time."""
    return uuid5(owner.pk, str(fact))


def _judged(
    owner: User, agents: dict[str, Agent], lines: Sequence[FactLine], seen: Seen
) -> dict[UUID, Verdict]:
    ids = {line.id for line in lines}
    rows = Fact.objects.filter(pk__in=ids | {other_id(owner, fact) for fact in ids})
    columns = "pk", "owner", "statement", "state", "archived_reason"
    store = _Store(
        owner=owner,
        agents=agents,
        by_id={row.pk: row for row in rows.only(*columns)},
        texts=_texts_here(owner, {text_hash(line.statement) for line in lines if line.is_live}),
        barred=barred(owner, [line.statement for line in lines if not line.is_shell]),
        seen=seen,
    )
    return {line.id: store.judge(line) for line in lines}


@dataclass(frozen=True)
class _Store:
    """What is here beside some lines: rows by id, live and rejected texts by scope and hash."""

    owner: User
    agents: dict[str, Agent]
    by_id: dict[UUID, Fact]
    texts: dict[tuple[object, str], Fact]
    barred: set[str]
    # Of this file, by scope and hash: an heir may be told the same by two assistants.
    seen: Seen

    def judge(self, line: FactLine) -> Verdict:
        here = _id_here(self.owner, line.id, self.by_id)
        if here in self.by_id:
            return _against_itself(line, self.by_id[here])
        if not line.is_shell and line.statement in self.barred:
            return Verdict(None, Left.BARRED)
        if _holds_credential(line):
            return Verdict(None, Left.CREDENTIAL)
        place = self._scope(line), text_hash(line.statement)
        verdict = _against_texts(line, here, self.texts.get(place))
        if line.is_live and verdict.is_new and self.seen.setdefault(place, here) != here:
            return Verdict(self.seen[place], Left.SAME_TEXT)
        return verdict

    def _scope(self, line: FactLine) -> object:
        """An agent that is not here yet has no facts here."""
        if line.agent is not None and line.agent not in self.agents:
            return line.agent
        agent = keeper(line, self.agents)
        return agent.pk if agent else None


def _id_here(owner: User, fact: UUID, by_id: dict[UUID, Fact]) -> UUID:
    other = other_id(owner, fact)
    taken = fact in by_id and by_id[fact].owner_id != owner.pk
    return other if taken or other in by_id else fact


def _texts_here(owner: User, hashes: set[str]) -> dict[tuple[object, str], Fact]:
    rows = Fact.objects.filter(owner=owner, text_hash__in=hashes).exclude(state=State.ARCHIVED)
    ranked = sorted(rows.only("pk", "agent", "text_hash", "state"), key=_rejected_first)
    return {(row.agent_id, row.text_hash): row for row in ranked}


def _rejected_first(row: Fact) -> bool:
    return row.state != State.REJECTED


def _against_itself(line: FactLine, row: Fact) -> Verdict:
    state = State(row.state)
    if row.archived_reason == ArchivedReason.PURGED and not line.is_shell:
        return Verdict(None, Left.BARRED)
    if row.statement == line.statement or line.is_shell or line.state != State.ACTIVE:
        return Verdict(row.pk, Left.KNOWN, state)
    against = (row.pk,) if state == State.ACTIVE else ()
    return Verdict(row.pk, Left.CONFLICT if against else Left.KNOWN, state, against)


def _against_texts(line: FactLine, here: UUID, row: Fact | None) -> Verdict:
    if row is None or not line.is_live:
        return Verdict(here, state=line.state)
    if row.state == State.REJECTED:
        return Verdict(None, Left.REJECTED)
    return Verdict(row.pk, Left.SAME_TEXT, State(row.state))


def _holds_credential(line: FactLine) -> bool:
    texts = (line.statement, *(part.quote for part in line.evidence))
    return any(credentials(text) for text in (*texts, *(name for _, name in line.entities)))


def _find_conflicts(checked: Checked, found: FactPlan) -> None:
    """A new active fact that, by the file, stands in the place of one that is active here."""
    against: dict[UUID, set[UUID]] = defaultdict(set)
    for fact, verdict in found.verdicts.items():
        if not verdict.is_new and verdict.here and verdict.state == State.ACTIVE:
            head = _head(checked, fact)
            if head != fact and found.verdicts[head].is_new:
                against[head].add(verdict.here)
    for fact, seen in checked.facts.items():
        if seen.state == State.ACTIVE and found.verdicts[fact].is_new:
            against[fact] |= _active_here(found, seen.targets)
    for fact, rivals in against.items():
        if rivals and checked.facts[fact].state == State.ACTIVE:
            found.verdicts[fact] = Verdict(None, Left.CONFLICT, None, tuple(sorted(rivals)))


def _head(checked: Checked, fact: UUID) -> UUID:
    successor = checked.facts[fact].successor
    while successor is not None and successor in checked.facts:
        fact, successor = successor, checked.facts[successor].successor
    return fact


def _active_here(found: FactPlan, facts: Iterable[UUID]) -> set[UUID]:
    known = (found.verdicts[fact] for fact in facts if fact in found.verdicts)
    return {
        verdict.here
        for verdict in known
        if verdict.here and not verdict.is_new and verdict.state == State.ACTIVE
    }


def _follow_successors(owner: User, checked: Checked, found: FactPlan) -> None:
    """From each end of a chain back: a fact can't be superseded by one that is not there."""
    successors = {seen.successor for seen in checked.facts.values() if seen.successor}
    missing = successors - checked.facts.keys()
    elsewhere = Fact.objects.filter(owner=owner, pk__in=missing, state__in=_ENDS)
    found.verdicts |= {
        pk: Verdict(pk, Left.KNOWN, State(state))
        for pk, state in elsewhere.values_list("pk", "state")
    }
    before: dict[UUID, list[UUID]] = defaultdict(list)
    for fact, seen in checked.facts.items():
        if seen.successor is not None:
            before[seen.successor].append(fact)
    todo = [fact for fact in before if not _may_succeed(found.verdicts.get(fact))]
    while todo:
        for fact in before[todo.pop()]:
            if found.verdicts[fact].is_new:
                found.verdicts[fact] = Verdict(None, Left.SUCCESSOR)
                todo.append(fact)


_ENDS = (State.ACTIVE, State.ARCHIVED)


def _may_succeed(verdict: Verdict | None) -> bool:
    if verdict is None or verdict.here is None:
        return False
    return verdict.is_new or verdict.state in _ENDS


def _count(checked: Checked, found: FactPlan) -> None:
    for fact, seen in checked.facts.items():
        verdict = found.verdicts[fact]
        if verdict.left is None:
            found.new[seen.state] += 1
        elif verdict.against:
            found.conflicts += 1
        else:
            found.left[verdict.left] += 1
