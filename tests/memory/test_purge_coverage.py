"""A new column that may hold what people said fails here until a purge reaches it."""

import pytest
from django.db import connection

from memory.text.lists import listed

pytestmark = pytest.mark.django_db

# Words from closed lists, ids, names of models and versions, numbers: nothing that was said.
PLAIN = listed(
    """
    action actor archived_from archived_reason client_id context counts detail due_trigger
    embedding_model errors event events external_id failure format gate host kind language model
    observer origin outcome prefix prompt_version quality reads role route row_id scopes seen slug
    source stage stages state step stopped stopped_by table tags time_zone trigger valid_precision
    withheld_for written_by zone
    """
)
# What a purge reaches.
SAID = {
    "agents_auditevent": {"before", "after", "reason"},
    "agents_storedreply": {"body"},
    "conversations_conversation": {"title", "last_error"},
    "conversations_import": {"file_name"},
    "conversations_message": {"content", "speaker"},
    "conversations_passage": {"text", "text_hash", "search"},
    "conversations_passageembedding": {"vector"},
    "conversations_passageterm": {"term"},
    "conversations_sketch": {"key", "text", "terms"},
    "knowledge_collection": {"name", "description"},
    "knowledge_document": {
        "title", "address", "file_name", "failure_detail", "notes", "digest", "media_type",
    },
    "knowledge_documentembedding": {"vector"},
    "knowledge_documentfile": {"content"},
    "knowledge_documentpassage": {"text", "headings"},
    "knowledge_documentterm": {"term"},
    "knowledge_documenttext": {"markdown"},
    "knowledge_picturereading": {"words", "description", "digest", "error"},
    "memory_bulkjob": {"reason"},
    "memory_case": {
        "goal", "context", "approach", "outcome", "lessons", "actors", "tags", "text_hash",
        "withheld_detail", "search",
    },
    "memory_caseembedding": {"vector"},
    "memory_droppedcandidate": {"statement", "quote", "detail"},
    "memory_entity": {"name", "normal_name"},
    "memory_entityalias": {"name", "normal_name"},
    "memory_evidence": {"quote"},
    "memory_extractionrun": {"error"},
    "memory_fact": {"statement", "text_hash", "tags", "withheld_detail", "search"},
    "memory_factembedding": {"vector"},
    "memory_factterm": {"term"},
    "memory_forgotten": {"digest"},
    "memory_profile": {"digest"},
    "memory_profilesentence": {"text"},
    "memory_rule": {"text", "text_hash"},
}  # fmt: skip
# Kept in step with its passage or fact by triggers; the file name by the service.
FOLLOWS = {
    "conversations_import", "conversations_passageembedding", "conversations_passageterm",
    "memory_factterm",
}  # fmt: skip
# Not what was said: names that an account gave its own things, secrets, hashes of ids, keyed ones;
# a refusal in the application's words; why a run of consolidation did something, told without text.
OTHER = {
    "agents_agent": {"name"},
    "agents_storedreply": {"headers", "name_digest", "call_digest"},
    "agents_apikey": {"name", "digest"},
    "agents_user": {"password", "username", "first_name", "last_name", "email"},
    "memory_bulkitem": {"why"},
    "memory_consolidationchange": {"reason"},
    "memory_digestmail": {"error"},
    "memory_entitymerge": {"gone_type"},
    "memory_entity": {"type"},
    "memory_reflection": {"digest"},
    "memory_reviewdigest": {"address"},
    "memory_tombstone": {"digest"},
    "memory_webhook": {"address"},
}


def columns() -> set[tuple[str, str]]:
    """Of tables of ours that carry an owner: whatever can hold text, words or a vector."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public'"
            " AND table_name ~ '^(agents|conversations|knowledge|memory)_'"
            " AND table_name IN (SELECT table_name FROM information_schema.columns"
            "  WHERE column_name = 'owner_id' OR table_name = 'agents_user')"
            " AND udt_name IN ('text', 'varchar', 'jsonb', 'tsvector', 'vector', '_text',"
            " '_varchar', 'bytea')"
        )
        return set(cursor.fetchall())


def test_every_column_is_reached_or_told_to_hold_nothing() -> None:
    known = {
        (table, column)
        for tables in (SAID, OTHER)
        for table, names in tables.items()
        for column in names
    }
    found = columns()
    assert {pair for pair in found - known if pair[1] not in PLAIN} == set()
    assert known <= found


def test_the_purge_functions_name_every_table_that_holds_text() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT string_agg(prosrc, E'\n') FROM pg_proc"
            " WHERE proname LIKE 'remembrancer\\_purge%'"
        )
        (source,) = cursor.fetchone()
    assert {table for table in SAID if f"public.{table}" not in source} == FOLLOWS
