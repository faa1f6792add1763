"""What waits for the owner, in the order in which it is worked through."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, zip_longest
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet

from agents.models import User
from conversations.models import Conversation
from memory.models import CorrectionTarget, Evidence, Fact
from memory.review.cards import Card, card
from memory.scope import facts_of
from memory.vocabulary import State

PAGE = 20
NO_CONVERSATION = "-"
# Nobody needs to know how many more there are, and counting them is not free.
COUNTED = 1_000


@dataclass(frozen=True, slots=True)
class Group:
    """Candidates of one conversation; without one they were proposed directly."""

    conversation: Conversation | None
    cards: list[Card]


@dataclass(frozen=True, slots=True)
class QueuePage:
    groups: list[Group]
    next_key: str
    previous_key: str = ""

    @property
    def cards(self) -> list[Card]:
        return [card for group in self.groups for card in group.cards]


def pending(owner: User) -> QuerySet[Fact]:
    return facts_of(owner).filter(state=State.PENDING)


def waiting(owner: User, now: datetime) -> QuerySet[Fact]:
    awake = Q(snoozed_until__isnull=True) | Q(snoozed_until__lte=now)
    return pending(owner).filter(awake)


def snoozed(owner: User, now: datetime) -> QuerySet[Fact]:
    """The next one to come back first."""
    asleep = pending(owner).filter(snoozed_until__gt=now)
    return asleep.select_related("agent", "conversation").order_by("snoozed_until", "pk")


def count(owner: User, now: datetime) -> int:
    """COUNTED stands for that many or more."""
    return waiting(owner, now).order_by()[:COUNTED].count()


def oldest_waiting(owner: User, now: datetime) -> datetime | None:
    """Since when the candidate that has waited longest has been waiting."""
    rows = waiting(owner, now).order_by("created_at", "pk")
    return rows.values_list("created_at", flat=True).first()


def page(owner: User, now: datetime, after: str = "", size: int = PAGE) -> QueuePage:
    """The candidates that follow the key `after`; a key that makes no sense starts anew."""
    # The index finds the rows by itself; joined at once, all that follow would be read and sorted.
    rows = _after(waiting(owner, now), after).order_by("-conversation_id", "pk")
    ids = list(rows.values_list("pk", flat=True)[: size + 1])
    facts = list(with_details(facts_of(owner).filter(pk__in=ids)))
    shown, more = facts[:size], len(facts) > size
    return QueuePage(groups=groups(shown), next_key=key(shown[-1]) if more else "")


def before(owner: User, now: datetime, fact: Fact) -> Fact | None:
    """The candidate that stands before this one."""
    rows, conversation = waiting(owner, now), fact.conversation_id
    direct = rows.filter(conversation__isnull=True).order_by("-pk")
    if conversation is None:
        return direct.filter(pk__lt=fact.pk).first()
    # The first condition is what the index can start from.
    later = rows.filter(conversation__gte=conversation).filter(
        Q(conversation__gt=conversation) | Q(pk__lt=fact.pk)
    )
    return later.order_by("conversation_id", "-pk").first() or direct.first()


def groups(facts: Sequence[Fact]) -> list[Group]:
    cards = [card(fact, next_fact) for fact, next_fact in zip_longest(facts, facts[1:])]
    return [
        Group(conversation=conversation, cards=list(members))
        for conversation, members in groupby(cards, key=lambda card: card.fact.conversation)
    ]


def one(fact: Fact, heard: Q | None = None) -> Card:
    """The card of a single candidate, with what it needs loaded anew."""
    return card(with_details(facts_of(fact.owner).filter(pk=fact.pk), heard).get())


def key(fact: Fact) -> str:
    return f"{fact.conversation_id or NO_CONVERSATION}.{fact.pk}"


def _after(facts: QuerySet[Fact], after: str) -> QuerySet[Fact]:
    """Ids are in the order of time: the newest conversation first, its candidates as they came.

    What has no conversation comes first, as NULL does in a descending index.
    """
    place = _parse(after)
    if place is None:
        return facts
    conversation, last = place
    if conversation is None:
        return facts.filter(Q(conversation__isnull=False) | Q(pk__gt=last))
    # The first condition is what the index can start from.
    return facts.filter(conversation__lte=conversation).filter(
        Q(conversation__lt=conversation) | Q(pk__gt=last)
    )


def _parse(after: str) -> tuple[UUID | None, UUID] | None:
    conversation, _, fact = after.partition(".")
    try:
        return None if conversation == NO_CONVERSATION else UUID(conversation), UUID(fact)
    except ValueError:
        return None


def with_details(facts: QuerySet[Fact], heard: Q | None = None) -> QuerySet[Fact]:
    """All that a card shows, in a number of queries that does not grow with the rows.

    `heard`: the evidence that the reader may see; all of it without.
    """
    targets = CorrectionTarget.objects.filter(open=True).select_related("target__agent")
    evidence = Evidence.objects.filter(heard or Q()).select_related("message")
    return (
        facts.select_related("owner", "agent", "run", "conversation__agent", "similar_to")
        .prefetch_related(Prefetch("targets", targets), Prefetch("evidence", evidence))
        .order_by("-conversation_id", "pk")
    )
