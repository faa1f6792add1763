"""A file that says otherwise than the store: skipped, waiting as a correction, or taking its
place."""

from pathlib import Path
from typing import Any

import pytest

from agents.audit import person
from agents.models import User
from memory import handwritten, lifecycle
from memory.lifecycle import Edit
from memory.lifecycle.retire import retire
from memory.models import Fact
from memory.transfer import proposals
from memory.transfer.plan import Conflict
from memory.vocabulary import Kind, State
from tests.factories import MONDAY
from tests.memory.invariants import check, memory_of
from tests.transfer.stores import Store, changed, let_in, lines_of, written

pytestmark = pytest.mark.django_db
OTHERWISE = "The user has two heads kept in alice."


def edited(store: Store) -> str:
    """Somebody changed the text of an active fact in the file."""
    head = str(store.facts["head"].pk)

    def change(lines: list[dict[str, Any]]) -> None:
        next(line for line in lines if line.get("id") == head)["statement"] = OTHERWISE

    return changed(written(store.owner), change)


def head_now(store: Store) -> Fact:
    return Fact.objects.get(pk=store.facts["head"].pk)


def test_what_is_here_stays(store: Store, file: Path) -> None:
    result = let_in(store.owner, edited(store), file)
    assert result.new == {}
    assert sum(n for why, n in result.left.items() if "--conflict" in why) == 1
    assert head_now(store).state == State.ACTIVE
    assert not Fact.objects.filter(statement=OTHERWISE).exists()


def test_it_waits_as_a_correction(store: Store, file: Path) -> None:
    text = edited(store)
    let_in(store.owner, text, file, Conflict.PENDING)
    fact = Fact.objects.get(statement=OTHERWISE)
    assert (fact.state, fact.targets.get().target) == (State.PENDING, head_now(store))
    assert head_now(store).state == State.ACTIVE
    check(memory_of(store.owner))
    assert let_in(store.owner, text, file, Conflict.PENDING).new == {}


def test_it_takes_the_place_of_what_is_here(store: Store, file: Path) -> None:
    text = edited(store)
    let_in(store.owner, text, file, Conflict.SUPERSEDE)
    fact = Fact.objects.get(statement=OTHERWISE)
    assert (fact.state, head_now(store).superseded_by) == (State.ACTIVE, fact)
    check(memory_of(store.owner))
    assert let_in(store.owner, text, file, Conflict.SUPERSEDE).new == {}


@pytest.mark.parametrize("conflict", list(Conflict))
def test_a_newer_store_never_makes_a_second_version_active(
    store: Store, file: Path, conflict: Conflict
) -> None:
    """The file knows a successor of a fact that is still active here."""
    me, head = person(store.owner), store.facts["head"]
    newer = lifecycle.correct(fact=head, edit=Edit(OTHERWISE, Kind.SEMANTIC), actor=me)
    text = written(store.owner)
    lifecycle.undo(fact=newer, actor=me)
    assert head_now(store).state == State.ACTIVE
    # As another store would have it, which never heard of the newer one.
    other = text.replace(str(newer.pk), "0190c0de-0000-7000-8000-000000000000")
    let_in(store.owner, other, file, conflict)
    check(memory_of(store.owner))
    here = Fact.objects.filter(statement=OTHERWISE).exclude(pk=newer.pk)
    state = {Conflict.SUPERSEDE: [State.ACTIVE], Conflict.PENDING: [State.PENDING]}
    assert [fact.state for fact in here] == state.get(conflict, [])
    assert (head_now(store).state == State.ACTIVE) == (conflict != Conflict.SUPERSEDE)


def test_rejections_of_this_store_stick(store: Store, file: Path) -> None:
    text = written(store.owner)
    waiting = store.facts["pending"]
    lifecycle.reject(fact=waiting, actor=person(store.owner))
    other = text.replace(str(waiting.pk), "0190c0de-0000-7000-8000-000000000000")
    assert let_in(store.owner, other, file).left["rejected here"] == 1
    assert Fact.objects.get(statement=waiting.statement).state == State.REJECTED


def test_without_a_persons_word_everything_waits(store: Store, stranger: Any, file: Path) -> None:
    file.write_text(written(store.owner))
    result = proposals.propose_file(
        owner=stranger, path=file, name="x", actor=lifecycle_actor(), conflict=Conflict.SKIP
    )
    facts = Fact.objects.filter(owner=stranger)
    assert {fact.state for fact in facts} == {State.PENDING}
    assert {fact.statement for fact in facts} == {
        store.facts[name].statement
        for name in ("pending", "head", "correction", "event", "global", "insight")
    }
    assert all(fact.imported_by_id == result.imported for fact in facts)
    shared = facts.get(agent=None)
    assert "global_scope" in shared.withheld_for
    again = proposals.propose_file(owner=stranger, path=file, name="x", actor=lifecycle_actor())
    assert again.new == {}
    assert len(lines_of(written(store.owner))) > 10


def lifecycle_actor() -> Any:
    from agents.audit import command

    return command("import_memories")


@pytest.mark.parametrize("approved", [True, False])
def test_what_a_deleted_assistant_knew_comes_to_its_heir(
    store: Store, file: Path, bob: User, approved: bool
) -> None:
    """The file names an assistant that is gone here; nobody would read its facts."""
    loom = Edit("The user has a loom.", kind=Kind.SEMANTIC)
    by = person(store.owner)
    for agent in (store.second, store.agent):
        handwritten.write(owner=store.owner, agent=agent, edit=loom, at=MONDAY, actor=by)
    text = written(store.owner)
    main, work = bob.agents.get(slug="main"), bob.agents.get(slug="work")
    retire(agent=work, heir=main, actor=person(bob))
    if approved:
        let_in(bob, text, file)
    else:
        file.write_text(text)
        proposals.propose_file(
            owner=bob, path=file, name="f", actor=person(bob), conflict=Conflict.SKIP
        )
    fact = Fact.objects.get(owner=bob, statement=loom.statement)
    assert (fact.agent, fact.state) == (main, State.ACTIVE if approved else State.PENDING)
    assert not Fact.objects.filter(agent=work, state__in=["active", "pending"]).exists()
    assert let_in(bob, text, file).new == {} or not approved
