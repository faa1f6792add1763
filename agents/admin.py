from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from agents import keys
from agents.accounts import furnish
from agents.audit import acting, person
from agents.desk_admin import AuditedAdmin, ReadOnlyAdmin, signed_in
from agents.long_lists import RecentValues
from agents.models import (
    Agent,
    ApiKey,
    AuditEvent,
    CallCount,
    OwnerSettings,
    PasswordTries,
    SignInToken,
    StoredReply,
    TextAccess,
    User,
)
from agents.password_forms import AdminPasswordForm

admin.site.login_form = AdminPasswordForm


@admin.register(User)
class OwnerAdmin(UserAdmin[User]):
    list_display = ("username", "email", "is_active", "is_staff", "is_superuser", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    date_hierarchy = "date_joined"
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        users = super().get_queryset(request)
        user = signed_in(request)
        return users if user.is_superuser else users.filter(pk=user.pk)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Only a superuser hands out rights."""
        fixed = super().get_readonly_fields(request, obj)
        if signed_in(request).is_superuser:
            return fixed
        return (*fixed, "is_staff", "is_superuser", "is_active", "groups", "user_permissions")

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """A new account gets its settings and its first assistant in the same transaction."""
        with acting(person(signed_in(request)), "account saved in the admin"):
            super().save_model(request, obj, form, change)
            if not change:
                furnish(obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(OwnerSettings)
class OwnerSettingsAdmin(AuditedAdmin[OwnerSettings]):
    holds_text = False
    sortable_by = None
    list_display = ("owner", "memory_enabled", "time_zone", "cap_per_agent", "cap_global")
    list_filter = ("memory_enabled",)
    list_select_related = ("owner",)
    search_fields = ("owner__username", "time_zone")
    readonly_fields = ("owner",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(Agent)
class AgentAdmin(AuditedAdmin[Agent]):
    holds_text = False
    sortable_by = None
    list_display = ("name", "slug", "owner", "reads", "is_default", "created_at")
    list_filter = ("reads", "is_default")
    list_select_related = ("owner",)
    search_fields = ("name", "slug", "owner__username")
    autocomplete_fields = ("owner",)
    date_hierarchy = "created_at"

    def get_readonly_fields(self, request: HttpRequest, obj: Agent | None = None) -> list[str]:
        """Assistants are deleted in their owner's settings, where what they know goes along."""
        fixed = ["created_at", "retired_at", "heir"]
        return ["owner", *fixed] if obj else fixed


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin[ApiKey]):
    """Keys are made in the settings, where they are shown once, and end by being revoked."""

    holds_text = False
    list_display = (
        "name",
        "prefix",
        "owner",
        "agent",
        "scopes",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    list_filter = (("revoked_at", admin.EmptyFieldListFilter),)
    list_select_related = ("owner", "agent")
    search_fields = ("name", "prefix", "owner__username")
    date_hierarchy = "created_at"
    exclude = ("digest",)
    actions = ("revoke",)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return signed_in(request).has_perm("agents.change_apikey")

    @admin.action(description="Revoke", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        actor = person(signed_in(request))
        for key in queryset:
            keys.revoke(key=key, actor=actor, reason="revoked in the admin")
        messages.success(request, f"Revoked: {queryset.count()}")


@admin.register(SignInToken)
class SignInTokenAdmin(ReadOnlyAdmin[SignInToken]):
    holds_text = False
    ordering = ("-expires_at",)
    owner_field = "user"
    id_fields = ()
    list_display = ("user", "expires_at", "used_at")
    list_select_related = ("user",)
    list_filter = (("used_at", admin.EmptyFieldListFilter),)
    search_fields = ("user__username",)
    fields = ("user", "expires_at", "used_at")


@admin.register(PasswordTries)
class PasswordTriesAdmin(ReadOnlyAdmin[PasswordTries]):
    owner_field = ""
    holds_text = False
    ordering = ("-since",)
    id_fields = ()
    list_display = ("digest", "tries", "since")
    search_fields = ("digest",)


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin[AuditEvent]):
    owner_field = "owner_id"
    list_display = ("at", "action", "table", "row_id", "actor", "reason", "context")
    list_filter = ("action", ("table", RecentValues))
    date_hierarchy = "at"
    search_fields = ("row_id",)
    id_fields = ()
    search_help_text = "The id of a row, or an actor such as person:ID, policy or command:NAME"

    def by_words(self, request: HttpRequest, rows: QuerySet[Any], words: str) -> QuerySet[Any]:
        """Compared as they are, so that the index on rows serves the search for one."""
        return rows.filter(Q(row_id=words.strip()) | Q(actor=words.strip()))


@admin.register(TextAccess)
class TextAccessAdmin(ReadOnlyAdmin[TextAccess]):
    holds_text = False
    id_fields = ("owner", "reader")
    list_display = ("at", "reader", "owner", "table", "rows", "row_id")
    list_filter = (("table", RecentValues),)
    list_select_related = ("owner", "reader")
    search_fields = ("=row_id", "reader__username", "owner__username")
    date_hierarchy = "at"


@admin.register(CallCount)
class CallCountAdmin(ReadOnlyAdmin[CallCount]):
    holds_text = False
    id_fields = ("client",)
    list_display = ("client", "kind", "calls", "minute", "owner")
    list_select_related = ("client", "owner")
    search_fields = ("client__name",)


@admin.register(StoredReply)
class StoredReplyAdmin(ReadOnlyAdmin[StoredReply]):
    id_fields = ("pk", "client")
    list_display = ("created_at", "client", "status", "kept", "purged", "owner")
    list_select_related = ("client", "owner")
    search_fields = ("client__name",)
    date_hierarchy = "created_at"
    exclude = ("name_digest", "call_digest")
