import pytest
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import DatabaseError, connection, connections

from config import embedded


@pytest.mark.django_db
def test_tests_run_as_the_applications_own_role() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, rolsuper FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == (embedded.APP_ROLE, False)


@pytest.mark.django_db
def test_the_application_may_write_rows_but_not_change_tables() -> None:
    assert ContentType.objects.create(app_label="x", model="y").pk
    with pytest.raises(DatabaseError), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE django_content_type ADD COLUMN extra text")


@pytest.mark.django_db
def test_every_extension_is_there() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extname FROM pg_extension")
        assert {name for (name,) in cursor.fetchall()} >= set(embedded.EXTENSIONS)


@pytest.mark.django_db(databases=["default", "owner"])
def test_tables_belong_to_the_migration_role() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'")
        assert cursor.fetchall() == [(embedded.OWNER_ROLE,)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("run", [1, 2])
def test_transactional_tests_start_empty(run: int) -> None:
    assert not ContentType.objects.filter(app_label="left over").exists()
    ContentType.objects.create(app_label="left over", model=str(run))


@pytest.mark.django_db
def test_migrations_are_complete() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
