"""A whole-store file that a person lets in: every row in the state it had, or none of them."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction
from django.utils import timezone

from agents.audit import Actor
from agents.gate import require_on
from agents.models import Agent, OwnerSettings, User
from conversations.models import Conversation, Import
from memory.lifecycle.rows import need_person, transition
from memory.models import Entity, EntityAlias, Fact, Tombstone
from memory.text import normalise
from memory.transfer.cases import CaseWriter
from memory.transfer.conflicts import settle
from memory.transfer.facts import FactWriter
from memory.transfer.keepers import agents_here
from memory.transfer.lines import (
    FORMAT,
    AgentLine,
    AnyLine,
    BreadcrumbLine,
    CaseLine,
    ConversationLine,
    EntityLine,
    FactLine,
    MessageLine,
    RuleLine,
    Settings,
    SketchLine,
    TombstoneLine,
    key_mark,
    settings_carried,
)
from memory.transfer.plan import Conflict, FactPlan, plan
from memory.transfer.reading import BadFile, Checked, check, read
from memory.transfer.record import Record
from memory.transfer.rows import check_pointers, wait_with_pointers
from memory.transfer.rules import RuleWriter

OTHER_KEY = (
    "Its tombstones were made with another HASH_KEY and say nothing here, so they are left out: "
    "what was purged there could be learned again. To carry them, give this server the HASH_KEY of "
    "the other (the file secrets/hash_key) before anything is purged here, and import again."
)


@dataclass
class Result:
    """What came in, by what it is, and what did not, by why. `imported` names it for a rollback;
    None where nothing was new. `notes` are whole sentences about what is missing now."""

    new: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    imported: UUID | None = None


def bring_in(
    *,
    owner: User,
    path: Path,
    name: str,
    actor: Actor,
    conflict: Conflict = Conflict.SKIP,
    dry_run: bool = False,
) -> Result:
    """One transaction, as the person for whom the actor stands approved it.

    Raises BadFile, MemoryOff, NotAllowed.
    """
    checked = check(path)
    # Two blocks: taking the inner one back must leave the outer one fit to end.
    with transition(owner, actor, f"import of {name}"), transaction.atomic():
        person = need_person(actor, owner)
        require_on(owner)
        imported = Import.objects.create(
            owner=owner, format=FORMAT, file_name=name[-255:], approved_by=person
        )
        facts = plan(owner=owner, path=path, checked=checked)
        writer = Writer(owner, person, imported, checked, facts, actor)
        writer.write(path)
        settle(writer.facts, conflict, actor, writer.result.new, writer.result.left)
        result = writer.close()
        if dry_run or not result.new:
            transaction.set_rollback(True)
            result.imported = None
    return result


class Writer:
    def __init__(
        self,
        owner: User,
        person: User,
        imported: Import,
        checked: Checked,
        facts: FactPlan,
        actor: Actor,
    ) -> None:
        self.owner, self.imported, self.checked = owner, imported, checked
        self.result = Result(imported=imported.pk)
        self.result.left.update({str(why): n for why, n in facts.left.items()})
        # What an owner set up here is not changed by what was set up elsewhere.
        self.was_empty = not (
            Fact.objects.filter(owner=owner).exists()
            or Conversation.objects.filter(owner=owner).exists()
        )
        self.agents = agents_here(owner)
        self.record = Record(owner, imported, self.agents)
        self.facts = FactWriter(owner, person, imported, self.agents, facts, self.record.ids)
        self.cases = CaseWriter(owner, person, self.agents, self.record)
        self.rules = RuleWriter(owner, person, actor, imported, self.agents)
        self.settings: Settings | None = None
        self.tombstones: list[Tombstone] = []

    def write(self, path: Path) -> None:
        wait_with_pointers()
        for number, line in read(path):
            self._take(number, line)
        self.record.close()
        self.facts.close()
        self.cases.close()
        self.rules.close()
        check_pointers()

    def _take(self, number: int, line: AnyLine) -> None:
        if isinstance(line, Settings):
            self.settings = line
        elif isinstance(line, AgentLine):
            self._agent(line)
        elif isinstance(line, EntityLine):
            self._entity(line)
        elif isinstance(line, ConversationLine):
            self.record.conversation(number, line)
        elif isinstance(line, MessageLine):
            self.record.message(number, line)
        elif isinstance(line, BreadcrumbLine):
            self.record.breadcrumb(number, line)
        elif isinstance(line, SketchLine):
            self.record.sketch(number, line)
        elif isinstance(line, FactLine):
            self.record.close()
            self.facts.take(number, line)
        elif isinstance(line, CaseLine):
            self.record.close()
            self.cases.take(number, line)
        elif isinstance(line, RuleLine):
            self.rules.take(number, line)
        elif isinstance(line, TombstoneLine):
            self.tombstones.append(
                Tombstone(owner=self.owner, digest=line.digest, created_at=line.created_at)
            )

    def _agent(self, line: AgentLine) -> None:
        """A default of its own an owner keeps, and reading everything is only for the default."""
        row = self.agents.get(line.slug)
        if row is not None and (row.heir is not None or not self.was_empty):
            return
        if row is None:
            self.result.new["agents"] += 1
        row = row or Agent(owner=self.owner, slug=line.slug)
        others = [agent for agent in self.agents.values() if agent.is_default and agent is not row]
        if line.is_default and self.was_empty:
            for other in others:
                other.is_default, other.reads = False, _without_all(other.reads)
                other.save()
            others = []
        row.is_default = line.is_default and not others
        row.name = line.name
        row.reads = line.reads if row.is_default else _without_all(line.reads)
        row.save()
        self.agents[line.slug] = row

    def _entity(self, line: EntityLine) -> None:
        """An entity that is here learns the names by which it was known elsewhere."""
        own = normalise(line.name)[:120]
        found = Entity.objects.filter(owner=self.owner, type=line.kind, normal_name=own).first()
        if found is None:
            found = Entity.objects.create(
                owner=self.owner, type=line.kind, name=line.name, normal_name=own
            )
            self.result.new["entities"] += 1
        EntityAlias.objects.bulk_create(
            [
                EntityAlias(owner=self.owner, entity=found, name=name, normal_name=normal)
                for normal, name in {normalise(name)[:120]: name for name in line.aliases}.items()
            ],
            ignore_conflicts=True,
        )
        self.facts.entities[line.kind, line.name] = found.pk

    def close(self) -> Result:
        new, left = self.result.new, self.result.left
        self._bury()
        self._apply_settings()
        new.update(conversations=self.record.conversations, messages=self.record.messages)
        new.update(facts=self.facts.new, cases=self.cases.new, rules=self.rules.new)
        left.update({str(why): count for why, count in self.cases.left.items()})
        left.update(self.rules.left)
        left["conversations that are here already"] += self.record.known
        self.result.new, self.result.left = +new, +left
        self.imported.counts = {"new": dict(self.result.new), "left_out": dict(self.result.left)}
        self.imported.finished_at = timezone.now()
        self.imported.save(update_fields=["counts", "finished_at"])
        return self.result

    def _bury(self) -> None:
        if not self.tombstones:
            return
        if self.checked.header.tombstone_key != key_mark():
            self.result.left["tombstones made with another key"] = len(self.tombstones)
            self.result.notes.append(OTHER_KEY)
            return
        before = Tombstone.objects.filter(owner=self.owner).count()
        Tombstone.objects.bulk_create(self.tombstones, ignore_conflicts=True, batch_size=1000)
        after = Tombstone.objects.filter(owner=self.owner).count()
        self.result.new["tombstones"] += after - before

    def _apply_settings(self) -> None:
        """Last, because they may switch memory off."""
        if self.settings is None or not self.was_empty:
            return
        row = OwnerSettings.objects.get(owner=self.owner)
        for name in settings_carried():
            if name in self.settings.chosen:
                setattr(row, name, self.settings.chosen[name])
        try:
            row.full_clean()
            row.save()
        except (ValidationError, DatabaseError):
            raise BadFile(2, "holds a setting that can't be chosen here.") from None


def _without_all(reads: str) -> str:
    return Agent.Reads.OWN_AND_GLOBAL if reads == Agent.Reads.ALL else reads
