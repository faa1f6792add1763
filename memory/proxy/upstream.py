"""The operator's model server: one address, its own key, and no credentials of the client's."""

from collections.abc import Iterator, Mapping
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 10
# What a client may say to the model server beside the body.
PASSED_ON = ("accept", "idempotency-key", "openai-beta")
# What clients of this protocol read of an answer: what the bytes are, when to come again, how much
# is left, what to name to the model server's operators. All else is about its own address, or
# between it and whoever pays it.
PASSED_BACK = {
    "content-type",
    "content-encoding",
    "content-language",
    "content-length",
    "cache-control",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "x-request-id",
    "request-id",
    "openai-model",
    "openai-processing-ms",
    "openai-version",
}
LEFT_OVER = "x-ratelimit-"


class UpstreamFailed(Exception):
    """No answer to pass on. The message is for the client."""


class Unreachable(UpstreamFailed):
    pass


class TimedOut(UpstreamFailed):
    pass


def is_configured() -> bool:
    return bool(settings.UPSTREAM["base_url"])


def ask(
    method: str, path: str, *, headers: Mapping[str, str], body: bytes | None
) -> "httpx2.Response":
    """The answer's head; its body is yet to be read. Raises UpstreamFailed."""
    import httpx2

    request = _client().build_request(
        method,
        f"{settings.UPSTREAM['base_url']}{path}",
        content=body,
        headers=_headers(headers, has_body=body is not None),
        timeout=httpx2.Timeout(settings.UPSTREAM_TIMEOUT_SECONDS, connect=CONNECT_SECONDS),
    )
    try:
        response = _client().send(request, stream=True)
    except httpx2.ConnectTimeout:
        raise Unreachable("The model server can't be reached.") from None
    except httpx2.TimeoutException:
        seconds = settings.UPSTREAM_TIMEOUT_SECONDS
        raise TimedOut(f"The model server said nothing for {seconds} seconds.") from None
    except httpx2.HTTPError:
        raise Unreachable("The model server can't be reached, or hung up.") from None
    if response.is_redirect:
        response.close()
        raise Unreachable("The model server answers with a redirect, which is not followed.")
    return response


def headers_back(response: "httpx2.Response") -> Iterator[tuple[str, str]]:
    for name, value in response.headers.multi_items():
        if name.lower() in PASSED_BACK or name.lower().startswith(LEFT_OVER):
            yield name, value


def _headers(given: Mapping[str, str], *, has_body: bool) -> dict[str, str]:
    sent = {name: given[name] for name in PASSED_ON if name in given}
    # The answer is read along while it passes.
    sent |= {"accept-encoding": "identity", "user-agent": "remembrancer"}
    if has_body:
        sent["content-type"] = "application/json"
    if settings.UPSTREAM["api_key"]:
        sent["authorization"] = f"Bearer {settings.UPSTREAM['api_key']}"
    return sent


@cache
def _client() -> "httpx2.Client":
    """Connections are kept, because making one costs more than all that we do; cookies are not,
    because the next request is another owner's."""
    import httpx2

    return httpx2.Client(
        follow_redirects=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        limits=httpx2.Limits(max_connections=None, keepalive_expiry=30),
    )
