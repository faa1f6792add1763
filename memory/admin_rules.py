"""Rules in the admin: looked at whole, and repaired through the same steps as on the page."""

from collections.abc import Callable

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from agents.audit import Actor, person
from agents.desk_admin import ReadOnlyAdmin, signed_in
from agents.long_lists import OwnChoices
from memory.lifecycle import LifecycleError
from memory.models import Rule
from memory.rules import writing
from memory.sensitive.hidden import show_hidden

Step = Callable[[Rule, Actor], Rule]
MOST = 500  # at once


def _each(request: HttpRequest, rules: QuerySet[Rule], step: Step) -> None:
    """Each a transaction of its own; what fails stops nothing else."""
    done, refused = 0, dict[str, int]()
    for rule in rules.select_related("owner", "agent")[:MOST]:
        try:
            step(rule, person(signed_in(request)))
        except LifecycleError as refusal:
            why = str(refusal)
            refused[why] = refused.get(why, 0) + 1
        else:
            done += 1
    messages.success(request, f"Done: {done}.")
    for why, count in refused.items():
        messages.warning(request, f"Not done ({count}): {why}")


@admin.action(description="Switch on", permissions=["repair"])
def switch_on(site: object, request: HttpRequest, rules: QuerySet[Rule]) -> None:
    _each(request, rules, lambda rule, by: writing.switch(rule=rule, enabled=True, actor=by))


@admin.action(description="Switch off", permissions=["repair"])
def switch_off(site: object, request: HttpRequest, rules: QuerySet[Rule]) -> None:
    _each(request, rules, lambda rule, by: writing.switch(rule=rule, enabled=False, actor=by))


@admin.action(description="Take out", permissions=["repair"])
def take_out(site: object, request: HttpRequest, rules: QuerySet[Rule]) -> None:
    _each(request, rules, lambda rule, by: writing.retire(rule=rule, actor=by))


@admin.action(description="Put back", permissions=["repair"])
def put_back(site: object, request: HttpRequest, rules: QuerySet[Rule]) -> None:
    _each(request, rules, lambda rule, by: writing.restore(rule=rule, actor=by))


@admin.register(Rule)
class RuleAdmin(ReadOnlyAdmin[Rule]):
    list_display = ("says", "enabled", "stands_now", "owner", "agent", "origin", "created_at")
    list_filter = ("enabled", "origin", ("agent", OwnChoices), ("owner", OwnChoices))
    list_select_related = ("owner", "agent")
    search_fields = ("text",)
    id_fields = ("pk", "superseded_by", "candidate", "imported_by")
    date_hierarchy = "created_at"
    actions = (switch_on, switch_off, take_out, put_back)

    @admin.display(description="rule")
    def says(self, rule: Rule) -> str:
        return show_hidden(rule.text)

    @admin.display(description="stands", boolean=True)
    def stands_now(self, rule: Rule) -> bool:
        return rule.stands

    def has_repair_permission(self, request: HttpRequest) -> bool:
        return signed_in(request).has_perm("memory.change_rule")
