"""What consolidation did, in the admin: read-only, ids and numbers."""

from django.contrib import admin

from agents.desk_admin import ReadOnlyAdmin
from memory.models import ConsolidationChange, ConsolidationRun, ConsolidationSchedule


@admin.register(ConsolidationRun)
class ConsolidationRunAdmin(ReadOnlyAdmin[ConsolidationRun]):
    holds_text = False
    list_display = ("started_at", "owner", "trigger", "state", "did", "stopped_by")
    list_filter = ("state", "trigger", "stopped_by")
    list_select_related = ("owner",)
    date_hierarchy = "started_at"


@admin.register(ConsolidationChange)
class ConsolidationChangeAdmin(ReadOnlyAdmin[ConsolidationChange]):
    holds_text = False
    id_fields = ("pk", "run")
    list_display = ("at", "stage", "action", "reason", "held", "undone_at", "owner")
    list_filter = ("held",)
    list_select_related = ("owner",)
    search_fields = ("=run__pk",)
    search_help_text = "An id: its own or its run's"


@admin.register(ConsolidationSchedule)
class ConsolidationScheduleAdmin(ReadOnlyAdmin[ConsolidationSchedule]):
    holds_text = False
    id_fields = ("owner",)
    list_display = ("owner", "last_run_at", "last_started_at", "requested_at")
    list_select_related = ("owner",)
