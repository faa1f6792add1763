"""Whom and what the facts speak of: the list, one with its names and facts, and merges."""

from collections.abc import Sequence
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import Count, Prefetch, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from agents.audit import person
from agents.desk import DeskRequest, desk
from memory import entities as domain
from memory.entities import entities_of, entity_of, merge_of, named
from memory.lifecycle import LifecycleError
from memory.models import Entity, EntityAlias, FactEntity
from memory.pages.paging import PAGE, by_moment
from memory.scope import facts_of
from memory.vocabulary import EntityType, State

OFFERED = 20  # entities to merge with that one search shows


class EntityFilter(forms.Form):
    q = forms.CharField(max_length=120, required=False)
    type = forms.ChoiceField(choices=[("", "Any kind"), *EntityType.choices], required=False)


@require_GET
@desk
def entities(request: DeskRequest) -> HttpResponse:
    form = EntityFilter(request.GET, label_suffix="")
    form.is_valid()
    words, kind = form.cleaned_data.get("q") or "", form.cleaned_data.get("type") or ""
    found = named(request.user, words) if words else entities_of(request.user)
    if kind:
        found = found.filter(type=kind)
    rows, next_key = _page(found, request.GET.get("after", ""))
    counts = _facts_of(rows)
    context = {
        "rows": [(row, counts.get(row.pk, 0)) for row in rows],
        "next_key": next_key,
        "form": form,
        "words": words,
        "kind": kind,
    }
    return render(request, "memory/entities.html", context)


@require_GET
@desk
def entity(request: DeskRequest, entity_id: UUID) -> HttpResponse:
    return _show(request, entity_of(request.user, entity_id))


@require_GET
@desk
def merge_preview(request: DeskRequest, entity_id: UUID, other_id: UUID) -> HttpResponse:
    kept, gone = entity_of(request.user, entity_id), entity_of(request.user, other_id)
    counts = _facts_of([kept, gone])
    context = {
        "kept": kept,
        "gone": gone,
        "kept_facts": counts.get(kept.pk, 0),
        "gone_facts": counts.get(gone.pk, 0),
        "names": EntityAlias.objects.filter(entity=gone).order_by("normal_name"),
    }
    return render(request, "memory/entity_merge.html", context)


@require_POST
@desk
def merge(request: DeskRequest, entity_id: UUID, other_id: UUID) -> HttpResponse:
    kept, gone = entity_of(request.user, entity_id), entity_of(request.user, other_id)
    try:
        domain.merge(kept=kept, gone=gone, actor=person(request.user), reason="merged in the desk")
    except LifecycleError as refusal:
        return _show(request, kept, problem=str(refusal), status=409)
    messages.success(request, f"“{gone.name}” is another name of “{kept.name}” now.")
    return redirect("entity", kept.pk)


@require_POST
@desk
def unmerge(request: DeskRequest, merge_id: UUID) -> HttpResponse:
    record = merge_of(request.user, merge_id)
    try:
        back = domain.undo(record=record, actor=person(request.user), reason="merge taken back")
    except LifecycleError as refusal:
        messages.error(request, str(refusal))
        return redirect("entities")
    messages.success(request, f"“{back.name}” stands by itself again.")
    return redirect("entity", back.pk)


def _show(request: DeskRequest, row: Entity, problem: str = "", status: int = 200) -> HttpResponse:
    form = EntityFilter(request.GET)
    form.is_valid()
    words = form.cleaned_data.get("q") or ""
    facts = facts_of(request.user).filter(entities=row, state=State.ACTIVE)
    after = request.GET.get("after", "")
    context = {
        "entity": row,
        "aliases": row.aliases.exclude(normal_name=row.normal_name).order_by("normal_name"),
        "listing": by_moment(facts.select_related("agent"), "created_at", after, falling=True),
        "states": _states(request, row),
        "words": words,
        "offered": named(request.user, words).exclude(pk=row.pk)[:OFFERED] if words else [],
        "merges": _merges(row),
        "problem": problem,
    }
    return render(request, "memory/entity.html", context, status=status)


def _states(request: DeskRequest, row: Entity) -> list[tuple[State, int]]:
    found = facts_of(request.user).filter(entities=row).order_by().values_list("state")
    counts = dict(found.annotate(Count("pk")))
    return [(state, counts[state]) for state in State if state in counts]


def _merges(row: Entity) -> list[tuple[UUID, str]]:
    """What can be taken back, by the name that it had."""
    merges = list(domain.last_merges(row)[:OFFERED])
    names = row.aliases.in_bulk([merge.own_alias for merge in merges])
    return [(merge.pk, names[merge.own_alias].name) for merge in merges if merge.own_alias in names]


def _page(found: QuerySet[Entity], after: str) -> tuple[list[Entity], str]:
    """By name, then id. A key that makes no sense starts anew."""
    last, _, name = after.partition("_")
    if name:
        try:
            beyond = Q(normal_name__gt=name) | Q(pk__gt=UUID(last))
        except ValueError:
            beyond = Q()
        else:
            found = found.filter(normal_name__gte=name)
        found = found.filter(beyond)
    aliases = Prefetch("aliases", EntityAlias.objects.order_by("normal_name"))
    rows = list(found.order_by("normal_name", "pk").prefetch_related(aliases)[: PAGE + 1])
    shown = rows[:PAGE]
    more = len(rows) > PAGE
    return shown, f"{shown[-1].pk}_{shown[-1].normal_name}" if more else ""


def _facts_of(rows: Sequence[Entity]) -> dict[UUID, int]:
    found = FactEntity.objects.filter(entity__in=[row.pk for row in rows]).order_by()
    return dict(found.values_list("entity").annotate(Count("pk")))
