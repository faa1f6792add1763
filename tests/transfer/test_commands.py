"""manage.py export_memories and import_memories: what they say, and their exit codes."""

import json
import stat
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.audit import person
from agents.models import AuditEvent, OwnerSettings, User
from conversations.models import Import
from memory import lifecycle
from memory.models import Case, Fact
from memory.transfer.rollback import imports_of
from memory.vocabulary import ArchivedReason, State
from tests.memory.invariants import check, memory_of
from tests.transfer.stores import Store, forget_everything, written

pytestmark = pytest.mark.django_db


def run(name: str, *arguments: Any) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command(name, *map(str, arguments), stdout=out, stderr=out)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def test_a_store_goes_out_and_comes_back(store: Store, file: Path, capsys: Any) -> None:
    assert run("export_memories", file)[0] == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text()
    assert list(file.parent.iterdir()) == [file]
    with pytest.raises(CommandError, match="File exists"):
        run("export_memories", file)
    assert run("export_memories", "-")[0] == 0
    assert capsys.readouterr().out == text
    forget_everything()
    code, said = run("import_memories", file, "--approve", "--dry-run")
    assert (code, Fact.objects.count()) == (0, 0)
    assert "Would bring in: " in said
    code, said = run("import_memories", file, "--approve")
    assert code == 0
    assert "9 facts" in said
    assert written(store.owner) == text


def test_an_export_works_while_memory_is_off(store: Store, file: Path) -> None:
    OwnerSettings.objects.update(memory_enabled=False)
    assert run("export_memories", file)[0] == 0
    with pytest.raises(CommandError, match="Memory is off for alice"):
        run("import_memories", file)


def test_tombstones_that_stay_out_are_the_exit_code(
    store: Store, file: Path, settings: Any
) -> None:
    run("export_memories", file)
    forget_everything()
    settings.HASH_KEY = "another secret of at least thirty-two characters"
    code, said = run("import_memories", file, "--approve")
    assert code == 3
    assert "To carry them, give this server the HASH_KEY" in said


def test_an_import_is_taken_back_as_a_unit(store: Store, stranger: User, file: Path) -> None:
    file.write_text("- Likes tea.\n- Likes rye.\n- Likes salt.\n")
    run("import_memories", file, "--owner", "alice")
    before = memory_of(store.owner)
    [imported] = imports_of(store.owner)
    tea = Fact.objects.get(statement="Likes tea.")
    lifecycle.confirm(fact=tea, actor=person(store.owner))
    rollback = "import_memories", "--rollback", imported.pk, "--owner"
    with pytest.raises(CommandError, match="has no import"):
        run(*rollback, "stranger", "--yes")
    code, said = run(*rollback, "alice")
    assert code == 2
    assert "Would take back: 2 facts that waited, 0 that came in decided." in said
    assert "Decided over since, it stays: 1 fact or case." in said
    assert memory_of(store.owner).state(str(tea.pk)) == State.ACTIVE
    code, said = run(*rollback, "alice", "--yes")
    assert code == 0
    gone = Fact.objects.filter(imported_by=imported, archived_reason=ArchivedReason.UNDONE)
    assert {fact.statement for fact in gone} == {"Likes rye.", "Likes salt."}
    after = memory_of(store.owner)
    kept = set(before.facts) - {str(fact.pk) for fact in gone} - {str(tea.pk)}
    assert all(before.facts[fact] == after.facts[fact] for fact in kept)
    assert "Took back: 0 facts" in run(*rollback, "alice", "--yes")[1]
    # It is no rejection: the list may come again.
    assert "2 facts" in run("import_memories", file, "--owner", "alice")[1]


def test_the_list_holds_no_imports_of_conversations(store: Store, tmp_path: Path) -> None:
    said = {"id": "m", "role": "user", "content": "Hello.", "sent_at": "2026-03-02T09:00:00+02:00"}
    talk, memories = tmp_path / "talk.jsonl", tmp_path / "memories.txt"
    talk.write_text(json.dumps({"id": "c", "messages": [said]}))
    memories.write_text("- Likes rye.")
    run("import_conversations", talk, "--owner", store.owner.username)
    run("import_memories", memories, "--owner", store.owner.username)
    listed = run("import_memories", "--list", "--owner", store.owner.username)[1]
    assert "memories.txt (for review)" in listed
    assert "talk.jsonl" not in listed
    brought = Import.objects.get(owner=store.owner, file_name="talk.jsonl")
    with pytest.raises(CommandError, match=f"purge --import {brought.pk}"):
        run("import_memories", "--rollback", brought.pk, "--owner", store.owner.username)


def test_a_store_that_was_let_in_is_taken_back_too(
    store: Store, stranger: User, file: Path
) -> None:
    file.write_text(written(store.owner))
    run("import_memories", file, "--owner", "stranger", "--approve")
    [imported] = imports_of(stranger)
    assert str(imported.pk) in run("import_memories", "--list", "--owner", "stranger")[1]
    code, _ = run("import_memories", "--rollback", imported.pk, "--owner", "stranger", "--yes")
    assert code == 0
    assert {fact.state for fact in Fact.objects.filter(owner=stranger)} == {State.ARCHIVED}
    assert {case.state for case in Case.objects.filter(owner=stranger)} == {State.ARCHIVED}
    assert Case.objects.filter(owner=store.owner, state=State.ACTIVE).exists()
    told = AuditEvent.objects.filter(owner_id=stranger.pk, table__in=["memory_fact", "memory_case"])
    assert set(told.values_list("actor", flat=True)) == {"command:import_memories"}
    check(memory_of(stranger))
    assert memory_of(store.owner).active


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "one of the arguments"),
        (["/nowhere"], "Can't read"),
        (["LIST", "--approve"], "Only a file of export_memories"),
        (["LIST", "--conflict", "pending"], "is for files of export_memories"),
        (["OURS", "--agent", "main"], "leave out --agent"),
        (["OURS", "--conflict", "supersede"], "add --approve"),
        (["OURS", "--owner", "nobody"], "no owner 'nobody'"),
        (["LIST", "--agent", "nobody"], "no agent 'nobody'"),
        (["LIST", "--format", "csv"], "invalid choice"),
        (["--rollback", "nothing"], "has no import 'nothing'"),
    ],
)
def test_wrong_arguments_are_refused(
    store: Store, tmp_path: Path, arguments: list[str], why: str
) -> None:
    paths = {"LIST": tmp_path / "list.txt", "OURS": tmp_path / "ours.jsonl"}
    paths["LIST"].write_text("- Likes tea.")
    paths["OURS"].write_text(written(store.owner))
    before = memory_of(store.owner)
    with pytest.raises(CommandError, match=why):
        run("import_memories", *(paths.get(argument, argument) for argument in arguments))
    assert memory_of(store.owner) == before
