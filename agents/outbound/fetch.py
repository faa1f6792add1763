"""One request to an address that an owner gave, with limits to all that the other side may do."""

import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agents.outbound.places import Refused, Unreachable, check, port_of

if TYPE_CHECKING:
    import httpx2

AGENT = "Remembrancer"
# After which the method becomes GET, as browsers do it (RFC 9110, 15.4).
BECOMES_GET = {301, 302, 303}
REDIRECTS = BECOMES_GET | {307, 308}
# What one server may be told and another may not.
OF_ONE_SERVER = {"authorization", "cookie"}
UNPACK_GZIP = 16 + zlib.MAX_WBITS


@dataclass(frozen=True)
class Answer:
    """`url`: where the answer came from, after redirects. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    url: str


@dataclass(frozen=True)
class _Question:
    method: str
    url: "httpx2.URL"
    headers: Mapping[str, str]
    content: bytes | None = None
    seen: int = field(default=0)


def fetch(
    address: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    content: bytes | None = None,
    timeout: float = 20,
    most_bytes: int | None = 5_000_000,
    follow: int = 0,
) -> Answer:
    """Any status is an answer. `timeout` is for all of it, redirects included; `most_bytes` for the
    body once unpacked, None to leave it unread. With `follow` 0 a redirect is an answer too.

    Raises Refused (Unreachable where another try may do), whose message is for people.
    """
    deadline = time.monotonic() + timeout
    lowered = {name.lower(): value for name, value in (headers or {}).items()}
    question = _Question(method, check(address), lowered, content)
    while True:
        answer = _ask(question, deadline, most_bytes, timeout)
        target = answer.headers.get("location")
        if not follow or answer.status not in REDIRECTS or target is None:
            return answer
        if question.seen == follow:
            raise Refused(f"It redirects more than {follow} times.")
        question = _redirected(question, answer.status, target)


def _redirected(question: _Question, status: int, target: str) -> _Question:
    import httpx2

    try:
        url = check(str(question.url.join(target)))
    except (httpx2.InvalidURL, ValueError):
        raise Refused("It redirects to something that isn't an address.") from None
    origins = [(each.scheme, each.host, port_of(each)) for each in (question.url, url)]
    dropped = OF_ONE_SERVER if origins[0] != origins[1] else set()
    headers = {name: value for name, value in question.headers.items() if name not in dropped}
    if status in BECOMES_GET and question.method not in {"GET", "HEAD"}:
        headers.pop("content-type", None)
        return _Question("GET", url, headers, seen=question.seen + 1)
    return _Question(question.method, url, headers, question.content, question.seen + 1)


def _ask(question: _Question, deadline: float, most: int | None, timeout: float) -> Answer:
    import httpcore2
    import httpx2

    from agents.outbound.wire import Transport

    # Not packed, because a small packed answer can be a very large one.
    sent = {"user-agent": AGENT, **question.headers, "accept-encoding": "identity"}
    request = httpx2.Request(question.method, question.url, headers=sent, content=question.content)
    transport = Transport(deadline)
    try:
        response = transport.handle_request(request)
        body = b"" if most is None else _read(response, most)
        return Answer(response.status_code, dict(response.headers), body, str(question.url))
    except httpcore2.TimeoutException:
        raise Unreachable(f"It had no whole answer within {timeout:g} seconds.") from None
    except httpcore2.ConnectError as error:
        raise Unreachable(_not_connected(error)) from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError):
        raise Unreachable("It hung up, or its answer isn't HTTP.") from None
    finally:
        transport.close()


def _not_connected(error: Exception) -> str:
    import ssl

    if isinstance(error.__cause__ or error.__context__, ssl.SSLError):
        return "Its certificate isn't valid for that name, or it doesn't speak TLS."
    return "It can't be reached."


def _read(response: "httpx2.Response", most: int) -> bytes:
    body = bytearray()
    for piece in _unpacked(response, most):
        body += piece
        if len(body) > most:
            raise Refused(f"Its answer is longer than {most:,} bytes.")
    return bytes(body)


def _unpacked(response: "httpx2.Response", most: int) -> Iterator[bytes]:
    """Some servers pack without being asked to."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    pieces = response.iter_raw()
    if packing in {"identity", ""}:
        yield from pieces
        return
    if packing not in {"gzip", "x-gzip"}:
        raise Refused("Its answer is packed, though it was asked not to.")
    unpack = zlib.decompressobj(UNPACK_GZIP)
    try:
        for piece in pieces:
            yield unpack.decompress(piece, most + 1)
    except zlib.error:
        raise Unreachable("Its answer is packed wrongly.") from None
