"""Lists of the admin that stay quick over millions of rows: none counts or sorts a whole table."""

from datetime import date, datetime
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import cached_property

COUNTED = 10_000  # rows; beyond them a list says "more than"


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts no further than it must; what lies behind is found by filters and search."""

    object_list: QuerySet[Any]

    @cached_property
    def count(self) -> int:
        return int(self.object_list.order_by()[: COUNTED + 1].count())


class LongList(ChangeList):
    """What the templates ask of a list beyond Django's own."""

    def get_results(self, request: HttpRequest) -> None:
        """Rows that are few are found first and sorted then. Left to choose, the planner walks the
        key backwards until it has met enough of them, which may be the whole table."""
        super().get_results(request)
        if self.result_count > COUNTED or self.model_admin.ordering != ("-pk",):
            return
        # By an expression, because no index can offer its order; what is shown is joined after.
        keys = self.queryset.order_by(Coalesce(F("pk"), F("pk")).desc()).values_list(
            "pk", flat=True
        )
        start = (self.page_num - 1) * self.list_per_page if self.multi_page else 0
        shown = list(keys[start : start + self.list_per_page]) if self.result_count else []
        self.result_list = self.queryset.filter(pk__in=shown)

    @property
    def more_than(self) -> int:
        """Where the count stopped; 0 when it did not."""
        return COUNTED if self.result_count > COUNTED else 0

    @property
    def first_year(self) -> int:
        """Of the oldest row, by the key, which is ordered by time."""
        oldest = self.root_queryset.order_by("pk").values_list(str(self.date_hierarchy), flat=True)
        found = oldest.first()
        if isinstance(found, datetime):
            return timezone.localtime(found).year
        return timezone.localdate().year

    def chosen(self, part: str) -> int | None:
        """The year, month or day that the hierarchy is at."""
        try:
            return int(self.params[f"{self.date_hierarchy}__{part}"])
        except (KeyError, ValueError):
            return None

    def link_to(self, **parts: int) -> str:
        lookups = {f"{self.date_hierarchy}__{part}": value for part, value in parts.items()}
        return self.get_query_string(lookups, [f"{self.date_hierarchy}__"])


class OwnChoices(admin.RelatedFieldListFilter):
    """Offers only rows that the admin shows to this person, and not thousands of them."""

    MOST = 50

    def field_choices(
        self, field: Any, request: HttpRequest, model_admin: admin.ModelAdmin[Any]
    ) -> list[tuple[str, Any]]:
        of_related = model_admin.admin_site.get_model_admin(field.remote_field.model)
        return [(str(row.pk), str(row)) for row in of_related.get_queryset(request)[: self.MOST]]


class RecentValues(admin.AllValuesFieldListFilter):
    """The values that the newest rows have; Django's own reads the whole table for all of them."""

    NEWEST = 2000  # rows

    def __init__(
        self,
        field: Any,
        request: HttpRequest,
        params: dict[str, Any],
        model: Any,
        model_admin: Any,
        field_path: str,
    ) -> None:
        super().__init__(field, request, params, model, model_admin, field_path)
        newest = model_admin.get_queryset(request).order_by("-pk")[: self.NEWEST]
        values = {value for value in newest.values_list(field_path, flat=True) if value}
        self.lookup_choices: Any = sorted(values)


def days_in(year: int, month: int) -> range:
    following = date(year + month // 12, month % 12 + 1, 1)
    return range(1, (following - date(year, month, 1)).days + 1)
