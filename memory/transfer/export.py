"""The memory of an owner as the lines of a file, as it stands at one moment, a piece at a time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from agents.models import Agent, OwnerSettings, User
from conversations.models import Conversation, Message, Passage, Sketch
from memory.models import (
    Case,
    CaseReading,
    CorrectionTarget,
    Derivation,
    Entity,
    EntityAlias,
    Evidence,
    Fact,
    FactEntity,
    FactUsage,
    Tombstone,
)
from memory.moment import one_moment
from memory.transfer import cases, lines, rules
from memory.transfer.rows import reviewer_of
from memory.vocabulary import EntityType

AT_ONCE = 500
Value = TypeVar("Value")

# By whichever session; only a purge deletes a case. What was sent before a purge can't be called
# back, but the file stays without its end, and no import takes it.
_PURGED = """
    SELECT EXISTS (
        SELECT FROM agents_auditevent WHERE owner_id = %(owner)s AND id > %(since)s
        AND (after ? 'purged_messages' OR after ->> 'archived_reason' = 'purged'
            OR "table" IN ('memory_case', 'memory_rule') AND action = 'delete'))
"""


class PurgedMeanwhile(Exception):
    def __init__(self) -> None:
        super().__init__("Something was purged during the export, so it was broken off. Try again.")


def export(*, owner: User, agent: Agent | None = None, conversations: bool = True) -> Iterator[str]:
    """Lines with their ends. With an agent only what is its own. Raises PurgedMeanwhile."""
    written = 0
    with one_moment(), _Watch(owner) as watch:
        for line in _lines(owner, agent, conversations):
            yield line.written()
            written += 1
            if written % AT_ONCE == 0:
                watch.check()
        watch.check()
        yield lines.End.model_construct(lines=written).written()


def _lines(owner: User, agent: Agent | None, conversations: bool) -> Iterator[lines.Line]:
    yield lines.Header.model_construct(
        agent=agent.slug if agent else None,
        conversations=conversations,
        tombstone_key=lines.key_mark(),
    )
    if agent is None:
        yield _settings(owner)
    of_agent = {"agent": agent} if agent else {}
    agents = Agent.objects.filter(owner=owner)
    facts = Fact.objects.filter(owner=owner, **of_agent)
    yield from map(_agent, [agent] if agent else agents.order_by("slug"))
    yield from _entities(owner, facts if agent else None)
    if conversations:
        yield from _conversations(Conversation.objects.filter(owner=owner, **of_agent))
    yield from _facts(facts, agent)
    if conversations:
        its = {"agent": agent, "conversation__agent": agent} if agent else {}
        yield from cases.lines_of(Case.objects.filter(owner=owner, **its))
    yield from rules.lines_of(owner, agent)
    if agent is None:
        yield from _tombstones(owner)


class _Watch:
    """Looks for purges from outside the snapshot, on a connection of its own."""

    def __init__(self, owner: User) -> None:
        self.owner = owner
        self.connection = connection.copy()

    def __enter__(self) -> "_Watch":
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT coalesce(max(id), 0) FROM agents_auditevent")
            (self.since,) = cursor.fetchone()
        return self

    def __exit__(self, *error: object) -> None:
        self.connection.close()

    def check(self) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(_PURGED, {"owner": self.owner.pk, "since": self.since})
            (purged,) = cursor.fetchone()
        if purged:
            raise PurgedMeanwhile


def _settings(owner: User) -> lines.Settings:
    row = OwnerSettings.objects.get(owner=owner)
    return lines.Settings.model_construct(
        chosen={name: getattr(row, name) for name in lines.settings_carried()}
    )


def _agent(agent: Agent) -> lines.AgentLine:
    return lines.AgentLine.model_construct(
        slug=agent.slug,
        name=agent.name,
        reads=Agent.Reads(agent.reads),
        is_default=agent.is_default,
    )


def _entities(owner: User, named_in: QuerySet[Fact] | None) -> Iterator[lines.EntityLine]:
    """Of a part only those that its facts name, with the aliases that they say: others may have
    been learned from what another assistant heard."""
    rows = Entity.objects.filter(owner=owner).order_by("type", "normal_name")
    known = EntityAlias.objects.order_by("normal_name")
    if named_in is not None:
        named = FactEntity.objects.filter(fact__in=named_in)
        rows = rows.filter(pk__in=named.values("entity"))
        said = named.filter(entity=OuterRef("entity"), fact__statement__icontains=OuterRef("name"))
        known = known.filter(Exists(said))
    aliases = Prefetch("aliases", known)
    for entity in rows.prefetch_related(aliases).iterator(AT_ONCE):
        yield lines.EntityLine.model_construct(
            kind=EntityType(entity.type),
            name=entity.name,
            aliases=[one.name for one in entity.aliases.all()],
        )


def _conversations(talks: QuerySet[Conversation]) -> Iterator[lines.Line]:
    read = dict(CaseReading.objects.filter(conversation__in=talks).values_list("pk", "seq"))
    rows = talks.select_related("agent").order_by("created_at", "source", "external_id")
    for talk in rows.iterator(AT_ONCE):
        yield lines.ConversationLine.model_construct(
            agent=talk.agent.slug,
            source=talk.source,
            id=talk.external_id,
            title=talk.title,
            read_only=talk.read_only,
            sensitive=talk.sensitive,
            created_at=talk.created_at,
            last_activity_at=talk.last_activity_at,
            cursor_seq=talk.cursor_seq,
            compacted_seq=talk.compacted_seq,
            case_seq=read.get(talk.pk, 0),
        )
        yield from _messages(talk)
        yield from _breadcrumbs(talk)
        yield from _sketches(talk)


def _messages(talk: Conversation) -> Iterator[lines.MessageLine]:
    rows = Message.objects.filter(conversation=talk).select_related("parent", "replaces")
    for message in rows.order_by("seq").iterator(AT_ONCE):
        yield lines.MessageLine.model_construct(
            id=message.client_id,
            seq=message.seq,
            role=Message.Role(message.role),
            kind=Message.Kind(message.kind),
            speaker=message.speaker,
            from_owner=message.from_owner,
            content=message.content,
            sent_at=message.sent_at,
            zone=message.zone,
            parent=message.parent.client_id if message.parent else None,
            replaces=message.replaces.client_id if message.replaces else None,
            on_branch=message.on_branch,
            created_at=message.created_at,
        )


def _breadcrumbs(talk: Conversation) -> Iterator[lines.BreadcrumbLine]:
    rows = Passage.objects.filter(conversation=talk, kind=Passage.Kind.BREADCRUMB)
    for passage in rows.select_related("message").order_by("place", "text_hash"):
        if passage.text != Message.PURGED:
            yield lines.BreadcrumbLine.model_construct(
                message=passage.message.client_id if passage.message else None,
                text=passage.text,
                language=passage.language,
                said_at=passage.said_at,
                place=passage.place,
            )


def _sketches(talk: Conversation) -> Iterator[lines.SketchLine]:
    for sketch in Sketch.objects.filter(conversation=talk, kept=True).order_by("created_at", "key"):
        yield lines.SketchLine.model_construct(
            key=sketch.key,
            text=sketch.text,
            language=sketch.language,
            created_at=sketch.created_at,
            updated_at=sketch.updated_at,
        )


def _facts(facts: QuerySet[Fact], part: Agent | None) -> Iterator[lines.FactLine]:
    rows = facts.select_related("agent", "conversation").order_by("created_at", "pk")
    batch: list[Fact] = []
    for fact in rows.defer("search").iterator(AT_ONCE):
        batch.append(fact)
        if len(batch) == AT_ONCE:
            yield from _batch(batch, part)
            batch = []
    yield from _batch(batch, part)


def _batch(facts: Sequence[Fact], part: Agent | None) -> Iterator[lines.FactLine]:
    around = _Around(facts, part)
    return (_fact(fact, around) for fact in facts)


class _Around:
    """What hangs on some facts, one query each. Of a part no words from another agent's
    conversation, in which a fact that was moved may have begun."""

    def __init__(self, facts: Sequence[Fact], part: Agent | None) -> None:
        self.part = part
        ids = [fact.pk for fact in facts]
        pairs = CorrectionTarget.objects.filter(fact__in=ids).order_by("target")
        self.targets = _grouped(pairs.values_list("fact_id", "target_id"))
        drawn = Derivation.objects.filter(fact__in=ids).order_by("source")
        self.derived_from = _grouped(drawn.values_list("fact_id", "source_id"))
        named = FactEntity.objects.filter(fact__in=ids).order_by(
            "entity__type", "entity__normal_name"
        )
        names = named.values_list("fact_id", "entity__type", "entity__name")
        self.entities = _grouped((fact, (EntityType(type), name)) for fact, type, name in names)
        self.usage = FactUsage.objects.in_bulk(ids)
        quoted = Evidence.objects.filter(fact__in=ids).select_related("message__conversation")
        if part is not None:
            quoted = quoted.filter(message__conversation__agent=part)
        said = quoted.order_by(
            "created_at",
            "message__sent_at",
            "message__conversation__source",
            "message__conversation__external_id",
            "message__seq",
        )
        self.evidence = _grouped((row.fact_id, _evidence(row)) for row in said)

    def conversation(self, fact: Fact) -> lines.ConversationName | None:
        talk = fact.conversation
        if talk is None or (self.part is not None and talk.agent_id != self.part.pk):
            return None
        return talk.source, talk.external_id


def _grouped(pairs: Iterable[tuple[UUID, Value]]) -> dict[UUID, list[Value]]:
    found: dict[UUID, list[Value]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return found


def _evidence(row: Evidence) -> lines.EvidencePart:
    talk = row.message.conversation
    return lines.EvidencePart.model_construct(
        conversation=(talk.source, talk.external_id),
        message=row.message.client_id,
        quote=row.quote,
        created_at=row.created_at,
    )


def _usage(usage: FactUsage) -> lines.UsagePart:
    return lines.UsagePart.model_construct(
        hits=usage.retrieval_hits, last_at=usage.last_retrieved_at
    )


def _fact(fact: Fact, around: _Around) -> lines.FactLine:
    usage = around.usage.get(fact.pk)
    return lines.FactLine.model_construct(
        **{name: getattr(fact, name) for name in PLAIN},
        id=fact.pk,
        agent=fact.agent.slug if fact.agent else None,
        superseded_by=fact.superseded_by_id,
        similar_to=fact.similar_to_id,
        reviewed_by=reviewer_of(fact),
        conversation=around.conversation(fact),
        targets=around.targets[fact.pk],
        derived_from=around.derived_from[fact.pk],
        entities=around.entities[fact.pk],
        evidence=around.evidence[fact.pk],
        usage=_usage(usage) if usage else None,
    )


# Columns of a fact that are written as they are.
PLAIN = (
    "kind", "statement", "language", "state", "confidence", "tags", "pinned", "origin",
    "valid_from", "valid_until", "valid_precision", "created_at", "observed_at",
    "last_confirmed_at", "decayed_at", "snoozed_until", "archived_reason", "archived_from",
    "withheld_for", "withheld_detail", "reviewed_at", "prompt_version",
)  # fmt: skip


def _tombstones(owner: User) -> Iterator[lines.TombstoneLine]:
    rows = Tombstone.objects.filter(owner=owner).order_by("created_at", "digest")
    for row in rows.iterator(AT_ONCE):
        yield lines.TombstoneLine.model_construct(digest=row.digest, created_at=row.created_at)
