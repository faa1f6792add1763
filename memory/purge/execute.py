"""Does it, batch by batch. Each batch is one transaction, serialised with the owner's transitions,
and takes the extraction's lease away, so that no job writes back what it read before.

To go on after a stop, do the same again: what is gone is not chosen any more.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from agents.access import agents_of, keys_of
from agents.audit import Actor, acting
from agents.models import User
from conversations.models import Conversation, Import, Message
from memory import lifecycle
from memory.extraction import lease
from memory.lifecycle.clearing import in_force, release_corrections, stand_again
from memory.lifecycle.returns import digest_of
from memory.lifecycle.rows import need_person, transition
from memory.models import Fact
from memory.purge import further
from memory.purge.reach import Reach, reach_of
from memory.purge.selection import Selection
from memory.vocabulary import ArchivedReason, State

FACTS, MESSAGES, REST = 200, 500, 1000  # in one transaction
ATTEMPTS = 5
LIVE = (State.PENDING, State.ACTIVE)

# Told after each batch how much is done.
Tell = Callable[[int], None]


class StillThere(RuntimeError):
    """A batch is done and yet chosen again: going on would never end."""


class Moved(Exception):
    """What a batch touches grew before its locks were taken."""


def say_nothing(done: int) -> None:
    pass


def forget(*, selection: Selection, actor: Actor, tell: Tell = say_nothing) -> int:
    """Archives what is pending or active, and bars it from being learned again. The number.

    Raises NotAllowed. What somebody decides over meanwhile is left as it was decided.
    """
    need_person(actor, selection.owner)
    forgotten, last = 0, None
    while True:
        left = selection.chosen_facts().filter(state__in=LIVE).order_by("pk")
        rows = list((left.filter(pk__gt=last) if last else left).select_related("owner")[:FACTS])
        if not rows:
            return forgotten
        last = rows[-1].pk
        done = sum(_archive(row, actor) for row in rows)
        forgotten += done
        tell(done)


def _archive(fact: Fact, actor: Actor) -> bool:
    try:
        lifecycle.archive(fact=fact, why=ArchivedReason.FORGOTTEN, actor=actor)
    except lifecycle.LifecycleError:
        return False
    return True


def purge(*, selection: Selection, actor: Actor, tell: Tell = say_nothing) -> Counter[str]:
    """What was erased: facts, messages, titles, candidates, entities. Raises NotAllowed."""
    need_person(actor, selection.owner)
    erased: Counter[str] = Counter()
    for share in _shares(selection):
        done = _erase(selection.owner, actor, **share)
        erased.update(done)
        tell(done["facts"] + done["messages"])
    if selection.everything:
        with acting(actor, "purge"):
            files = Import.objects.filter(owner=selection.owner).exclude(file_name=Message.PURGED)
            files.update(file_name=Message.PURGED)
    return erased


def erase(
    *,
    owner: User,
    actor: Actor,
    facts: Sequence[UUID] = (),
    messages: Sequence[UUID] = (),
    talks: Sequence[UUID] = (),
    others: Sequence[UUID] = (),
) -> dict[str, int]:
    """Rows that the caller chose, in one transaction, with what hangs on them: `talks` are
    conversations that lose their titles too, `others` rows of any other table that a purge knows.
    What was erased. Raises NotAllowed."""
    need_person(actor, owner)
    return _erase(owner, actor, facts, messages, talks, others)


def _shares(selection: Selection) -> Iterator[dict[str, Sequence[UUID]]]:
    for ids in _batches(lambda: selection.chosen_facts().order_by("pk"), FACTS):
        yield {"facts": ids}
    said = selection.chosen_messages().order_by("conversation", "seq")
    for ids in _batches(said.all, MESSAGES):
        yield {"messages": ids}
    yield from _cut("talks", selection.chosen_conversations().values_list("pk", flat=True))
    yield from _cut("others", sorted(selection.chosen_others()))


def _cut(name: str, ids: Iterable[UUID]) -> Iterator[dict[str, Sequence[UUID]]]:
    rows = list(ids)
    for start in range(0, len(rows), REST):
        yield {name: rows[start : start + REST]}


def _batches(left: Callable[[], QuerySet[Any]], size: int) -> Iterator[list[UUID]]:
    """What is left, asked anew after each batch."""
    before: list[UUID] = []
    while ids := list(left().values_list("pk", flat=True)[:size]):
        if ids == before:
            raise StillThere(f"{len(ids)} rows were purged and are still there.")
        before = ids
        yield ids


def _erase(
    owner: User,
    actor: Actor,
    facts: Sequence[UUID] = (),
    messages: Sequence[UUID] = (),
    talks: Sequence[UUID] = (),
    others: Sequence[UUID] = (),
) -> dict[str, int]:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _erase_once(owner, actor, facts, messages, talks, others)
        except Moved:
            if attempt == ATTEMPTS:
                raise
    raise AssertionError("unreachable")


def _erase_once(
    owner: User,
    actor: Actor,
    facts: Sequence[UUID],
    messages: Sequence[UUID],
    talks: Sequence[UUID],
    others: Sequence[UUID],
) -> dict[str, int]:
    """Order of locks: rows of other apps, the lease, the conversations, then facts: as extraction
    takes them."""
    with acting(actor, "purge"):
        further.hold(owner, others)
        lease.seize(owner)
        touched = _conversations(owner, facts, messages, talks, others)
        _lock(touched)
        with transition(owner, actor, "purge"):
            if not _conversations(owner, facts, messages, talks, others) <= touched:
                raise Moved
            along = further.hanging(owner, others)
            facts, messages = [*facts, *along.facts], [*messages, *along.messages]
            talks = [*talks, *along.talks]
            reach = reach_of(owner, facts, messages)
            merges = in_force(reach.derived)
            release_corrections(reach.facts)
            digests = sorted({*_digests(reach), *further.hashes_among(owner, others)})
            erased = _call(owner, actor, facts, messages, talks, others, digests)
            stand_again(merges)
            return erased


def _conversations(
    owner: User,
    facts: Sequence[UUID],
    messages: Sequence[UUID],
    talks: Collection[UUID],
    others: Collection[UUID],
) -> set[UUID]:
    along = further.hanging(owner, others)
    reach = reach_of(owner, [*facts, *along.facts], [*messages, *along.messages])
    said = Message.objects.filter(pk__in=reach.messages).order_by()
    return {*talks, *along.talks, *said.values_list("conversation", flat=True).distinct()}


def _lock(conversations: Collection[UUID]) -> None:
    rows = Conversation.objects.select_for_update(no_key=True).filter(pk__in=conversations)
    list(rows.order_by("pk").values_list("pk"))


def _digests(reach: Reach) -> list[str]:
    statements = Fact.objects.filter(pk__in=reach.facts).values_list("statement", flat=True)
    return sorted({digest_of(statement) for statement in statements})


def _call(owner: User, actor: Actor, *values: Sequence[UUID] | Sequence[str]) -> dict[str, int]:
    *ids, digests = map(list, values)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT remembrancer_purge(%s, %s::uuid[], %s::uuid[], %s::uuid[], %s::uuid[],"
            " %s::text[], %s)",
            [owner.pk, *ids, digests, actor.name],
        )
        (erased,) = cursor.fetchone()
    return dict(json.loads(erased))


def purge_names(*, owner: User, actor: Actor, more: Iterable[UUID] = ()) -> None:
    """What the trail tells of the names of an account's agents and keys, and of `more` rows."""
    named = [
        *agents_of(owner).values_list("pk", flat=True),
        *keys_of(owner).values_list("pk", flat=True),
        *more,
    ]
    with transition(owner, actor, "account closed"):
        _call(owner, actor, (), (), (), named, ())
