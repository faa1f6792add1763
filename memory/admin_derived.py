"""What the daily work makes and keeps: cases, reflections, profiles, merges, requests, mails."""

from django.contrib import admin

from agents.desk_admin import ReadOnlyAdmin, ReadOnlyInline
from agents.long_lists import OwnChoices, RecentValues
from memory.models import (
    BulkItem,
    Case,
    CaseEmbedding,
    CaseReading,
    CaseSource,
    Derivation,
    DigestMail,
    EntityMerge,
    FactCount,
    ForgetRequest,
    Forgotten,
    Profile,
    ProfileCitation,
    ProfileSentence,
    Reflection,
    ReviewDigest,
    Webhook,
    WebhookDelivery,
)


class CaseSourceInline(ReadOnlyInline):
    model = CaseSource
    fields = ("message", "cited")
    fk_name = "case"


@admin.register(Case)
class CaseAdmin(ReadOnlyAdmin[Case]):
    list_display = ("goal", "state", "quality", "owner", "agent", "origin", "created_at")
    list_filter = ("state", "quality", "origin", ("agent", OwnChoices))
    list_select_related = ("owner", "agent")
    search_fields = ("=conversation__pk",)
    id_fields = ("pk", "conversation")
    date_hierarchy = "created_at"
    exclude = ("search",)
    inlines = (CaseSourceInline,)


@admin.register(CaseSource)
class CaseSourceAdmin(ReadOnlyAdmin[CaseSource]):
    holds_text = False
    id_fields = ("case", "message")
    list_display = ("case_id", "message_id", "cited", "owner")
    list_select_related = ("owner",)


@admin.register(CaseEmbedding)
class CaseEmbeddingAdmin(ReadOnlyAdmin[CaseEmbedding]):
    holds_text = False
    id_fields = ("case",)
    list_display = ("case_id", "model", "owner")
    list_filter = (("model", RecentValues),)
    list_select_related = ("owner",)
    exclude = ("vector",)


@admin.register(CaseReading)
class CaseReadingAdmin(ReadOnlyAdmin[CaseReading]):
    holds_text = False
    id_fields = ("conversation",)
    list_display = ("conversation_id", "seq", "failures", "read_at", "owner")
    list_select_related = ("owner",)


@admin.register(Derivation)
class DerivationAdmin(ReadOnlyAdmin[Derivation]):
    holds_text = False
    id_fields = ("fact", "source")
    list_display = ("fact_id", "source_id", "owner")
    list_select_related = ("owner",)


@admin.register(Reflection)
class ReflectionAdmin(ReadOnlyAdmin[Reflection]):
    holds_text = False
    list_display = ("at", "agent", "owner")
    list_select_related = ("agent", "owner")
    exclude = ("digest",)


class SentenceInline(ReadOnlyInline):
    model = ProfileSentence
    fields = ("place", "text")
    fk_name = "profile"


@admin.register(Profile)
class ProfileAdmin(ReadOnlyAdmin[Profile]):
    list_display = ("owner", "agent", "written_by", "written_at")
    list_select_related = ("owner", "agent")
    inlines = (SentenceInline,)


@admin.register(ProfileSentence)
class ProfileSentenceAdmin(ReadOnlyAdmin[ProfileSentence]):
    id_fields = ("pk", "profile")
    list_display = ("text", "place", "profile_id", "owner")
    list_select_related = ("owner",)


@admin.register(ProfileCitation)
class ProfileCitationAdmin(ReadOnlyAdmin[ProfileCitation]):
    holds_text = False
    id_fields = ("sentence", "fact")
    list_display = ("sentence_id", "fact_id", "owner")
    list_select_related = ("owner",)


@admin.register(EntityMerge)
class EntityMergeAdmin(ReadOnlyAdmin[EntityMerge]):
    holds_text = False
    id_fields = ("pk", "kept", "gone")
    list_display = ("kept", "gone", "gone_type", "merged_at", "undone_at", "owner")
    list_select_related = ("owner",)


@admin.register(ForgetRequest)
class ForgetRequestAdmin(ReadOnlyAdmin[ForgetRequest]):
    holds_text = False
    id_fields = ("pk", "fact", "client")
    list_display = ("created_at", "state", "fact_id", "agent", "client", "reviewer", "owner")
    list_filter = ("state",)
    list_select_related = ("agent", "client", "reviewer", "owner")
    date_hierarchy = "created_at"


@admin.register(Forgotten)
class ForgottenAdmin(ReadOnlyAdmin[Forgotten]):
    holds_text = False
    id_fields = ("fact",)
    list_display = ("fact_id", "owner")
    list_select_related = ("owner",)
    exclude = ("digest",)


@admin.register(ReviewDigest)
class ReviewDigestAdmin(ReadOnlyAdmin[ReviewDigest]):
    holds_text = False
    id_fields = ("owner",)
    list_display = ("owner", "address")
    list_select_related = ("owner",)
    exclude = ("key",)


@admin.register(DigestMail)
class DigestMailAdmin(ReadOnlyAdmin[DigestMail]):
    holds_text = False
    id_fields = ("owner",)
    list_display = ("owner", "day", "sent_at", "attempts", "error")
    list_select_related = ("owner",)


@admin.register(FactCount)
class FactCountAdmin(ReadOnlyAdmin[FactCount]):
    holds_text = False
    id_fields = ("owner",)
    list_display = ("owner", "agent_id", "facts", "length")
    list_select_related = ("owner",)


@admin.register(BulkItem)
class BulkItemAdmin(ReadOnlyAdmin[BulkItem]):
    holds_text = False
    id_fields = ("job", "fact_id")
    list_display = ("fact_id", "job", "seen", "outcome", "why", "owner")
    list_filter = ("outcome",)
    list_select_related = ("job", "owner")


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin[Webhook]):
    holds_text = False
    list_display = ("pk", "owner", "agent", "enabled", "stopped", "failing_since", "created_at")
    list_filter = ("enabled", "stopped", ("agent", OwnChoices))
    list_select_related = ("owner", "agent")


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin[WebhookDelivery]):
    holds_text = False
    id_fields = ("pk", "webhook", "fact")
    list_display = ("created_at", "event", "state", "attempts", "status", "webhook_id", "owner")
    list_filter = ("state", "event")
    list_select_related = ("owner",)
