"""Year → month → day over a list, without asking the table which of them it has."""

from datetime import date
from typing import Any

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import capfirst

from agents.long_lists import LongList, days_in

register = template.Library()


@register.inclusion_tag("admin/date_hierarchy.html")
def quick_dates(cl: LongList) -> dict[str, Any]:
    """Django's own tag reads every row to leave out the dates that have none."""
    year, month, day = (cl.chosen(part) for part in ("year", "month", "day"))
    try:
        return {"show": True} | _step(cl, year, month, day)
    except ValueError:  # no such date
        return {"show": False}


def _step(cl: LongList, year: int | None, month: int | None, day: int | None) -> dict[str, Any]:
    if year is None:
        years = range(timezone.localdate().year, cl.first_year - 1, -1)
        return {"choices": [{"link": cl.link_to(year=one), "title": str(one)} for one in years]}
    if month is None:
        return {"back": {"link": cl.link_to(), "title": "All dates"}, "choices": _months(cl, year)}
    if day is None:
        back = {"link": cl.link_to(year=year), "title": str(year)}
        return {"back": back, "choices": _days(cl, year, month)}
    back = {"link": cl.link_to(year=year, month=month), "title": _month(year, month)}
    chosen = date_format(date(year, month, day), "MONTH_DAY_FORMAT")
    return {"back": back, "choices": [{"title": capfirst(chosen)}]}


def _months(cl: LongList, year: int) -> list[dict[str, Any]]:
    return [
        {"link": cl.link_to(year=year, month=one), "title": _month(year, one)}
        for one in range(1, 13)
    ]


def _days(cl: LongList, year: int, month: int) -> list[dict[str, Any]]:
    return [
        {"link": cl.link_to(year=year, month=month, day=one), "title": str(one)}
        for one in days_in(year, month)
    ]


def _month(year: int, month: int) -> str:
    return capfirst(date_format(date(year, month, 1), "YEAR_MONTH_FORMAT"))
