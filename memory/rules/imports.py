"""Rules from a file of instructions, such as PREFERENCES.md or CLAUDE.md: what is in it, what of it
the owner ticked, and back again as a whole."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone

from agents.audit import Actor
from agents.models import Agent, User
from conversations.models import Import
from memory.lifecycle.rows import need_person, transition
from memory.models import Rule
from memory.rules import writing
from memory.rules.scope import rules_of, standing
from memory.rules.screen import fault, tidy
from memory.rules.values import RuleError
from memory.text import normalise
from memory.transfer.lists import LISTS
from memory.transfer.reading import BadFile
from memory.vocabulary import RuleOrigin

FORMAT = "rules"
# Bytes. A file of instructions is a page or a few.
MOST_BYTES = 200_000
MOST_LINES = 300
SAME, TWICE = "This rule is there already.", "This line is in the file twice."


@dataclass(frozen=True, slots=True)
class Line:
    """A point or paragraph of the file. With a `fault` it can't be a rule as it is."""

    number: int
    text: str
    fault: str


@dataclass(frozen=True)
class Preview:
    """`skipped`: what is no line of text, by what it is."""

    lines: list[Line]
    skipped: Counter[str]

    @property
    def usable(self) -> int:
        return sum(not line.fault for line in self.lines)


@dataclass
class Brought:
    """`imported` is None where nothing came in. `left`: the texts that did not, and why."""

    imported: Import | None
    new: list[Rule] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)


def preview(*, owner: User, agent: Agent | None, text: str) -> Preview:
    """Stores nothing. Raises BadFile."""
    if len(text.encode()) > MOST_BYTES:
        raise BadFile(1, f"is larger than {MOST_BYTES // 1000} kB, which no list of rules is.")
    skipped: Counter[str] = Counter()
    found = list(LISTS["claude-md"].parse(text, skipped))
    if len(found) > MOST_LINES:
        raise BadFile(found[MOST_LINES].line, f"the file has more than {MOST_LINES} points.")
    known = {normalise(rule.text) for rule in standing(rules_of(owner)).filter(agent=agent)}
    seen: set[str] = set()
    lines = []
    for item in found:
        said = tidy(item.text)
        lines.append(Line(item.line, said, _why_not(said, known, seen)))
        seen.add(normalise(said))
    return Preview(lines, skipped)


def _why_not(text: str, known: set[str], seen: set[str]) -> str:
    if normalise(text) in known:
        return SAME
    return TWICE if normalise(text) in seen else fault(text)


def bring_in(
    *, owner: User, agent: Agent | None, name: str, texts: Sequence[str], actor: Actor
) -> Brought:
    """One transaction; what can't be a rule is left out and told. Raises NotAllowed."""
    name = "".join(filter(str.isprintable, name)) or "pasted text"
    with transition(owner, actor, f"import of {name}"[:200]), transaction.atomic():
        imported = Import.objects.create(
            owner=owner, format=FORMAT, file_name=name[-255:], approved_by=need_person(actor, owner)
        )
        brought = Brought(imported)
        for text in texts[:MOST_LINES]:
            try:
                with transaction.atomic():
                    rule = writing.write(
                        owner=owner, agent=agent, text=text, actor=actor,
                        origin=RuleOrigin.IMPORT, imported_by=imported, reason="import",
                    )  # fmt: skip
            except RuleError as refusal:
                brought.left.append((text, str(refusal)))
            else:
                brought.new.append(rule)
        if not brought.new:
            transaction.set_rollback(True)
            brought.imported = None
            return brought
        imported.counts = {"rules": len(brought.new), "left_out": len(brought.left)}
        imported.finished_at = timezone.now()
        imported.save(update_fields=["counts", "finished_at"])
    return brought


def standing_of(imported: Import) -> list[Rule]:
    """What a rollback takes: those that stand as they were brought."""
    rows = standing(Rule.objects.filter(owner=imported.owner_id, imported_by=imported))
    return list(rows.select_related("owner", "agent"))


def roll_back(*, imported: Import, actor: Actor) -> list[Rule]:
    """All of them or none; a second time takes nothing. One that got a new wording since stays.

    Raises NotAllowed.
    """
    with transition(imported.owner, actor, f"rollback of import {imported.pk}"):
        need_person(actor, imported.owner)
        reason = f"rollback of import {imported.pk}"
        return [
            writing.retire(rule=rule, actor=actor, reason=reason) for rule in standing_of(imported)
        ]
