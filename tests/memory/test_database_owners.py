"""No pointer leads out of one owner's rows: each composite key is tried with a stranger's row."""

from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models
from django.utils import timezone

from agents.audit import acting, person
from agents.models import CallCount, StoredReply, User, new_id
from conversations.models import (
    Import,
    IndexedPassage,
    Passage,
    PassageEmbedding,
    PassageTerm,
    ShownPassages,
    Sketch,
)
from knowledge.models import (
    Collection,
    Document,
    DocumentEmbedding,
    DocumentFile,
    DocumentPassage,
    DocumentTerm,
    DocumentText,
    PictureReading,
    PinnedCollection,
)
from memory.models import (
    BulkItem,
    BulkJob,
    CaseEmbedding,
    CaseReading,
    CaseSource,
    ConsolidationChange,
    ConsolidationRun,
    CorrectionTarget,
    Derivation,
    DroppedCandidate,
    Entity,
    EntityAlias,
    Evidence,
    ExtractionRun,
    FactEmbedding,
    FactEntity,
    FactTerm,
    FactUsage,
    ForgetRequest,
    Forgotten,
    Profile,
    ProfileCitation,
    ProfileSentence,
    RecalledAhead,
    RecalledFact,
    Reflection,
    Rule,
    Webhook,
    WebhookDelivery,
)
from memory.vocabulary import EntityType, Gate, State, Trigger
from tests.factories import (
    MONDAY,
    AgentFactory,
    ApiKeyFactory,
    CaseFactory,
    ConversationFactory,
    FactFactory,
    MessageFactory,
)
from tests.memory.raw import insert, refused, update

pytestmark = pytest.mark.django_db

OURS = ("agents", "conversations", "knowledge", "memory")
World = dict[str, models.Model]


