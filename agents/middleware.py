"""Ties what the audit trail records to the request in whose course it happened."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from agents.audit import context


class AuditContext:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # Ids of facts and the like are in the path; query strings may hold text, so they stay out.
        token = context.set(f"{request.method} {request.path}"[:120])
        try:
            return self.get_response(request)
        finally:
            context.reset(token)
