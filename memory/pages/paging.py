"""Lists that are paged by a key: the next page starts after the last row shown, however many there
are, and rows that arrive meanwhile shift nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from django.utils import timezone

PAGE = 30
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Listing(Generic[Row]):
    rows: list[Row]
    next_key: str


def newest_first(rows: QuerySet[Row], field: str, after: str, size: int = PAGE) -> Listing[Row]:
    """Ordered by a moment that every row has, then by id. A key that makes no sense starts anew."""
    found = list(_from(rows, field, after, falling=True)[: size + 1])
    return _listing(found, size, lambda row: _key(getattr(row, field), row.pk))


def by_moment(
    rows: QuerySet[Row], field: str, after: str, *, falling: bool, size: int = PAGE
) -> Listing[Row]:
    """As newest_first, in either direction, and in two steps: the keys of the page alone, which an
    index that covers the conditions answers by itself, then the rows behind them."""
    keys = _from(rows, field, after, falling=falling).values_list(field, "pk")[: size + 1]
    places = list(keys)
    page = rows.model._default_manager.filter(pk__in=[pk for _, pk in places[:size]])
    page.query.select_related = rows.query.select_related
    found = {row.pk: row for row in page}
    shown = [found[pk] for _, pk in places[:size] if pk in found]
    return Listing(shown, _key(*places[size - 1]) if len(places) > size else "")


def is_key(text: str) -> bool:
    return _parse(text) is not None


def _from(rows: QuerySet[Row], field: str, after: str, *, falling: bool) -> QuerySet[Row]:
    place = _parse(after)
    if place is not None:
        moment, last = place
        way = "lt" if falling else "gt"
        # The first condition is what the index can start from.
        rows = rows.filter(**{f"{field}__{way}e": moment})
        rows = rows.filter(Q(**{f"{field}__{way}": moment}) | Q(**{f"pk__{way}": last}))
    sign = "-" if falling else ""
    return rows.order_by(f"{sign}{field}", f"{sign}pk")


def _listing(found: list[Row], size: int, key: Callable[[Row], str]) -> Listing[Row]:
    shown = found[:size]
    return Listing(shown, key(shown[-1]) if len(found) > size else "")


def _key(moment: datetime, pk: Any) -> str:
    return f"{moment.isoformat()}_{pk}"


def _parse(after: str) -> tuple[datetime, UUID] | None:
    moment, _, last = after.partition("_")
    try:
        place = datetime.fromisoformat(moment), UUID(last)
    except ValueError:
        return None
    return place if place[0].tzinfo is not None else None


def day_of(text: str) -> datetime | None:
    """The start of a day on the owner's clock; None where the text names none that can be looked
    for in every zone."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    if not 1000 <= day.year <= 9998:
        return None
    return timezone.make_aware(datetime.combine(day, time.min))
