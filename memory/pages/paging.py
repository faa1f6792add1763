"""Lists that are paged by a key: the next page starts after the last row shown, however many there
are, and rows that arrive meanwhile shift nothing."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet

PAGE = 30
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Listing(Generic[Row]):
    rows: list[Row]
    next_key: str


def newest_first(rows: QuerySet[Row], field: str, after: str, size: int = PAGE) -> Listing[Row]:
    """Ordered by a moment that every row has, then by id. A key that makes no sense starts anew."""
    place = _parse(after)
    if place is not None:
        moment, last = place
        # The first condition is what the index can start from.
        rows = rows.filter(**{f"{field}__lte": moment})
        rows = rows.filter(Q(**{f"{field}__lt": moment}) | Q(pk__lt=last))
    found = list(rows.order_by(f"-{field}", "-pk")[: size + 1])
    shown = found[:size]
    more = len(found) > size
    return Listing(shown, f"{getattr(shown[-1], field).isoformat()}_{shown[-1].pk}" if more else "")


def _parse(after: str) -> tuple[datetime, UUID] | None:
    moment, _, last = after.partition("_")
    try:
        place = datetime.fromisoformat(moment), UUID(last)
    except ValueError:
        return None
    return place if place[0].tzinfo is not None else None
