"""What the application's own role may not do, and what no trick of a session gets around."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, connections

from agents.audit import acting, command
from agents.models import Agent, AuditEvent, OwnerSettings, User
from config import embedded
from conversations.models import Message
from memory.grants import NEVER_DELETED, READ_ONLY
from memory.models import Fact, Tombstone
from memory.vocabulary import State
from tests.factories import (
    MONDAY,
    AgentFactory,
    ApiKeyFactory,
    ConversationFactory,
    FactFactory,
    MessageFactory,
    UserFactory,
)
from tests.memory.raw import (
    NOT_ARCHIVED,
    allowed,
    born,
    insert,
    refused,
    reviewed,
    sql,
    superseding,
    update,
    value,
)
from tests.memory.steps import active

pytestmark = pytest.mark.django_db

DENIED = "permission denied"
RUNS_AS_OWNER = {"remembrancer_audit", "remembrancer_purge"}


# The role


def test_the_role_is_neither_superuser_nor_owner_nor_member() -> None:
    assert value("SELECT current_user") == value("SELECT session_user") == embedded.APP_ROLE
    assert not value(
        "SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolreplication"
        " FROM pg_roles WHERE rolname = current_user"
    )
    assert value("SELECT count(*) FROM pg_auth_members WHERE member = current_user::regrole") == 0
    owned = "SELECT count(*) FROM pg_class WHERE relowner = current_user::regrole"
    assert value(owned) == 0


@pytest.mark.parametrize("role", [embedded.OWNER_ROLE, embedded.SUPERUSER])
def test_it_becomes_nobody_else(role: str) -> None:
    for how in (f"SET ROLE {role}", f"SET SESSION AUTHORIZATION {role}"):
        with refused(DENIED):
            sql(how)


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE memory_fact DISABLE TRIGGER ALL",
        "ALTER TABLE memory_fact DISABLE TRIGGER USER",
        "ALTER TABLE memory_fact DROP CONSTRAINT fact_rejected_by_person",
        "ALTER TABLE memory_fact ADD COLUMN extra text",
        "ALTER TABLE agents_auditevent OWNER TO CURRENT_USER",
        "DROP TABLE memory_evidence",
        "DROP FUNCTION remembrancer_audit CASCADE",
        "CREATE RULE r AS ON INSERT TO agents_auditevent DO INSTEAD NOTHING",
        "CREATE TRIGGER t BEFORE UPDATE ON memory_fact EXECUTE FUNCTION f()",
        "CREATE FUNCTION public.f(int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE TABLE public.extra (id int)",
        "CREATE SCHEMA extra",
        "SET session_replication_role = replica",
        "ALTER ROLE CURRENT_USER SUPERUSER",
        "COPY memory_fact TO PROGRAM 'cat'",
    ],
)  # fmt: skip
def test_the_rules_are_not_its_to_change(statement: str) -> None:
    with refused():
        sql(statement)


def test_it_grants_itself_nothing() -> None:
    sql("GRANT ALL ON memory_fact, agents_auditevent TO CURRENT_USER")  # Postgres only warns
    for table in ("memory_fact", "agents_auditevent"):
        with refused(DENIED):
            sql(f"DELETE FROM {table}")


def test_no_function_of_a_rule_is_its_to_replace() -> None:
    for name in ("_pgtrigger_should_ignore(name)", "remembrancer_is_purging(oid)"):
        with refused("must be owner"):
            sql(f"ALTER FUNCTION public.{name} OWNER TO CURRENT_USER")
        with refused(DENIED):
            sql(
                f"CREATE OR REPLACE FUNCTION public.{name} RETURNS boolean"
                " LANGUAGE sql AS 'SELECT true'"
            )


# Rights on tables


@pytest.mark.parametrize("table", [*NEVER_DELETED, *READ_ONLY])
def test_what_only_purge_may_remove_is_not_deleted(table: str) -> None:
    with refused(DENIED):
        sql(f'DELETE FROM "{table}"')


@pytest.mark.parametrize("table", READ_ONLY)
def test_what_is_only_read_is_not_written(table: str) -> None:
    rights = {
        right: value(f"SELECT has_table_privilege(current_user, '{table}', '{right}')")
        for right in ("SELECT", "INSERT", "UPDATE", "DELETE", "REFERENCES", "TRIGGER")
    }
    assert rights.pop("SELECT")
    assert not any(rights.values())


def test_the_trail_is_append_only(alice: User) -> None:
    born(alice)
    before = AuditEvent.objects.count()
    for statement in (
        "UPDATE agents_auditevent SET actor = 'person:somebody'",
        "DELETE FROM agents_auditevent",
        'INSERT INTO agents_auditevent (at, owner_id, "table", row_id, action, actor, reason,'
        f" context) VALUES (now(), '{alice.pk}', 'memory_fact', 'x', 'update', 'x', '', '')",
        "SELECT setval('agents_auditevent_id_seq', 1)",
    ):
        with refused(DENIED):
            sql(statement)
    assert AuditEvent.objects.count() == before > 0


def test_truncate_is_nobodys_right_outside_of_tests() -> None:
    """Here every table may be emptied, for the sake of transactional tests. The rights that a
    migration's new table gets are what the application has."""
    rights = value(
        "SELECT string_agg(privilege_type, ' ' ORDER BY privilege_type)"
        " FROM pg_default_acl, aclexplode(defaclacl)"
        " WHERE grantee = current_user::regrole AND defaclobjtype = 'r'"
    )
    assert rights == "DELETE INSERT SELECT UPDATE"


