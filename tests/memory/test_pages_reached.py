"""Whoever knows no addresses finds every page: links and forms lead to each from the first one."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver

from tests.isolation.household import household

pytestmark = pytest.mark.django_db
LINK = re.compile(r'<(?:a|form)\b[^>]*\s(?:href|action)="(/[^"#?]*)')
# Not the desk: the admin has its own index, and the API no pages but its reference.
ELSEWHERE = ("admin/", "api/", "v1/", "mcp", "healthz", "accounts/")
MOST = 400


def plain(resolver: URLResolver, before: str = "") -> Iterator[str]:
    """Addresses that name no row."""
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from plain(pattern, route)
        elif "<" not in route:
            yield route


def test_links_and_forms_lead_to_every_page(client: Client) -> None:
    client.force_login(household("Alicewort").owner)
    pages = {
        f"/{route}"
        for route in plain(get_resolver())
        if not route.startswith(ELSEWHERE) and b"<h1" in client.get(f"/{route}").content
    }
    assert len(pages) > 20
    waiting, met = ["/review/"], {"/review/"}
    while waiting and len(met) < MOST:
        answer = client.get(waiting.pop(0))
        if answer.status_code == 200 and "html" in answer.headers["Content-Type"]:
            found = set(LINK.findall(answer.content.decode())) - met
            met |= found
            waiting += sorted(found)
    assert sorted(pages - met) == []
