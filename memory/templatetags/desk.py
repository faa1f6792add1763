"""What templates need beyond plain fields: counts, the navigation, dates and hidden characters."""

from datetime import datetime, timedelta

from django import template
from django.template.context import Context
from django.template.defaultfilters import stringfilter
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from memory.consolidation import reconfirm
from memory.models import Fact
from memory.review import queue
from memory.review.forms import last_moment
from memory.review.masking import masked
from memory.sensitive.hidden import show_hidden
from memory.vocabulary import Precision, Tag

register = template.Library()
_FORMATS = {Precision.DAY: "j F Y", Precision.MONTH: "F Y", Precision.YEAR: "Y"}


@register.simple_tag(takes_context=True)
def waiting(context: Context) -> str:
    """How many candidates wait for the person who looks at the page; empty for none."""
    # An error page may be shown before anybody looked who asks.
    user = getattr(context.get("request"), "user", None)
    if user is None or not user.is_authenticated:
        return ""
    count = queue.count(user, timezone.now())
    return f"{count - 1}+" if count == queue.COUNTED else str(count or "")


@register.inclusion_tag("memory/_small_count.html", takes_context=True)
def reconfirm_count(context: Context) -> dict[str, object]:
    """How many facts are asked about: never more than are shown at a time."""
    asked = reconfirm.unanswered(owner=context["request"].user, now=timezone.now())
    return {"count": asked.order_by()[: reconfirm.SHOWN].count()}


@register.simple_tag(takes_context=True)
def nav(context: Context, name: str, label: str) -> SafeString:
    """A link of the navigation, marked when the page is below it."""
    url = reverse(name)
    request = context.get("request")
    here = request is not None and request.path.startswith(url)
    current = SafeString(' aria-current="page"') if here else ""
    return format_html('<a href="{}"{}>{}</a>', url, current, label)


@register.filter
@stringfilter
def visible(text: str) -> str:
    """Characters that can't be seen, or are not what they seem, spelled out. Escaped as usual."""
    return show_hidden(text)


@register.filter(name="masked")
@stringfilter
def without_secrets(text: str) -> str:
    return masked(text)[0]


@register.filter
def holds(fact: Fact) -> str:
    """When a fact holds in the world, in words; empty where that is unknown."""
    since, until = (
        _date(moment, fact.valid_precision)
        for moment in (fact.valid_from, last_moment(fact.valid_until))
    )
    if since and until:
        return since if since == until else f"{since} to {until}"
    return f"since {since}" if since else f"until {until}" if until else ""


@register.filter
def waited(since: datetime) -> str:
    """How long a candidate has waited, in words; an hour is no time."""
    hours = (timezone.now() - since) / timedelta(hours=1)
    return "new" if hours < 1 else f"waiting for {timesince(since, depth=1)}"


@register.filter
def tag_labels(tags: list[str]) -> str:
    return ", ".join(Tag(tag).label.lower() if tag in Tag.values else tag for tag in tags)


@register.filter
def percent(share: float) -> str:
    return f"{share:.0%}"


def _date(moment: datetime | None, precision: str) -> str:
    if moment is None:
        return ""
    return date_format(timezone.localtime(moment), _FORMATS[Precision(precision)])