@pytest.mark.django_db(databases=["default", "owner"])
def test_the_tables_owner_is_not_purging_unless_it_says_so() -> None:
    """So that no slip of a migration edits what was said."""
    asked = "SELECT remembrancer_is_purging('memory_fact'::regclass)"
    said = "SET LOCAL remembrancer.purging = 'on'"
    with connections["owner"].cursor() as cursor:
        cursor.execute(asked)
        assert cursor.fetchone() == (False,)
        cursor.execute(said)
        cursor.execute(asked)
        assert cursor.fetchone() == (True,)
    sql(said)
    assert value(asked) is False


# Tricks of a session


def the_words_are_safe(owner: User) -> None:
    message = MessageFactory.create(conversation__owner=owner, content="I live in Oslo.")
    with refused("never changed"):
        update(message, content="I live in Helsinki.")


def test_pgtrigger_ignores_nothing(alice: User) -> None:
    names = value("SELECT array_agg(tgname)::text FROM pg_trigger WHERE NOT tgisinternal")
    sql("SELECT set_config('pgtrigger.ignore', %s, true)", [names])
    the_words_are_safe(alice)
    with refused("born pending or active"):
        born(alice, state="rejected", **reviewed(alice))


def test_a_purge_that_is_only_claimed_opens_nothing(alice: User) -> None:
    sql("SET LOCAL remembrancer.purging = 'on'")
    the_words_are_safe(alice)
    with refused("never edited"):
        update(active(alice), statement="The user lives in Helsinki.")


def test_a_temporary_catalog_makes_nobody_the_owner(alice: User) -> None:
    sql(
        "CREATE TEMP TABLE pg_class AS SELECT c.oid, r.oid AS relowner"
        " FROM pg_catalog.pg_class c, pg_catalog.pg_roles r WHERE rolname = current_user"
    )
    sql("SET LOCAL remembrancer.purging = 'on'")
    the_words_are_safe(alice)


def test_a_temporary_table_does_not_catch_the_trail(alice: User) -> None:
    sql("CREATE TEMP TABLE agents_auditevent (LIKE public.agents_auditevent)")
    sql("GRANT ALL ON pg_temp.agents_auditevent TO PUBLIC")
    row = FactFactory.create(owner=alice)
    found = "SELECT count(*) FROM public.agents_auditevent WHERE row_id = %s"
    assert value(found, [str(row.pk)]) == 1


@pytest.mark.parametrize("first", ["", "SET LOCAL search_path = pg_temp, public"])
def test_a_temporary_table_of_facts_fools_no_rule(alice: User, first: str) -> None:
    gone = FactFactory.create(owner=alice, state=State.ARCHIVED)
    head = active(alice, "head")
    old = FactFactory.create(owner=alice, state=State.ARCHIVED, superseded_by=head)
    held = active(alice, "held")
    sql(
        "CREATE TEMP TABLE memory_fact AS SELECT id, owner_id, NULL::uuid AS agent_id,"
        " CASE WHEN id = %s THEN 'active' ELSE 'archived' END AS state,"
        " NULL::uuid AS superseded_by_id FROM public.memory_fact",
        [gone.pk],
    )
    if first:
        sql(first)

    def change(row: Fact, **columns: Any) -> None:
        names = ", ".join(f"{name} = %s" for name in columns)
        sql(f"UPDATE public.memory_fact SET {names} WHERE id = %s", [*columns.values(), row.pk])

    with refused("A successor is another fact, and active."):
        change(held, **superseding(gone))
    with refused("taken the place"):
        change(old, **NOT_ARCHIVED, state="active", **reviewed(alice))


def test_a_temporary_user_reviews_nothing(alice: User, bob: User) -> None:
    waiting = FactFactory.create(owner=alice)
    sql("CREATE TEMP TABLE agents_user AS SELECT id, true AS is_superuser FROM public.agents_user")
    with refused("reviewed by its owner"):
        update(waiting, state="active", **reviewed(bob))


def test_an_unset_search_path_stops_the_work_and_not_the_rules(alice: User) -> None:
    row = active(alice)
    sql("SET LOCAL search_path = ''")
    with refused("never edited"):
        sql("UPDATE public.memory_fact SET statement = 'x' WHERE id = %s", [row.pk])


def test_every_function_of_a_rule_names_its_schemas_temporary_tables_last() -> None:
    with connection.cursor() as cursor:
        # What is read when it is called. A body that was read when it was made knows its tables.
        cursor.execute(
            "SELECT proname, array_to_string(proconfig, ' '), prosecdef FROM pg_proc"
            " WHERE proname LIKE 'remembrancer\\_%' AND prosqlbody IS NULL ORDER BY proname"
        )
        found = cursor.fetchall()
    assert len(found) > 8
    for name, settings_, runs_as_owner in found:
        path = re.search(r"search_path=([^=]*?)(?: \S+=|$)", settings_ or "")
        assert path, name
        assert path[1].endswith("pg_temp"), name
        assert runs_as_owner == (name in RUNS_AS_OWNER), name


