"""Addresses of our pages for whoever is not on one: in mails, and in what programs are told."""

from urllib.parse import urljoin

from django.conf import settings


def absolute(path: str) -> str:
    """`path` begins with a slash."""
    return urljoin(f"{settings.PUBLIC_URL}/", path.lstrip("/"))