def a_row_of_everything(owner: User) -> World:
    heir = AgentFactory.create(owner=owner)
    agent = AgentFactory.create(owner=owner, retired_at=MONDAY, heir=heir)
    key = ApiKeyFactory.create(agent=agent)
    imported = Import.objects.create(
        owner=owner, format="jsonl", file_name="x.jsonl", approved_by=owner
    )
    conversation = ConversationFactory.create(agent=agent, client=key, imported_by=imported)
    parent = MessageFactory.create(conversation=conversation)
    message = MessageFactory.create(conversation=conversation, parent=parent, replaces=parent)
    mine = {"owner": owner}
    run = ExtractionRun.objects.create(
        **mine, agent=agent, conversation=conversation, trigger=Trigger.IDLE,
        first_seq=1, last_seq=2, observer="rules",
    )  # fmt: skip
    head = FactFactory.create(**mine, state=State.ACTIVE)
    old = FactFactory.create(
        **mine, conversation=conversation, run=run, imported_by=imported, client=key,
        state=State.ARCHIVED, superseded_by=head,
    )  # fmt: skip
    pending = FactFactory.create(**mine)
    entity = Entity.objects.create(**mine, type=EntityType.PLACE, name="Oslo", normal_name="oslo")
    passage = Passage.objects.create(
        **mine, conversation=conversation, message=message, text="x",
        text_hash="0" * 64, said_at=MONDAY,
    )  # fmt: skip
    case = CaseFactory.create(conversation=conversation)
    profile = Profile.objects.create(**mine, agent=agent, digest="x", written_by="m")
    sentence = ProfileSentence.objects.create(**mine, profile=profile, place=1, text="x")
    job = BulkJob.objects.create(**mine, started_by=owner, step="move", agent=agent)
    consolidation = ConsolidationRun.objects.create(**mine, trigger="daily")
    collection = Collection.objects.create(**mine, agent=agent, name="Manuals")
    document = Document.objects.create(
        **mine, collection=collection, client=key, title="Kiln", origin="api", digest="0" * 64
    )
    piece = DocumentPassage.objects.create(
        **mine, document=document, generation=1, ordinal=0, text="clay", start=0, end=4
    )
    with acting(person(owner)):
        rule = Rule.objects.create(
            **mine, agent=agent, text="Be brief.", text_hash="0" * 64, place=1, origin="import",
            author=owner, candidate=old, imported_by=imported,
        )  # fmt: skip
    hook = Webhook.objects.create(
        **mine, agent=agent, address="https://hooks.example/", events=["fact.purged"]
    )
    rows: list[models.Model] = [
        hook,
        WebhookDelivery.objects.create(
            **mine, webhook=hook, event="fact.superseded", fact=old, successor=head
        ),
        rule, collection, document, piece,
        DocumentFile.objects.create(**mine, document=document, piece=0, content=b"clay"),
        DocumentText.objects.create(**mine, document=document, generation=1, markdown="clay"),
        PictureReading.objects.create(
            **mine, document=document, digest="0" * 64, model="m", prompt_version="v"
        ),
        DocumentTerm.objects.filter(passage=piece)[0],
        DocumentEmbedding.objects.create(
            **mine, passage=piece, document_id=document.pk, generation=1, model="m", vector=[1.0]
        ),
        PinnedCollection.objects.create(
            **mine, conversation=conversation, collection=collection
        ),
        consolidation,
        ConsolidationChange.objects.create(**mine, run=consolidation, at=MONDAY),
        CallCount.objects.create(**mine, client=key, kind="read", minute=1, calls=1),
        StoredReply.objects.create(**mine, client=key, name_digest="x", call_digest="x"),
        agent, key, imported, conversation, message, run, old, entity,
        passage,
        IndexedPassage.objects.get(passage=passage),
        PassageTerm.objects.filter(passage=passage)[0],
        PassageEmbedding.objects.create(**mine, passage=passage, model="m", vector=[1.0]),
        ShownPassages.objects.create(**mine, conversation=conversation),
        Sketch.objects.create(**mine, conversation=conversation, key="plan", text="x"),
        Evidence.objects.create(**mine, fact=old, message=message, quote="x"),
        CorrectionTarget.objects.create(**mine, fact=pending, target=head),
        FactTerm.objects.filter(fact=head)[0],
        FactEmbedding.objects.create(**mine, fact=old, model="m", vector=[1.0]),
        FactUsage.objects.create(**mine, fact=old, last_retrieved_at=MONDAY),
        EntityAlias.objects.create(**mine, entity=entity, name="Oslo", normal_name="oslo"),
        FactEntity.objects.create(**mine, fact=old, entity=entity),
        DroppedCandidate.objects.create(
            **mine, run=run, gate=Gate.SKIPPED, statement="x", message=message, fact=old
        ),
        RecalledFact.objects.create(**mine, conversation=conversation, fact=old),
        case,
        CaseSource.objects.create(**mine, case=case, message=message),
        CaseEmbedding.objects.create(**mine, case=case, model="m", vector=[1.0]),
        CaseReading.objects.create(**mine, conversation=conversation),
        Derivation.objects.create(**mine, fact=pending, source=old),
        job,
        BulkItem.objects.create(**mine, job=job, fact_id=old.pk, seen=old.state),
        Reflection.objects.create(**mine, agent=agent, digest="x"),
        profile,
        sentence,
        ProfileCitation.objects.create(**mine, sentence=sentence, fact=old),
        Forgotten.objects.create(**mine, fact=old, digest="0" * 64),
        ForgetRequest.objects.create(**mine, agent=agent, client=key, fact=old),
        RecalledAhead.objects.create(
            **mine, agent=agent, source="api", external_id="ahead", fact=old
        ),
    ]  # fmt: skip
    return {row._meta.db_table: row for row in rows}


# Columns of a second row that must differ from the first for reasons of their own.
FRESH: dict[str, dict[str, Any]] = {
    "knowledge_collection": {"name": "Others"},
    "knowledge_document": {"digest": "1" * 64},
    "knowledge_picturereading": {"digest": "1" * 64},
    "memory_case": {"text_hash": "1" * 64},
    "memory_forgetrequest": {"state": "overtaken"},
    "memory_profilesentence": {"place": 2},
    "memory_rule": {"text_hash": "1" * 64},
    "agents_agent": {"slug": "another"},
    "agents_apikey": {"prefix": "rmb_other"},
    "agents_callcount": {"kind": "write"},
    "agents_storedreply": {"name_digest": "y"},
    "conversations_conversation": {"external_id": "another"},
    "conversations_message": {"client_id": "another", "seq": 99},
    "conversations_passage": {"text_hash": "1" * 64},
    "conversations_sketch": {"key": "another"},
    "memory_fact": {
        "state": "pending", "archived_from": "", "archived_reason": "", "text_hash": "1" * 64,
        "superseded_by_id": None, "reviewer_id": None, "reviewed_at": None,
    },
}  # fmt: skip
# They hold no pointer but the one to their owner.
ALONE = {
    "agents_ownersettings", "agents_textaccess", "memory_consolidationschedule",
    "memory_digestmail", "memory_entitymerge", "memory_factcount", "memory_ownerlease",
    "memory_reviewdigest", "memory_tombstone",
}  # fmt: skip
AN_END = {
    "state": "archived", "archived_from": "active", "archived_reason": "superseded",
    "reviewed_at": timezone.now(),
}  # fmt: skip


