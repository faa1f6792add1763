"""What pages say of cases that wait, and of the facts that an insight was concluded from."""

from django import template
from django.template.context import Context

from memory.cases.scope import waiting_cases
from memory.models import Derivation, Fact

register = template.Library()


@register.simple_tag(takes_context=True)
def cases_waiting(context: Context) -> int:
    user = getattr(context.get("request"), "user", None)
    if user is None or not user.is_authenticated:
        return 0
    return waiting_cases(user).count()


@register.simple_tag
def concluded_from(fact: Fact) -> list[Fact]:
    """The cited facts, each with its evidence loaded."""
    rows = Derivation.objects.filter(owner=fact.owner_id, fact=fact)
    cited = rows.select_related("source").prefetch_related("source__evidence__message")
    return [row.source for row in cited]
