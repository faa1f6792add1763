"""What assistants asked to forget, for the queue."""

from typing import Any

from django import template
from django.template.context import RequestContext

from memory.purge.requests import waiting

register = template.Library()
SHOWN = 20


@register.inclusion_tag("memory/_forget_requests.html", takes_context=True)
def forget_requests(context: RequestContext) -> dict[str, Any]:
    user = context["request"].user
    rows = waiting(user)[:SHOWN]
    return {"forget_requests": rows, "csrf_token": context.get("csrf_token")}
