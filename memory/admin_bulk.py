"""Bulk repair in the admin: chosen facts are drafted; the page is preview, progress and report."""

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from agents import readings
from agents.access import agents_of
from agents.audit import person
from agents.desk_admin import ReadOnlyAdmin, signed_in
from memory import lifecycle
from memory.bulk import export, jobs
from memory.bulk.steps import STEPS
from memory.models import BulkItem, BulkJob, Fact
from memory.sensitive.hidden import show_hidden
from memory.tasks_bulk import hint
from memory.vocabulary import WARNINGS, Repair

LISTED = 50  # rows of a preview
AT_ONCE_SECONDS = 20
FactAction = Callable[[Any, HttpRequest, QuerySet[Fact]], HttpResponse | None]


def bulk_actions() -> dict[str, tuple[FactAction, str, str]]:
    """An action of the fact list for each step; it only makes the draft."""
    steps = [step for step in Repair if step in STEPS or step == Repair.MERGE]
    return {step: (_drafting(step), step, str(step.label)) for step in steps}


def _drafting(step: Repair) -> FactAction:
    def action(
        model_admin: Any, request: HttpRequest, facts: QuerySet[Fact]
    ) -> HttpResponse | None:
        try:
            job = jobs.draft(facts=facts, step=step, by=signed_in(request))
        except lifecycle.LifecycleError as refusal:
            messages.error(request, str(refusal))
            return None
        return redirect("admin:memory_bulkjob_change", job.pk)

    return action


@admin.action(description="Export as CSV")
def export_csv(
    model_admin: Any, request: HttpRequest, facts: QuerySet[Fact]
) -> StreamingHttpResponse:
    return _download(model_admin, request, facts, export.as_csv, "csv", "text/csv")


@admin.action(description="Export as JSON lines")
def export_json(
    model_admin: Any, request: HttpRequest, facts: QuerySet[Fact]
) -> StreamingHttpResponse:
    return _download(model_admin, request, facts, export.as_json, "jsonl", "application/jsonl")


def _download(
    model_admin: Any,
    request: HttpRequest,
    facts: QuerySet[Fact],
    lines: Callable[[QuerySet[Fact]], Iterator[str]],
    ending: str,
    kind: str,
) -> StreamingHttpResponse:
    by_owner = facts.order_by().values_list("owner").annotate(Count("pk"))
    owners = [owner for owner, rows in by_owner for _ in range(rows)]
    readings.note(reader=signed_in(request), table=Fact._meta.db_table, owners=owners)
    answer = StreamingHttpResponse(lines(facts), content_type=f"{kind}; charset=utf-8")
    name = f"facts-{timezone.localdate().isoformat()}.{ending}"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@admin.register(BulkJob)