def test_a_name_may_be_given_wrongly_but_not_withheld(alice: User) -> None:
    """Whoever holds the database's password can lie about who acts; the change itself is told."""
    with acting(command("nobody in particular"), "no reason"):
        born(alice)
    sql("SET LOCAL remembrancer.actor = ''")
    born(alice, statement="The user has a dog.")
    actors = AuditEvent.objects.filter(table="memory_fact").order_by("id").values_list("actor")
    assert [actor for (actor,) in actors] == [
        "command:nobody in particular",
        f"db:{settings.DATABASES['default']['USER']}",
    ]


# What else is fixed


def test_a_message_is_what_was_said(alice: User) -> None:
    message = MessageFactory.create(conversation__owner=alice)
    other = MessageFactory.create(conversation=message.conversation)
    with allowed():
        update(message, on_branch=False)
    for change in (
        {"content": "x"},
        {"role": "assistant", "from_owner": False},
        {"from_owner": False},
        {"sent_at": MONDAY.replace(year=2020)},
        {"zone": "Asia/Tokyo"},
        {"speaker": "x"},
        {"seq": 99},
        {"client_id": "x"},
        {"parent_id": other.pk},
        {"replaces_id": other.pk},
        {"kind": "summary"},
        {"id": alice.pk},
    ):
        with refused("never changed"):
            update(message, **change)
    with refused("message_owner_is_user"):
        MessageFactory.create(role=Message.Role.ASSISTANT, from_owner=True)


def test_a_conversation_keeps_its_identity_and_its_promises(alice: User) -> None:
    conversation = ConversationFactory.create(owner=alice)
    other = AgentFactory.create(owner=alice)
    with allowed():
        update(conversation, title="x", last_activity_at=MONDAY)
    for change in (
        {"agent_id": other.pk},
        {"source": "x"},
        {"external_id": "x"},
        {"sensitive": True},
        {"created_at": MONDAY},
        {"id": alice.pk},
    ):
        with refused("fixed at its creation"):
            update(conversation, **change)
    for mark in ("cursor_seq", "compacted_seq"):
        with refused("in_range"):
            update(conversation, **{mark: 1})
    with allowed():
        update(conversation, read_only=True)
    conversation.read_only = True
    conversation.save(update_fields=["read_only"])
    with refused("stays so"):
        update(conversation, read_only=False)


def test_a_key_never_learns_to_do_more(alice: User, agent: Agent) -> None:
    key = ApiKeyFactory.create(owner=alice, agent=agent)
    with allowed():
        update(key, revoked_at=MONDAY, name="x")
    for change in (
        {"scopes": ["review"]},
        {"agent_id": None},
        {"digest": "0" * 64},
        {"prefix": "rmb_x"},
        {"created_at": MONDAY},
    ):
        with refused("What a key may do is fixed"):
            update(key, **change)


def test_only_the_default_agent_reads_everything(agent: Agent, second_agent: Agent) -> None:
    with allowed():
        update(agent, reads="all")
    with refused("agent_all_only_default"):
        update(second_agent, reads="all")
    with refused("agent_one_default"):
        update(second_agent, is_default=True)
    with refused("agent_reads_known"):
        update(agent, reads="everything")
    update(agent, reads="all")
    with refused("agent_all_only_default"):
        update(agent, is_default=False)


def test_evidence_and_tombstones_stay_as_they_are(alice: User) -> None:
    message = MessageFactory.create(conversation__owner=alice)
    evidence = FactFactory.create(owner=alice, message=message).evidence.get()
    other = FactFactory.create(owner=alice)
    for change in ({"quote": "x"}, {"fact_id": other.pk}, {"id": other.pk}):
        with refused("never changed"):
            update(evidence, **change)
    tombstone = Tombstone.objects.create(owner=alice, digest="0" * 64)
    for column, new in (("digest", "1" * 64), ("id", 999_999)):
        with refused("never changed"):
            update(tombstone, **{column: new})


def test_settings_stay_with_their_owner(alice: User, bob: User) -> None:
    with refused("stay with their owner"):
        update(OwnerSettings.objects.get(owner=alice), owner_id=UserFactory.create().pk)


def make_by_orm() -> User:
    return User.objects.create_superuser("root")


def make_by_hand() -> User:
    root = User(username="root")
    insert(
        "agents_user", id=root.pk, username="root", password="!", is_superuser=True,
        first_name="", last_name="", email="", is_staff=True, is_active=True, date_joined=MONDAY,
    )  # fmt: skip
    return root


@pytest.mark.parametrize("make", [make_by_orm, make_by_hand])
def test_an_account_has_settings_however_it_was_made(make: Callable[[], User]) -> None:
    root = make()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    row = OwnerSettings.objects.get(owner=root)
    assert (row.memory_enabled, row.time_zone) == (None, "UTC")
