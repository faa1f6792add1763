"""How every table of ours behaves in the admin: scoped, quick on long lists, and read-only unless a
class says otherwise. The rules of the database hold here as everywhere."""

from typing import Any, ClassVar, TypeVar
from uuid import UUID

from django.contrib import admin
from django.db.models import ForeignKey, Model, Q, QuerySet
from django.http import HttpRequest

from agents import readings
from agents.audit import acting, person
from agents.long_lists import BoundedPaginator, LongList
from agents.models import User

Row = TypeVar("Row", bound=Model)


def signed_in(request: HttpRequest) -> User:
    """The admin lets nobody else in."""
    if not isinstance(request.user, User):
        raise TypeError("The admin needs a signed-in user.")
    return request.user


class ScopedAdmin(admin.ModelAdmin[Row]):
    """Superusers see every owner's rows, other staff only their own.

    Where rows hold what owners said, a superuser needs the permission to read it as well, and each
    reading is noted (agents/readings.py).
    """

    # Empty: rows of the server, which belong to no owner.
    owner_field = "owner"
    holds_text = True
    # What a whole id in the search box may be; none where the primary key is something else.
    id_fields: tuple[str, ...] = ("pk",)
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # they count the table once for each choice
    paginator = BoundedPaginator
    ordering: ClassVar[Any] = ("-pk",)
    sortable_by: ClassVar[Any] = ()
    list_per_page = 50
    list_max_show_all = 0
    save_on_top = False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[LongList]:
        return LongList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Row]:
        rows = super().get_queryset(request)
        if self.sees_everybody(request):
            return rows
        if not self.owner_field:
            return rows.none()
        return rows.filter(**{self.owner_field: signed_in(request).pk})

    def sees_everybody(self, request: HttpRequest) -> bool:
        user = signed_in(request)
        if not self.holds_text or not user.is_superuser:
            return user.is_superuser
        # A list in a pop-up of suggestions leaves no reading behind, so it shows nobody else's.
        return not request.path.endswith("/autocomplete/") and readings.may_read_others(user)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        answer = super().changelist_view(request, (extra_context or {}) | self.whose(request))
        shown = getattr(answer, "context_data", None) or {}
        if self.holds_text and "cl" in shown:
            self.note(request, list(shown["cl"].result_list))
        return answer

    def whose(self, request: HttpRequest) -> dict[str, str]:
        user = signed_in(request)
        if not user.is_superuser or self.sees_everybody(request):
            return {}
        return {
            "subtitle": "Your own rows. To see those of others you need the permission "
            "“Can read the memory of other owners”, given to you by name; each reading is noted."
        }

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        row = super().get_object(request, object_id, from_field)
        if row is not None and self.holds_text:
            self.note(request, [row], row_id=str(row.pk))
        return row

    def note(self, request: HttpRequest, rows: list[Any], row_id: str = "") -> None:
        owners = [getattr(row, f"{self.owner_field.removesuffix('_id')}_id") for row in rows]
        table = self.model._meta.db_table
        readings.note(reader=signed_in(request), table=table, owners=owners, row_id=row_id)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """A whole id is looked up as the key it is; anything else is searched for as words."""
        row_id = _as_id(search_term)
        if row_id is not None and self.id_fields:
            found = Q()
            for field in self.id_fields:
                found |= Q(**{field: row_id})
            return queryset.filter(found), False
        if not search_term.strip():
            return queryset, False
        return self.by_words(request, queryset, search_term), True

    def by_words(self, request: HttpRequest, rows: QuerySet[Any], words: str) -> QuerySet[Any]:
        return super().get_search_results(request, rows, words)[0]


class ReadOnlyAdmin(ScopedAdmin[Row]):
    """What was said, what was done and what is derived: to be looked at, changed by nobody here."""

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Every column, those that no form may hold included."""
        hidden = self.exclude or ()
        columns = [field.name for field in self.model._meta.concrete_fields]
        shown: Any = self.fields or [name for name in columns if name not in hidden]
        return list(shown)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class AuditedAdmin(ScopedAdmin[Row]):
    """Rows that may be edited; the audit trail learns by whom. Deleting is for services to do."""

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Other staff make rows for themselves only."""
        user = signed_in(request)
        if db_field.related_model is User and not user.is_superuser:
            kwargs["queryset"] = User.objects.filter(pk=user.pk)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Row, form: Any, change: bool) -> None:
        with acting(person(signed_in(request)), "changed in the admin"):
            super().save_model(request, obj, form, change)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyInline(admin.TabularInline[Any, Any]):
    extra = 0
    can_delete = False
    show_change_link = True

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        shown: Any = self.fields or ()
        return list(shown)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _as_id(term: str) -> UUID | None:
    try:
        return UUID(term.strip())
    except ValueError:
        return None
