"""Every table of the memory. States change only through the lifecycle's actions."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from agents.audit import person
from agents.desk_admin import ReadOnlyAdmin, ReadOnlyInline, signed_in
from memory import lifecycle
from memory.models import (
    CorrectionTarget,
    DroppedCandidate,
    Entity,
    EntityAlias,
    Evidence,
    ExtractionRun,
    Fact,
    FactEmbedding,
    FactEntity,
    FactUsage,
    OwnerLease,
    RecalledAhead,
    RecalledFact,
    Tombstone,
)
from memory.review.search import matching
from memory.sensitive.hidden import show_hidden
from memory.vocabulary import ArchivedReason

REASON = "done in the admin"


class EvidenceInline(ReadOnlyInline):
    model = Evidence
    fields = ("message", "quote", "created_at")
    fk_name = "fact"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("message")


class TargetInline(ReadOnlyInline):
    model = CorrectionTarget
    fields = ("target", "open")
    fk_name = "fact"
    verbose_name_plural = "would supersede"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("target")


@admin.register(Fact)
class FactAdmin(ReadOnlyAdmin[Fact]):
    list_display = (
        "says",
        "state",
        "kind",
        "owner",
        "agent",
        "origin",
        "confidence",
        "pinned",
        "prompt_version",
        "created_at",
    )
    list_filter = ("state", "kind", "origin", "pinned", "archived_reason")
    list_select_related = ("owner", "agent")
    search_fields = ("statement",)
    search_help_text = "An id (its own, its run's or conversation's), or words in the statement"
    id_fields = ("pk", "run", "conversation")
    date_hierarchy = "created_at"
    exclude = ("search",)
    inlines = (EvidenceInline, TargetInline)
    actions = ("confirm", "reject", "archive", "restore", "reconsider")

    @admin.display(description="statement", ordering="statement")
    def says(self, fact: Fact) -> str:
        return show_hidden(fact.statement)

    def by_words(self, request: HttpRequest, rows: QuerySet[Any], words: str) -> QuerySet[Any]:
        return matching(rows, words)

    def has_review_permission(self, request: HttpRequest) -> bool:
        return signed_in(request).has_perm("memory.change_fact")

    @admin.action(description="Confirm", permissions=["review"])
    def confirm(self, request: HttpRequest, queryset: QuerySet[Fact]) -> None:
        _each(request, queryset, "Confirmed", lifecycle.confirm)

    @admin.action(description="Reject", permissions=["review"])
    def reject(self, request: HttpRequest, queryset: QuerySet[Fact]) -> None:
        _each(request, queryset, "Rejected", lifecycle.reject)

    @admin.action(description="Forget (archive)", permissions=["review"])
    def archive(self, request: HttpRequest, queryset: QuerySet[Fact]) -> None:
        step = partial(lifecycle.archive, why=ArchivedReason.FORGOTTEN)
        _each(request, queryset, "Archived", step)

    @admin.action(description="Restore", permissions=["review"])
    def restore(self, request: HttpRequest, queryset: QuerySet[Fact]) -> None:
        _each(request, queryset, "Restored", lifecycle.restore)

    @admin.action(description="Reconsider", permissions=["review"])
    def reconsider(self, request: HttpRequest, queryset: QuerySet[Fact]) -> None:
        _each(request, queryset, "Waiting again", lifecycle.reconsider)


def _each(
    request: HttpRequest, facts: QuerySet[Fact], done: str, step: Callable[..., Fact]
) -> None:
    """Each row is a transaction of its own; one that is refused stops no other, and says why."""
    actor = person(signed_in(request))
    changed = 0
    for fact in facts.select_related("owner"):
        try:
            step(fact=fact, actor=actor, reason=REASON)
        except lifecycle.LifecycleError as refusal:
            messages.error(request, f"{show_hidden(fact.statement)} – {refusal}")
        else:
            changed += 1
    if changed:
        messages.success(request, f"{done}: {changed}")


@admin.register(Evidence)
class EvidenceAdmin(ReadOnlyAdmin[Evidence]):
    list_display = ("quote", "fact", "message", "owner", "created_at")
    list_select_related = ("fact", "message", "owner")
    search_fields = ("fact__statement",)
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
    search_fields = ("fact__statement",)


@admin.register(FactEmbedding)
class FactEmbeddingAdmin(ReadOnlyAdmin[FactEmbedding]):
    holds_text = False
    id_fields = ("fact",)
    list_display = ("fact", "model", "owner")
    list_filter = ("model",)
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
    list_filter = ("state", "trigger", "observer", "prompt_version", "route")
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
