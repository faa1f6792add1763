"""Facts of a file that a person lets in, with all that hangs on them."""

from collections.abc import Iterable
from uuid import UUID

from agents.models import Agent, User
from conversations.models import Conversation, Import, Message
from memory.lifecycle.returns import digest_of
from memory.models import (
    CorrectionTarget,
    Derivation,
    Evidence,
    Fact,
    FactEntity,
    FactUsage,
    Forgotten,
)
from memory.text import text_hash
from memory.transfer.export import PLAIN
from memory.transfer.keepers import keeper
from memory.transfer.lines import ConversationName, EntityName, FactLine
from memory.transfer.plan import AT_ONCE, FactPlan
from memory.transfer.rows import Numbered, create
from memory.vocabulary import ArchivedReason

Lines = list[tuple[int, FactLine]]


class FactWriter:
    """`talks` are the conversations of the file by name; others are looked up."""

    def __init__(
        self,
        owner: User,
        person: User,
        imported: Import,
        agents: dict[str, Agent],
        plan: FactPlan,
        talks: dict[ConversationName, UUID],
    ) -> None:
        self.owner, self.person, self.imported = owner, person, imported
        self.agents, self.plan, self.talks = agents, plan, talks
        self.entities: dict[EntityName, UUID] = {}
        self.new = 0
        # Those whose place an active fact here has: settled when all others are in.
        self.disputed: Lines = []
        self._waiting: Lines = []
        self._targets: list[tuple[int, UUID, UUID]] = []
        self._sources: list[tuple[int, UUID, UUID]] = []

    def take(self, number: int, line: FactLine) -> None:
        verdict = self.plan.verdicts[line.id]
        if verdict.against:
            self.disputed.append((number, line))
        elif verdict.is_new:
            self._waiting.append((number, line))
            if len(self._waiting) == AT_ONCE:
                self._store()

    def close(self) -> None:
        self._store()
        # What waits on a fact here that another correction waits on too stays a plain candidate.
        taken = set(
            CorrectionTarget.objects.filter(owner=self.owner, open=True).values_list(
                "target", flat=True
            )
        )
        rows = [
            (number, CorrectionTarget(owner=self.owner, fact_id=fact, target_id=target))
            for number, fact, target in self._targets
            if target not in taken
        ]
        _in_batches(CorrectionTarget, rows)
        _in_batches(
            Derivation,
            [
                (number, Derivation(owner=self.owner, fact_id=fact, source_id=source))
                for number, fact, source in self._sources
            ],
        )

    def _store(self) -> None:
        lines, self._waiting = self._waiting, []
        if not lines:
            return
        self._find_talks(lines)
        rows = [(number, self._row(line)) for number, line in lines]
        create(Fact, rows)
        self.new += len(rows)
        self._attach(lines)
        forgotten = [fact for _, fact in rows if fact.archived_reason == ArchivedReason.FORGOTTEN]
        Forgotten.objects.bulk_create(
            Forgotten(owner=self.owner, fact=fact, digest=digest_of(fact.statement))
            for fact in forgotten
        )

    def _find_talks(self, lines: Lines) -> None:
        named = {
            name
            for _, line in lines
            for name in (line.conversation, *(part.conversation for part in line.evidence))
            if name is not None and name not in self.talks
        }
        rows = Conversation.objects.filter(
            owner=self.owner, external_id__in={external_id for _, external_id in named}
        )
        for source, external_id, pk in rows.values_list("source", "external_id", "pk"):
            self.talks[source, external_id] = pk

    def _row(self, line: FactLine) -> Fact:
        here = self.plan.here(line.id)
        plain = {name: getattr(line, name) for name in PLAIN}
        return Fact(
            **plain,
            id=here,
            owner=self.owner,
            agent=keeper(line, self.agents),
            text_hash=text_hash(f"purged {here}" if line.is_shell else line.statement),
            superseded_by_id=self.plan.here(line.superseded_by),
            similar_to_id=self.plan.here(line.similar_to),
            reviewer=self._reviewer(line),
            conversation_id=self.talks.get(line.conversation) if line.conversation else None,
            imported_by=self.imported,
        )

    def _reviewer(self, line: FactLine) -> User | None:
        """An administrator of another server is none here."""
        if line.reviewed_by is None:
            return None
        return self.owner if line.reviewed_by == "owner" else self.person

    def _attach(self, lines: Lines) -> None:
        messages = self._messages(lines)
        evidence: list[Numbered[Evidence]] = []
        for number, line in lines:
            fact = self._id(line)
            for part in line.evidence:
                message = messages.get((self.talks.get(part.conversation), part.message))
                if message is not None:
                    row = Evidence(
                        owner=self.owner,
                        fact_id=fact,
                        message_id=message,
                        quote=part.quote,
                        created_at=part.created_at,
                    )
                    evidence.append((number, row))
            self._targets += ((number, fact, there) for there in self._here(line.targets))
            self._sources += ((number, fact, there) for there in self._here(line.derived_from))
        _in_batches(Evidence, evidence)
        self._attach_names_and_usage(lines)

    def _attach_names_and_usage(self, lines: Lines) -> None:
        facts = [(number, line, self._id(line)) for number, line in lines]
        names = [
            (number, FactEntity(owner=self.owner, fact_id=fact, entity_id=self.entities[name]))
            for number, line, fact in facts
            for name in dict.fromkeys(line.entities)
            if name in self.entities
        ]
        _in_batches(FactEntity, names)
        FactUsage.objects.bulk_create(
            FactUsage(
                owner=self.owner,
                fact_id=fact,
                retrieval_hits=line.usage.hits,
                last_retrieved_at=line.usage.last_at,
            )
            for _, line, fact in facts
            if line.usage is not None
        )

    def _id(self, line: FactLine) -> UUID:
        here = self.plan.here(line.id)
        assert here is not None  # noqa: S101 - it is in
        return here

    def _messages(self, lines: Lines) -> dict[tuple[UUID | None, str], UUID]:
        """Of the cited messages, those that are here."""
        cited = [part for _, line in lines for part in line.evidence]
        talks = {self.talks[part.conversation] for part in cited if part.conversation in self.talks}
        rows = Message.objects.filter(
            owner=self.owner,
            conversation__in=talks,
            client_id__in={part.message for part in cited},
        )
        found = rows.values_list("conversation_id", "client_id", "pk")
        return {(talk, client_id): pk for talk, client_id, pk in found}

    def _here(self, facts: Iterable[UUID]) -> list[UUID]:
        return [there for fact in dict.fromkeys(facts) if (there := self.plan.here(fact))]


def _in_batches(model: type, rows: list[Numbered]) -> None:  # type: ignore[type-arg]
    for start in range(0, len(rows), AT_ONCE):
        create(model, rows[start : start + AT_ONCE])
