"""What the application's role may not do, taken from it after every migration.

The role starts with SELECT, INSERT, UPDATE and DELETE on each table (default privileges of the
owner's role). No trigger stops a role that may not even try.
"""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db import connections

# Rows that only purge may remove.
NEVER_DELETED = (
    "agents_agent",
    "agents_apikey",
    "agents_ownersettings",
    "agents_textaccess",
    "agents_user",
    "conversations_conversation",
    "conversations_import",
    "conversations_message",
    "conversations_passage",
    "knowledge_collection",
    "knowledge_document",
    "memory_case",
    "memory_casesource",
    "memory_consolidationrun",
    "memory_derivation",
    "memory_droppedcandidate",
    "memory_evidence",
    "memory_extractionrun",
    "memory_fact",
    "memory_forgetrequest",
    "memory_rule",
    "memory_tombstone",
)
READ_ONLY = ("agents_auditevent", "django_migrations")

# Erases, as the tables' owner. Nobody else may call it.
PURGE = "public.remembrancer_purge"

# pgtrigger lets any session switch triggers off through a setting. Nothing here needs that.
NEVER_IGNORE = """
    CREATE OR REPLACE FUNCTION public._pgtrigger_should_ignore(trigger_name name)
    RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT false'
"""


def restrict_application_role(sender: AppConfig, using: str, **kwargs: Any) -> None:
    """Runs as the owner's role once the last app of ours is migrated."""
    if using != "owner":
        return
    role = settings.DATABASES["default"]["USER"]
    with connections[using].cursor() as cursor:
        quote = connections[using].ops.quote_name
        for table in NEVER_DELETED:
            cursor.execute(f"REVOKE DELETE ON {quote(table)} FROM {quote(role)}")
        for table in READ_ONLY:
            cursor.execute(f"REVOKE INSERT, UPDATE, DELETE ON {quote(table)} FROM {quote(role)}")
        cursor.execute(f"GRANT EXECUTE ON FUNCTION {PURGE} TO {quote(role)}")
        # A function of its own in public could stand in for one that a rule calls.
        cursor.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        cursor.execute(NEVER_IGNORE)
