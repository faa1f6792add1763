"""The facts in the admin: looked at, filtered, repaired by the lifecycle's own steps."""

from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path

from agents.audit import person
from agents.desk_admin import ReadOnlyAdmin, ReadOnlyInline, signed_in
from agents.long_lists import OwnChoices
from memory import embedding, lifecycle
from memory.admin_bulk import bulk_actions, export_csv, export_json
from memory.models import CorrectionTarget, Evidence, ExtractionRun, Fact, FactEmbedding
from memory.review.search import matching
from memory.sensitive.hidden import show_hidden
from memory.vocabulary import Kind, Precision, Repair, Tag

Choices = list[tuple[str, str]]


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


class PromptVersion(admin.SimpleListFilter):
    """The choices are read from the runs, of which there are fewer than facts."""

    title = "prompt version"
    parameter_name = "prompt"
    NEWEST = 2000  # runs

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> Choices:
        of_runs = model_admin.admin_site.get_model_admin(ExtractionRun)
        newest = of_runs.get_queryset(request).order_by("-pk")[: self.NEWEST]
        found = {version for version in newest.values_list("prompt_version", flat=True) if version}
        return [(version, version) for version in sorted(found)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Fact]) -> QuerySet[Fact]:
        return queryset.filter(prompt_version=self.value()) if self.value() else queryset


class Embedded(admin.SimpleListFilter):
    title = "vector"
    parameter_name = "vector"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> Choices:
        return [
            ("now", "of the model in use"),
            ("other", "of another model only"),
            ("none", "none"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Fact]) -> QuerySet[Fact]:
        any_vector = FactEmbedding.objects.filter(owner=OuterRef("owner"), fact=OuterRef("pk"))
        current = Exists(any_vector.filter(model=embedding.MODEL))
        return {
            "now": queryset.filter(current),
            "other": queryset.filter(Exists(any_vector), ~current),
            "none": queryset.filter(~Exists(any_vector)),
        }.get(self.value() or "", queryset)


class CorrectForm(forms.Form):
    statement = forms.CharField(
        max_length=500, widget=forms.Textarea(attrs={"rows": 3, "cols": 80}), strip=True
    )
    kind = forms.ChoiceField(choices=Kind.choices)
    reason = forms.CharField(max_length=200, required=False, label="Reason, for the audit trail")
    seen = forms.CharField(widget=forms.HiddenInput)


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
    list_filter = (
        "state",
        "kind",
        "origin",
        "pinned",
        "archived_reason",
        ("agent", OwnChoices),
        ("owner", OwnChoices),
        PromptVersion,
        Embedded,
    )
    list_select_related = ("owner", "agent")
    search_fields = ("statement",)
    search_help_text = "An id (its own, its run's or conversation's), or words in the statement"
    id_fields = ("pk", "run", "conversation")
    date_hierarchy = "created_at"
    exclude = ("search",)
    inlines = (EvidenceInline, TargetInline)
    actions = (export_csv, export_json)

    @admin.display(description="statement")
    def says(self, fact: Fact) -> str:
        return show_hidden(fact.statement)

    def by_words(self, request: HttpRequest, rows: QuerySet[Any], words: str) -> QuerySet[Any]:
        return matching(rows, words)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        user = signed_in(request)
        steps = bulk_actions() if user.has_perm("memory.change_fact") else {}
        if not user.has_perm("memory.purge_fact"):
            steps.pop(Repair.PURGE, None)
        return cast("dict[str, Any]", super().get_actions(request)) | steps

    def get_urls(self) -> list[URLPattern]:
        correct = self.admin_site.admin_view(self.correct)
        own = [path("<uuid:fact_id>/correct/", correct, name="memory_fact_correct")]
        return [*own, *super().get_urls()]

    def correct(self, request: HttpRequest, fact_id: UUID) -> HttpResponse:
        """In place of editing, which nobody can."""
        fact = self.get_object(request, str(fact_id))
        if fact is None:
            raise Http404
        if not signed_in(request).has_perm("memory.change_fact"):
            raise PermissionDenied
        shown = {"statement": fact.statement, "kind": fact.kind, "seen": lifecycle.version(fact)}
        form = CorrectForm(request.POST or None, initial=shown)
        if form.is_valid():
            new = self._corrected(request, fact, form.cleaned_data)
            if new is not None:
                return redirect("admin:memory_fact_change", new.pk)
        context = self.admin_site.each_context(request) | {"fact": fact, "form": form}
        context["title"] = "Correct a fact"
        return render(request, "admin/memory/fact/correct.html", context)

    def _corrected(self, request: HttpRequest, fact: Fact, said: dict[str, Any]) -> Fact | None:
        edit = lifecycle.Edit(
            statement=said["statement"],
            kind=Kind(said["kind"]),
            tags=tuple(Tag(tag) for tag in fact.tags),
            valid_from=fact.valid_from,
            valid_until=fact.valid_until,
            valid_precision=Precision(fact.valid_precision),
            pinned=fact.pinned,
        )
        actor, reason = person(signed_in(request)), said["reason"] or "corrected in the admin"
        try:
            return lifecycle.correct(
                fact=fact, edit=edit, actor=actor, reason=reason, seen=said["seen"]
            )
        except lifecycle.LifecycleError as refusal:
            messages.error(request, str(refusal))
            return None
