"""Everything one owner can own, each text marked, so that a single word tells whose it is."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from agents.audit import POLICY, person
from agents.models import Agent, User
from conversations.models import Conversation, Import, Message, Passage, Sketch
from conversations.passages import digest
from knowledge.models import Collection, Document, PinnedCollection
from memory import entities, lifecycle
from memory.models import (
    Case,
    CaseEmbedding,
    ConsolidationChange,
    ConsolidationRun,
    CorrectionTarget,
    Derivation,
    DroppedCandidate,
    Entity,
    EntityAlias,
    EntityMerge,
    ExtractionRun,
    Fact,
    FactEmbedding,
    FactEntity,
    FactUsage,
    ForgetRequest,
    Profile,
    ProfileCitation,
    ProfileSentence,
    RecalledAhead,
    RecalledFact,
    ReviewDigest,
    Rule,
    Webhook,
    WebhookDelivery,
)
from memory.rules import writing
from memory.text import normalise
from memory.vocabulary import ArchivedReason, EntityType, Gate, State, Withheld
from tests.factories import (
    MONDAY,
    AgentFactory,
    ApiKeyFactory,
    CaseFactory,
    ConversationFactory,
    FactFactory,
    IssuedKey,
    MessageFactory,
    UserFactory,
)
from tests.knowledge.shelves import document, failed
from tests.memory.candidates import a_run

# In every text of everybody: what searches are made for, so that they could find all of it.
SHARED = "bicycle"
LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)


@dataclass
class Household:
    owner: User
    mark: str
    main: Agent
    work: Agent
    conversation: Conversation
    works: Conversation
    stuck: Conversation
    run: ExtractionRun
    key: IssuedKey
    facts: dict[str, Fact] = field(default_factory=dict)
    cases: dict[str, Case] = field(default_factory=dict)
    # "one" is in every fact; "other" is like it; "merged" is what another went up in.
    entities: dict[str, Entity] = field(default_factory=dict)
    merge: EntityMerge | None = None
    asked: ForgetRequest | None = None
    sketch: Sketch | None = None
    rules: dict[str, Rule] = field(default_factory=dict)
    changes: dict[str, ConsolidationChange] = field(default_factory=dict)
    shelves: dict[str, Collection] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)
    hook: Webhook | None = None
    told: WebhookDelivery | None = None

    def text(self, what: str) -> str:
        return f"{self.mark} {SHARED} {what}"


def household(mark: str) -> Household:
    """`mark` is in every text but in no id and no slug: those a stranger may know."""
    owner = UserFactory.create(username=mark.lower())
    main = AgentFactory.create(owner=owner, slug="main", name=f"{mark} main", is_default=True)
    work = AgentFactory.create(owner=owner, slug="work", name=f"{mark} work")
    conversation = ConversationFactory.create(
        agent=main,
        external_id="trip",
        title=f"{mark} {SHARED} title",
        imported_by=Import.objects.create(owner=owner, format="jsonl", file_name=f"{mark}.jsonl"),
    )
    stuck = ConversationFactory.create(
        agent=main, external_id="stuck", title=f"{mark} {SHARED} stuck", stuck_at=MONDAY, attempts=5
    )
    works = ConversationFactory.create(
        agent=work, external_id="works", title=f"{mark} {SHARED} works"
    )
    home = Household(
        owner=owner,
        mark=mark,
        main=main,
        work=work,
        conversation=conversation,
        works=works,
        stuck=stuck,
        run=a_run(conversation, state="failed", error=f"{mark} error"),
        key=ApiKeyFactory.create(agent=main, name=f"{mark} key", scopes=["recall"]),
    )
    for talk in (conversation, works, stuck):
        _said(home, talk)
        _noted(home, talk)
    home.sketch = conversation.sketches.get()
    _facts(home)
    _conclusions(home)
    _around(home)
    _consolidated(home)
    _ruled(home)
    _shelved(home)
    _hooked(home)
    return home


def _hooked(home: Household) -> None:
    """A hook of one assistant, and what it was told once."""
    values: dict[str, Any] = {"owner": home.owner, "agent": home.main, "events": ["fact.purged"]}
    home.hook = Webhook.objects.create(**values, address=f"https://93.184.215.14/{home.mark}")
    home.told = WebhookDelivery.objects.create(
        owner=home.owner, webhook=home.hook, event="ping", state="failed", attempts=8,
        next_attempt_at=None,
    )  # fmt: skip


def _said(home: Household, talk: Conversation) -> None:
    for role in (Message.Role.USER, Message.Role.ASSISTANT, Message.Role.TOOL):
        text = home.text(f"said {role} {talk.external_id}")
        message = MessageFactory.create(
            conversation=talk, role=role, content=text, speaker=f"{home.mark} speaker"
        )
        Passage.objects.create(
            owner=home.owner,
            conversation=talk,
            message=message,
            text=text,
            text_hash=digest(text),
            said_at=message.sent_at,
        )


def _noted(home: Household, talk: Conversation) -> None:
    text = home.text(f"noted {talk.external_id}")
    Sketch.objects.create(owner=home.owner, conversation=talk, key="plan", text=text)


def _facts(home: Household) -> None:
    active = _fact(home, "active", state=State.ACTIVE)
    _fact(home, "pending", state=State.PENDING, similar_to=active)
    _fact(home, "other", state=State.PENDING)
    _fact(home, "third", state=State.PENDING)
    _fact(home, "asleep", state=State.PENDING, snoozed_until=timezone.now() + timedelta(days=9))
    _fact(home, "rejected", state=State.REJECTED)
    _fact(home, "archived", state=State.ARCHIVED)
    _fact(home, "expired", state=State.ACTIVE, valid_from=LONG_AGO, valid_until=MONDAY)
    _fact(home, "movable", state=State.ACTIVE)
    _fact(home, "forgettable", state=State.ACTIVE)
    _fact(home, "unconfirmed", state=State.ACTIVE, decayed_at=MONDAY + timedelta(days=1))
    _fact(home, "global", state=State.ACTIVE, agent=None)
    _fact(home, "works", state=State.ACTIVE, agent=home.work, conversation=home.works)
    held: dict[str, Any] = {"agent": home.work, "conversation": home.works}
    _fact(home, "held", withheld_for=[Withheld.QUARANTINED], **held)
    head = _fact(home, "head", state=State.ACTIVE, pinned=True)
    superseded: dict[str, Any] = {
        "state": State.ARCHIVED,
        "archived_reason": ArchivedReason.SUPERSEDED,
        "superseded_by": head,
    }
    _fact(home, "superseded", **superseded)
    correction = _fact(home, "correction", state=State.PENDING)
    CorrectionTarget.objects.create(owner=home.owner, fact=correction, target=active)


def _fact(home: Household, name: str, **values: Any) -> Fact:
    said = Message.objects.filter(conversation=values.get("conversation", home.conversation))
    chosen: dict[str, Any] = {
        "owner": home.owner,
        "agent": home.main,
        "conversation": home.conversation,
        "run": home.run,
        "statement": home.text(f"statement {name}."),
        "withheld_detail": f"{home.mark} detail",
        "message": said.first(),
    }
    home.facts[name] = FactFactory.create(**(chosen | values))
    return home.facts[name]


def _conclusions(home: Household) -> None:
    """Cases in every state, an insight's source, and a profile."""
    for name, state in (
        ("waiting", State.PENDING),
        ("other", State.PENDING),
        ("known", State.ACTIVE),
        ("refused", State.REJECTED),
        ("gone", State.ARCHIVED),
    ):
        case = CaseFactory.create(
            conversation=home.conversation,
            goal=home.text(f"case {name}"),
            actors=[f"{home.mark} actor"],
            message=home.conversation.messages.first(),
            state=state,
        )
        home.cases[name] = case
        CaseEmbedding.objects.create(
            owner=home.owner, case=case, model=embedding_model(), vector=_of_the_question()
        )
    Derivation.objects.create(
        owner=home.owner, fact=home.facts["pending"], source=home.facts["active"]
    )
    profile = Profile.objects.create(
        owner=home.owner, agent=home.main, digest="x", written_by="model"
    )
    sentence = ProfileSentence.objects.create(
        owner=home.owner, profile=profile, place=1, text=home.text("sentence")
    )
    ProfileCitation.objects.create(owner=home.owner, sentence=sentence, fact=home.facts["active"])


