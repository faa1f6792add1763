"""Every route of the project by name, as the resolver has it; a new one turns up here by itself."""

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

# Have their own lists: admin.site._registry, the operations of the NinjaAPI, and the proxy's tests.
ELSEWHERE = {"admin", "api", "proxy"}


def names() -> set[str]:
    return set(_walk(get_resolver()))


def _walk(resolver: URLResolver) -> Iterator[str]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern):
            yield pattern.name or f"nameless: {pattern.pattern}"
        elif pattern.namespace not in ELSEWHERE:
            yield from _walk(pattern)
