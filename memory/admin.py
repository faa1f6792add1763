"""Every table of the memory. States change only through the lifecycle's actions."""

from django.contrib import admin

from agents.desk_admin import ReadOnlyAdmin, ReadOnlyInline
from agents.long_lists import RecentValues
from memory import (  # noqa: F401  (they register theirs)
    admin_bulk,
    admin_consolidation,
    admin_derived,
    admin_facts,
    admin_rules,
)
from memory.models import (
    CorrectionTarget,
    DroppedCandidate,
    Entity,
    EntityAlias,
    Evidence,
    ExtractionRun,
    FactEmbedding,
    FactEntity,
    FactUsage,
    Heartbeat,
    OwnerLease,
    RecalledAhead,
    RecalledFact,
    Tombstone,
)


@admin.register(Evidence)
class EvidenceAdmin(ReadOnlyAdmin[Evidence]):
    list_display = ("quote", "fact", "message", "owner", "created_at")
    list_select_related = ("fact", "message", "owner")
    search_fields = ("=fact__pk",)
    search_help_text = "An id: its own, its fact's or its message's"
    id_fields = ("pk", "fact", "message")
    date_hierarchy = "created_at"


@admin.register(CorrectionTarget)
class CorrectionTargetAdmin(ReadOnlyAdmin[CorrectionTarget]):
    holds_text = False
    id_fields = ("pk", "fact", "target")
    list_display = ("fact", "target", "open", "owner")
    list_filter = ("open",)
    list_select_related = ("fact", "target", "owner")
    search_fields = ("=fact__pk",)


@admin.register(FactEmbedding)
class FactEmbeddingAdmin(ReadOnlyAdmin[FactEmbedding]):
    holds_text = False
    id_fields = ("fact",)
    list_display = ("fact", "model", "owner")
    list_filter = (("model", RecentValues),)
    list_select_related = ("fact", "owner")
    exclude = ("vector",)


@admin.register(FactUsage)
class FactUsageAdmin(ReadOnlyAdmin[FactUsage]):
    holds_text = False
    id_fields = ("fact",)
    list_display = ("fact", "retrieval_hits", "last_retrieved_at", "owner")
    list_select_related = ("fact", "owner")
    list_filter = ("last_retrieved_at",)


class AliasInline(ReadOnlyInline):
    model = EntityAlias
    fields = ("name", "normal_name")


@admin.register(Entity)
class EntityAdmin(ReadOnlyAdmin[Entity]):
    list_display = ("name", "type", "owner")
    list_filter = ("type",)
    list_select_related = ("owner",)
    search_fields = ("name", "owner__username")
    inlines = (AliasInline,)


@admin.register(EntityAlias)
class EntityAliasAdmin(ReadOnlyAdmin[EntityAlias]):
    id_fields = ("entity",)
    list_display = ("name", "entity", "owner")
    list_select_related = ("entity", "owner")
    search_fields = ("name",)


@admin.register(FactEntity)
class FactEntityAdmin(ReadOnlyAdmin[FactEntity]):
    id_fields = ("fact", "entity")
    list_display = ("entity", "fact", "owner")
    list_select_related = ("entity", "fact", "owner")
    search_fields = ("entity__name",)


@admin.register(Tombstone)
class TombstoneAdmin(ReadOnlyAdmin[Tombstone]):
    holds_text = False
    id_fields = ()
    list_display = ("owner", "created_at")
    list_select_related = ("owner",)
    date_hierarchy = "created_at"
    exclude = ("digest",)


class DroppedInline(ReadOnlyInline):
    model = DroppedCandidate
    fields = ("gate", "statement", "detail", "quote")


@admin.register(ExtractionRun)
class ExtractionRunAdmin(ReadOnlyAdmin[ExtractionRun]):
    id_fields = ("pk", "conversation")
    list_display = (
        "started_at",
        "state",
        "conversation",
        "owner",
        "trigger",
        "attempt",
        "observer",
        "prompt_version",
        "input_tokens",
        "output_tokens",
        "error",
    )
    list_filter = (
        "state",
        "trigger",
        ("observer", RecentValues),
        ("prompt_version", RecentValues),
        ("route", RecentValues),
    )
    list_select_related = ("conversation", "owner")
    search_fields = ("=conversation__external_id", "owner__username")
    search_help_text = "An id, or a conversation's external id"
    date_hierarchy = "started_at"
    inlines = (DroppedInline,)


@admin.register(DroppedCandidate)
class DroppedCandidateAdmin(ReadOnlyAdmin[DroppedCandidate]):
    id_fields = ("pk", "run")
    list_display = ("statement", "gate", "detail", "run", "owner", "created_at")
    list_filter = ("gate",)
    list_select_related = ("run", "owner")
    search_fields = ("statement",)
    date_hierarchy = "created_at"


@admin.register(OwnerLease)
class OwnerLeaseAdmin(ReadOnlyAdmin[OwnerLease]):
    holds_text = False
    id_fields = ("owner",)
    list_display = ("owner", "expires_at")
    list_select_related = ("owner",)
    exclude = ("token",)


@admin.register(RecalledAhead)
class RecalledAheadAdmin(ReadOnlyAdmin[RecalledAhead]):
    id_fields = ("fact", "agent")
    list_display = ("fact", "agent", "source", "external_id", "recalled_at", "owner")
    list_select_related = ("fact", "agent", "owner")
    list_filter = ("recalled_at",)


@admin.register(RecalledFact)
class RecalledFactAdmin(ReadOnlyAdmin[RecalledFact]):
    id_fields = ("fact", "conversation")
    list_display = ("fact", "conversation", "recalled_at", "owner")
    list_select_related = ("fact", "conversation", "owner")
    date_hierarchy = "recalled_at"


@admin.register(Heartbeat)
class HeartbeatAdmin(ReadOnlyAdmin[Heartbeat]):
    owner_field = ""
    holds_text = False
    id_fields = ()
    list_display = ("host", "at", "embedding_model")
    search_fields = ("host",)