class BulkJobAdmin(ReadOnlyAdmin[BulkJob]):
    """A draft's page is the preview, a running one's the progress, and then what became of it."""

    holds_text = False
    list_display = ("created_at", "step", "total", "state", "owner", "started_by", "reason")
    list_filter = ("state", "step")
    list_select_related = ("owner", "started_by")
    search_fields = ("owner__username", "reason")
    date_hierarchy = "created_at"
    change_form_template = "admin/memory/bulkjob/job.html"

    def sees_everybody(self, request: HttpRequest) -> bool:
        """Its row holds no text, but its page shows the facts."""
        return super().sees_everybody(request) and readings.may_read_others(signed_in(request))

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(
                f"<uuid:job_id>/{name}/",
                self.admin_site.admin_view(view),
                name=f"memory_bulkjob_{name}",
            )
            for name, view in (("start", self.start), ("stop", self.stop), ("go-on", self.go_on))
        ]
        return [*own, *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        job = self.get_object(request, object_id)
        shown = self.shown(request, job) if job is not None else {}
        return super().change_view(request, object_id, form_url, (extra_context or {}) | shown)

    def shown(self, request: HttpRequest, job: BulkJob) -> dict[str, Any]:
        step = STEPS.get(Repair(job.step))
        seen = dict(job.items.order_by().values_list("seen").annotate(Count("pk")))
        outcomes = dict(job.items.order_by().values_list("outcome").annotate(Count("pk")))
        starts = step.starts if step else jobs.MERGEABLE
        return {
            "title": str(job),
            "subtitle": "",
            "job": job,
            "is_draft": job.state == BulkJob.State.DRAFT,
            "is_running": job.state == BulkJob.State.RUNNING,
            "is_stopped": job.state == BulkJob.State.STOPPED,
            "will": sum(count for state, count in seen.items() if state in starts),
            "left": {state: count for state, count in seen.items() if state not in starts},
            "flagged": jobs.flagged(job).count() if job.step == Repair.CONFIRM else 0,
            "word": word_of(job) if step and step.is_final else "",
            "agents": agents_of(job.owner) if job.step == Repair.MOVE else [],
            "merges": job.step == Repair.MERGE,
            "done": outcomes.get(BulkItem.Outcome.DONE, 0),
            "refused": outcomes.get(BulkItem.Outcome.REFUSED, 0),
            "waiting": outcomes.get(BulkItem.Outcome.WAITING, 0),
            "rows": self.rows(request, job),
            "listed": LISTED,
        }

    def rows(self, request: HttpRequest, job: BulkJob) -> list[dict[str, Any]]:
        """The first rows of a draft; later those that were refused come first."""
        items = list(job.items.order_by("-outcome", "pk")[:LISTED])
        facts = Fact.objects.filter(owner=job.owner, pk__in=[item.fact_id for item in items])
        found = facts.in_bulk()
        readings.note(
            reader=signed_in(request), table=Fact._meta.db_table, owners=[job.owner_id] * len(found)
        )
        return [
            {
                "item": item,
                "fact": found.get(item.fact_id),
                "says": show_hidden(found[item.fact_id].statement) if item.fact_id in found else "",
                "flags": [why for why in found[item.fact_id].withheld_for if why in WARNINGS]
                if item.fact_id in found
                else [],
            }
            for item in items
        ]

    def start(self, request: HttpRequest, job_id: Any) -> HttpResponse:
        job = self.posted(request, job_id)
        step = STEPS.get(Repair(job.step))
        if step and step.is_final and request.POST.get("word", "").strip() != word_of(job):
            messages.error(request, f"Nothing was done: type “{word_of(job)}” to go ahead.")
            return self.back(job)
        try:
            self.run(request, job)
        except lifecycle.LifecycleError as refusal:
            messages.error(request, str(refusal))
        return self.back(job)

    def run(self, request: HttpRequest, job: BulkJob) -> None:
        if job.started_by_id != signed_in(request).pk:
            # The trail names who drafted it for each step.
            raise lifecycle.NotAllowed("Somebody else chose these facts. Choose them yourself.")
        reason = request.POST.get("reason", "").strip() or "bulk repair in the admin"
        if job.step == Repair.MERGE:
            statement = request.POST.get("statement", "").strip()
            jobs.merge_all(
                job=job, statement=statement, by=person(signed_in(request)), reason=reason
            )
            return
        agent = None
        if job.step == Repair.MOVE:
            agent = agents_of(job.owner).filter(pk=_id(request.POST.get("agent"))).first()
            if agent is None:
                raise lifecycle.NotAllowed("Name the assistant that the facts go to.")
        with_flagged = request.POST.get("with_flagged") == "yes"
        if not jobs.start(job=job, reason=reason, agent=agent, with_flagged=with_flagged):
            raise lifecycle.NotAllowed("This was started elsewhere already.")
        if job.total > jobs.AT_ONCE or not jobs.work(job.pk, seconds=AT_ONCE_SECONDS):
            hint(job.pk)

    def stop(self, request: HttpRequest, job_id: Any) -> HttpResponse:
        job = self.posted(request, job_id)
        if not jobs.stop(job):
            messages.info(request, "It was not running any more.")
        return self.back(job)

    def go_on(self, request: HttpRequest, job_id: Any) -> HttpResponse:
        job = self.posted(request, job_id)
        if jobs.go_on(job):
            hint(job.pk)
        return self.back(job)

    def posted(self, request: HttpRequest, job_id: Any) -> BulkJob:
        if request.method != "POST":
            raise Http404
        job = self.get_queryset(request).filter(pk=job_id).first()
        if job is None:
            raise Http404
        needed = "memory.purge_fact" if job.step == Repair.PURGE else "memory.change_fact"
        if not signed_in(request).has_perm(needed):
            raise PermissionDenied
        return job

    def back(self, job: BulkJob) -> HttpResponse:
        return redirect(reverse("admin:memory_bulkjob_change", args=[job.pk]))


def word_of(job: BulkJob) -> str:
    """What is typed before something that can't be undone."""
    return f"purge {job.total}"


def _id(value: str | None) -> Any:
    from uuid import UUID

    try:
        return UUID(value or "")
    except ValueError:
        return None
