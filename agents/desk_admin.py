"""How every table of ours behaves in the admin: scoped, quick on long lists, and read-only unless a
class says otherwise. The rules of the database hold here as everywhere."""

from typing import Any, TypeVar
from uuid import UUID

from django.contrib import admin
from django.db.models import ForeignKey, Model, Q, QuerySet
from django.http import HttpRequest

from agents.audit import acting, person
from agents.models import User

Row = TypeVar("Row", bound=Model)


def signed_in(request: HttpRequest) -> User:
    """The admin lets nobody else in."""
    if not isinstance(request.user, User):
        raise TypeError("The admin needs a signed-in user.")
    return request.user


class ScopedAdmin(admin.ModelAdmin[Row]):
    """Superusers see every owner's rows, other staff only their own."""

    owner_field = "owner"
    # What a whole id in the search box may be; none where the primary key is something else.
    id_fields: tuple[str, ...] = ("pk",)
    show_full_result_count = False
    list_per_page = 50
    save_on_top = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Row]:
        rows = super().get_queryset(request)
        user = signed_in(request)
        return rows if user.is_superuser else rows.filter(**{self.owner_field: user.pk})

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
