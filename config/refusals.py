"""What is said before any view or operation has been asked, in the shape that an address's clients
read."""

from django.http import HttpRequest, HttpResponse

from config.problems import problem
from memory.mcp.http import refusal as of_mcp
from memory.proxy.views import failure as of_proxy

API, PROXY, MCP = "/api/", "/v1/", "/mcp"


def refused(request: HttpRequest, status: int, code: str, said: str) -> HttpResponse:
    """`code` is for programs. Nothing of the request is told."""
    if request.path.startswith(API):
        return problem(status, code, said)
    if request.path.startswith(PROXY):
        return of_proxy(status, code, said)
    if request.path.startswith(MCP):
        return of_mcp(status, said)
    return HttpResponse(said, status=status, content_type="text/plain; charset=utf-8")
