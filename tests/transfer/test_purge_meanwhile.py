"""A purge while a memory goes out, or comes in."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from agents.audit import person
from memory import lifecycle
from memory.models import Fact
from memory.purge.execute import purge
from memory.purge.selection import chosen
from memory.transfer import export as exporting
from memory.transfer.export import PurgedMeanwhile, export
from tests.factories import FactFactory
from tests.memory.sessions import Session, waits
from tests.transfer.stores import Store, let_in, written

pytestmark = pytest.mark.django_db(transaction=True)


def erase(store: Store) -> None:
    purge(selection=chosen(owner=store.owner, match="Oslo"), actor=person(store.owner))


def test_an_export_that_a_purge_overtakes_stays_without_its_end(store: Store, file: Path) -> None:
    lines = export(owner=store.owner)
    told = [next(lines)]
    other = Session()
    try:
        other.do(lambda: erase(store))
        with pytest.raises(PurgedMeanwhile, match="Try again"):
            told.extend(lines)
    finally:
        other.close()
    assert '"type":"end"' not in "".join(told)
    again = written(store.owner)
    assert "I moved to Oslo" not in again
    assert again.endswith("}\n")


def test_the_command_keeps_nothing_of_it(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Session()
    tombstones = exporting._tombstones

    def purged_just_before(owner: object) -> object:
        other.do(lambda: erase(store))
        return tombstones(store.owner)

    monkeypatch.setattr(exporting, "_tombstones", purged_just_before)
    try:
        with pytest.raises(CommandError, match="purged during the export"):
            call_command("export_memories", str(file))
    finally:
        other.close()
    assert list(file.parent.iterdir()) == []


def test_another_change_breaks_no_export_off(store: Store) -> None:
    lines = export(owner=store.owner)
    next(lines)
    other = Session()
    try:
        one = store.facts["head"]
        other.do(lambda: lifecycle.set_pinned(fact=one, pinned=True, actor=person(store.owner)))
        assert '"type":"end"' in "".join(lines)
    finally:
        other.close()


def test_an_import_waits_for_a_purge_and_brings_nothing_of_it_back(
    store: Store, file: Path
) -> None:
    text = written(store.owner)
    statement = store.facts["global"].statement
    eraser, importer = Session(), Session()
    try:
        eraser.begin()
        all_of_it = chosen(owner=store.owner, facts=(store.facts["global"].pk,))
        eraser.do(lambda: purge(selection=all_of_it, actor=person(store.owner)))
        future = importer.start(lambda: let_in(store.owner, text, file))
        assert waits(future)
        eraser.commit()
        result = future.result(timeout=60)
    finally:
        eraser.close()
        importer.close()
    assert result.left["purged or forgotten here"] == 1
    assert not Fact.objects.filter(statement=statement).exists()
    FactFactory.create(owner=store.owner)  # the store still works