def embedding_model() -> str:
    from memory import embedding

    return embedding.MODEL


def _around(home: Household) -> None:
    """What hangs on facts, and what extraction left behind."""
    owner = home.owner
    for name in ("one", "other", "merged", "gone"):
        home.entities[name] = _entity(home, name)
    entity = home.entities["one"]
    ReviewDigest.objects.create(owner=owner, address=f"{home.mark}@example.org")
    for fact in home.facts.values():
        FactEntity.objects.create(owner=owner, fact=fact, entity=entity)
        _vector(fact)
    home.asked = ForgetRequest.objects.create(
        owner=owner, agent=home.main, client=home.key, fact=home.facts["movable"]
    )
    home.merge = entities.merge(
        kept=home.entities["merged"], gone=home.entities["gone"], actor=person(owner)
    )
    FactUsage.objects.create(owner=owner, fact=home.facts["active"], last_retrieved_at=MONDAY)
    RecalledFact.objects.create(
        owner=owner, fact=home.facts["active"], conversation=home.conversation
    )
    RecalledAhead.objects.create(
        owner=owner, agent=home.main, source="api", external_id="yet", fact=home.facts["active"]
    )
    DroppedCandidate.objects.create(
        owner=owner,
        run=home.run,
        gate=Gate.SKIPPED,
        statement=home.text("dropped"),
        quote=home.text("quote of the dropped"),
        detail=home.text("why"),
        fact=home.facts["active"],
    )