def columns_of(row: models.Model) -> dict[str, Any]:
    """The row as columns, with a new id where the database doesn't give one."""
    values: dict[str, Any] = {}
    for field in row._meta.concrete_fields:
        if not isinstance(field, models.GeneratedField | models.BigAutoField):
            column = str(field.column)
            values[column] = field.get_db_prep_save(getattr(row, field.attname), connection)
    if "id" in values:
        values["id"] = new_id()
    return values | FRESH.get(row._meta.db_table, {})


def keys_in_the_database() -> list[tuple[str, list[str], str]]:
    """(table, its columns, the table they point into), for keys that begin with the owner."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conrelid::regclass::text,"
            " (SELECT array_agg(attname::text ORDER BY place) FROM unnest(conkey)"
            "  WITH ORDINALITY AS k (number, place)"
            "  JOIN pg_attribute ON attrelid = conrelid AND attnum = number) AS columns,"
            " confrelid::regclass::text"
            " FROM pg_constraint WHERE contype = 'f' AND cardinality(conkey) > 1 AND convalidated"
            " ORDER BY conname"
        )
        keys: list[tuple[str, list[str], str]] = cursor.fetchall()
    assert all(columns[0] == "owner_id" for _, columns, _ in keys)
    return keys


def owned() -> set[type[models.Model]]:
    """The models whose rows say whose they are."""
    return {
        model
        for app in OURS
        for model in apps.get_app_config(app).get_models()
        if any(field.name == "owner" for field in model._meta.concrete_fields)
    }


def test_every_pointer_between_owned_rows_has_its_key() -> None:
    """A new column that points at an owner's rows fails here until it has one."""
    expected = {
        (model._meta.db_table, str(field.column))
        for model in owned()
        for field in model._meta.concrete_fields
        if isinstance(field, models.ForeignKey) and field.related_model in owned()
    }
    assert {(table, columns[-1]) for table, columns, _ in keys_in_the_database()} == expected


def test_a_strangers_row_is_out_of_reach_of_every_pointer(alice: User, bob: User) -> None:
    """With a new row, because most pointers of an old one are fixed anyway."""
    mine, his = a_row_of_everything(alice), a_row_of_everything(bob)
    assert set(mine) == {model._meta.db_table for model in owned()} - ALONE
    # Rows with nothing hanging on them yet, so that nothing but the key is in the way.
    his["memory_fact"] = FactFactory.create(owner=bob, state=State.ACTIVE)
    his["conversations_conversation"] = elsewhere = ConversationFactory.create(owner=bob)
    his["conversations_passage"] = Passage.objects.create(
        owner=bob, conversation=elsewhere, text="[purged]",
        text_hash="2" * 64, said_at=MONDAY,
    )  # fmt: skip
    for table, (*scope, column), target in keys_in_the_database():
        columns = columns_of(mine[table])
        if (table, column) == ("memory_fact", "superseded_by_id"):
            columns |= AN_END | {"reviewer_id": alice.pk}
        name = f"{table}_{column}_same_{scope[-1].removesuffix('_id')}"
        with refused(name), acting(person(alice)):
            insert(table, **columns | {column: his[target].pk})
        if len(scope) > 1:  # her own, but said elsewhere
            stray = MessageFactory.create(conversation__owner=alice)
            with refused(f"{table}_{column}_same_conversation"):
                insert(table, **columns | {column: stray.pk})


# A key is looked up before its owner is known.
WITHOUT_OWNER = {"agents_apikey_prefix_key"}


def test_every_unique_rule_includes_the_owner() -> None:
    """So that the tables can be spread over machines by owner."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indrelid::regclass::text, indexrelid::regclass::text,"
            " (SELECT array_agg(attname::text) FROM unnest(indkey::smallint[]) AS number"
            "  JOIN pg_attribute ON attrelid = indrelid AND attnum = number)"
            " FROM pg_index WHERE indisunique AND NOT indisprimary"
            " AND indrelid::regclass::text ~ '^(agents|conversations|knowledge|memory)_'"
        )
        rows = cursor.fetchall()
    tables = {model._meta.db_table for model in owned()}
    lacking = {
        index for table, index, columns in rows if table in tables and "owner_id" not in columns
    }
    assert lacking == WITHOUT_OWNER


def test_nothing_changes_hands(alice: User, bob: User) -> None:
    for row in a_row_of_everything(alice).values():
        with refused():
            update(row, owner_id=bob.pk)
