"""What may not come back by itself: texts that were purged or forgotten."""

from collections.abc import Iterable

from django.conf import settings

from agents.models import User
from conversations.models import Message
from memory.lifecycle.values import Source, Tombstoned
from memory.models import Fact, Forgotten, Tombstone
from memory.text.normal import text_hash, tombstone_digest
from memory.vocabulary import ArchivedReason, State


def digest_of(statement: str) -> str:
    return tombstone_digest(statement, settings.HASH_KEY.encode())


def barred(owner: User, statements: Iterable[str]) -> set[str]:
    """Those of the statements that were purged or forgotten, trivial re-wordings included."""
    digests = {statement: digest_of(statement) for statement in statements}
    hashes = {statement: text_hash(statement) for statement in digests}
    purged = Tombstone.objects.filter(owner=owner, digest__in=digests.values())
    forgotten = Forgotten.objects.filter(owner=owner, digest__in=digests.values())
    known = set(
        purged.values_list("digest").union(forgotten.values_list("digest")).values_list(
            "digest", flat=True
        )
    )  # fmt: skip
    # Forgotten by other hands than the lifecycle's: only the text itself tells.
    archived = set(
        Fact.objects.filter(
            owner=owner,
            text_hash__in=hashes.values(),
            state=State.ARCHIVED,
            archived_reason=ArchivedReason.FORGOTTEN,
        ).values_list("text_hash", flat=True)
    )
    return {s for s in digests if digests[s] in known or hashes[s] in archived}


def note_forgotten(fact: Fact) -> None:
    Forgotten.objects.update_or_create(
        fact=fact, defaults={"owner_id": fact.owner_id, "digest": digest_of(fact.statement)}
    )


def lift(fact: Fact) -> None:
    """The fact is back. Another forgotten or purged one with the same text still bars it."""
    Forgotten.objects.filter(fact=fact, owner=fact.owner_id).delete()


def standing(sources: Iterable[Source]) -> list[Source]:
    """Without those whose message was purged since it was read."""
    given = list(sources)
    gone = purged_among(given)
    return [source for source in given if source.message.pk not in gone]


def refuse_purged_sources(sources: Iterable[Source]) -> None:
    """Raises Tombstoned: what was read before a purge writes nothing back."""
    if purged_among(sources):
        raise Tombstoned


def purged_among(sources: Iterable[Source]) -> set[object]:
    read = [source.message.pk for source in sources]
    if not read:
        return set()
    purged = Message.objects.filter(pk__in=read, content=Message.PURGED)
    return set(purged.values_list("pk", flat=True))


def refuse_purged_facts(facts: Iterable[Fact]) -> None:
    """For whatever is made from facts, inside the transition that writes it. Raises Tombstoned."""
    ids = [fact.pk for fact in facts]
    gone = Fact.objects.filter(pk__in=ids, archived_reason=ArchivedReason.PURGED)
    if ids and gone.exists():
        raise Tombstoned