def _entity(home: Household, what: str) -> Entity:
    name = f"{home.mark} {SHARED} entity {what}"
    values: dict[str, Any] = {"owner": home.owner, "name": name, "normal_name": normalise(name)}
    entity = Entity.objects.create(type=EntityType.PERSON, **values)
    EntityAlias.objects.create(entity=entity, **values)
    return entity


def _vector(fact: Fact) -> None:
    """One vector for all: as near to every question as anything can be to anything."""
    from memory import embedding

    FactEmbedding.objects.create(
        owner=fact.owner, fact=fact, model=embedding.MODEL, vector=_of_the_question()
    )


QUESTION = f"Which {SHARED} does the entity have?"
_known: list[Any] = []


def _of_the_question() -> Any:
    from memory import embedding

    if not _known:
        _known.extend(embedding.embed_blocking([QUESTION]))
    return _known[0]


def _ruled(home: Household) -> None:
    """What stands for whom, one that is off, one that was taken out, and an earlier wording."""
    by, owner = person(home.owner), home.owner
    for name, agent in (
        ("global", None),
        ("own", home.main),
        ("works", home.work),
        ("off", None),
        ("gone", None),
        ("before", None),
    ):
        values: dict[str, Any] = {"enabled": name != "off", "actor": by, "owner": owner}
        if name == "global":
            values["imported_by"] = home.conversation.imported_by
        home.rules[name] = writing.write(agent=agent, text=home.text(f"rule {name}"), **values)
    writing.retire(rule=home.rules["gone"], actor=by)
    writing.reword(rule=home.rules["before"], text=home.text("rule after"), actor=by)


def _consolidated(home: Household) -> None:
    """A run that faded one fact, offered two for merging, and held one back."""
    run = ConsolidationRun.objects.create(owner=home.owner, trigger="daily", stopped_by="run")
    faded = _fact(home, "faded", state=State.ACTIVE)
    lifecycle.decay(fact=faded, at=MONDAY, actor=POLICY)
    _fact(
        home, "unused", state=State.ACTIVE, kind="episodic", reviewer=None, reviewed_at=None,
        created_at=LONG_AGO, observed_at=LONG_AGO,
    )  # fmt: skip
    pair = [home.facts["movable"].pk, home.facts["forgettable"].pk]
    told = {"decayed_at": MONDAY.isoformat(), "from": 1.0, "before": ""}
    made: list[dict[str, Any]] = [
        {"stage": "decay_semantic", "action": "decay", "facts": [faded.pk], "detail": told},
        {"stage": "merge", "action": "offer", "sources": pair, "at": timezone.now()},
        {
            "stage": "archive_episodic", "action": "archive", "held": True, "archived": 1,
            "facts": [home.facts["unused"].pk],
        },
    ]  # fmt: skip
    for change in made:
        values: dict[str, Any] = {"owner": home.owner, "run": run, "at": MONDAY} | change
        row = ConsolidationChange.objects.create(**values)
        home.changes[row.action if not row.held else "held"] = row


def _shelved(home: Household) -> None:
    """Collections for everybody and for one assistant, with documents that answer and one that
    could not be read; one is pinned to a conversation."""
    for name, agent in (("papers", None), ("works", home.work), ("empty", None)):
        home.shelves[name] = Collection.objects.create(
            owner=home.owner, agent=agent, name=home.text(name), description=home.text("shelf")
        )
    for name in ("papers", "works"):
        what = home.text(f"document {name}")
        row = document(home.shelves[name], what, home.text(f"passage {name}."))
        home.documents[name] = row
    broken = home.text("document failed")
    home.documents["failed"] = failed(
        home.shelves["papers"], broken, failure_detail=home.text("failure")
    )
    PinnedCollection.objects.create(
        owner=home.owner, conversation=home.conversation, collection=home.shelves["papers"]
    )
