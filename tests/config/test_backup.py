import shutil
import stat
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command

from config import backup, embedded
from config.errors import StartError


@pytest.fixture(scope="module")
def server() -> Iterator[embedded.Server]:
    home = Path(tempfile.mkdtemp(prefix="remembrancer-test-"))
    server = embedded.join(home)
    ask(server, "CREATE TABLE kept (line text)", role=embedded.OWNER_ROLE)
    yield server
    embedded.leave(server)
    shutil.rmtree(home)


@pytest.fixture(autouse=True)
def _one_line(server: embedded.Server) -> None:
    ask(server, "DELETE FROM kept")
    ask(server, "INSERT INTO kept VALUES ('before')")


def ask(server: embedded.Server, query: str, role: str = embedded.APP_ROLE) -> None:
    with psycopg.connect(server.url(role)) as connection:
        connection.execute(query.encode())


def lines(server: embedded.Server) -> list[str]:
    with psycopg.connect(server.url(embedded.APP_ROLE)) as connection:
        return [line for (line,) in connection.execute("SELECT line FROM kept ORDER BY 1")]


def test_a_restore_brings_back_exactly_what_was_backed_up(
    server: embedded.Server, tmp_path: Path
) -> None:
    backup.dump(server, tmp_path / "b.dump")
    ask(server, "INSERT INTO kept VALUES ('after')")
    assert lines(server) == ["after", "before"]
    backup.restore(server, tmp_path / "b.dump")
    assert lines(server) == ["before"]


def test_roles_keep_their_rights_and_limits(server: embedded.Server, tmp_path: Path) -> None:
    backup.dump(server, tmp_path / "b.dump")
    backup.restore(server, tmp_path / "b.dump")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ask(server, "DROP TABLE kept")
    ask(server, "ALTER TABLE kept ADD COLUMN more text", role=embedded.OWNER_ROLE)
    ask(server, "ALTER TABLE kept DROP COLUMN more", role=embedded.OWNER_ROLE)
    ask(server, "CREATE TABLE later (line text)", role=embedded.OWNER_ROLE)
    ask(server, "INSERT INTO later VALUES ('the default rights are there too')")
    ask(server, "DROP TABLE later", role=embedded.OWNER_ROLE)


def test_only_its_owner_can_read_a_backup(server: embedded.Server, tmp_path: Path) -> None:
    backup.dump(server, tmp_path / "b.dump")
    assert stat.S_IMODE((tmp_path / "b.dump").stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [tmp_path / "b.dump"]


def test_a_backup_never_replaces_another(server: embedded.Server, tmp_path: Path) -> None:
    (tmp_path / "b.dump").write_text("the only copy")
    with pytest.raises(StartError, match="File exists"):
        backup.dump(server, tmp_path / "b.dump")
    assert (tmp_path / "b.dump").read_text() == "the only copy"


def test_a_file_that_is_no_backup_changes_nothing(server: embedded.Server, tmp_path: Path) -> None:
    (tmp_path / "b.dump").write_text("not a backup")
    with pytest.raises(StartError, match=r"b\.dump is no backup"):
        backup.restore(server, tmp_path / "b.dump")
    with pytest.raises(StartError, match="There is no file"):
        backup.restore(server, tmp_path / "missing.dump")
    assert lines(server) == ["before"]


def test_the_plan_of_a_restore_is_of_a_backup_and_says_of_when(
    server: embedded.Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backup.dump(server, tmp_path / "b.dump")
    with pytest.raises(SystemExit, match="2"):
        call_command("restore", tmp_path / "b.dump")
    said = capsys.readouterr().out
    assert f"{tmp_path / 'b.dump'}, which was made at {date.today().year}-" in said
    (tmp_path / "other.dump").write_text("not a backup")
    for path, why in ((tmp_path / "other.dump", "is no backup"), (tmp_path, "There is no file")):
        with pytest.raises(StartError, match=why):
            call_command("restore", path)
    assert capsys.readouterr().out == ""


def test_a_database_in_use_is_left_alone(server: embedded.Server, tmp_path: Path) -> None:
    backup.dump(server, tmp_path / "b.dump")
    ask(server, "INSERT INTO kept VALUES ('after')")
    with (
        psycopg.connect(server.url(embedded.APP_ROLE)),
        pytest.raises(StartError, match="in use: stop"),
    ):
        backup.restore(server, tmp_path / "b.dump")
    assert lines(server) == ["after", "before"]
