"""The connection of one request: to a machine that was checked, and over at its deadline.

The HTTP library's own time limits are for one read each; a server that sends a byte now and then
would keep a worker for ever.
"""

import ssl
import time
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import httpcore2
import httpx2

from agents.outbound.places import machines

Options = Iterable[httpcore2.SOCKET_OPTION] | None


class Stream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, deadline: float) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, left(self._deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, left(self._deadline))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, left(self._deadline))
        return Stream(inner, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class Checked(httpcore2.NetworkBackend):
    """Looks the name up itself, and connects to what it found. The name stays the one in the
    request, and the one that the certificate must be for."""

    def __init__(self, deadline: float) -> None:
        self._inner = httpcore2.SyncBackend()
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Options = None,
    ) -> httpcore2.NetworkStream:
        failed: Exception = httpcore2.ConnectError()
        for machine in machines(host, port):
            try:
                inner = self._inner.connect_tcp(str(machine), port, left(self._deadline))
                return Stream(inner, self._deadline)
            except httpcore2.ConnectError as error:
                failed = error
        raise failed


class Pieces(httpx2.SyncByteStream):
    def __init__(self, inner: Iterable[bytes], pool: httpcore2.ConnectionPool) -> None:
        self._inner = inner
        self._pool = pool

    def __iter__(self) -> Iterator[bytes]:
        yield from self._inner

    def close(self) -> None:
        self._pool.close()


class Transport(httpx2.BaseTransport):
    """One request, one connection. Errors are those of httpcore2, or Refused."""

    def __init__(self, deadline: float) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=_certificates(), network_backend=Checked(deadline), max_connections=1
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        answer = self._pool.handle_request(
            httpcore2.Request(
                request.method, url, headers=request.headers.raw, content=request.read()
            )
        )
        pieces = Pieces(answer.iter_stream(), self._pool)
        return httpx2.Response(answer.status, headers=answer.headers, stream=pieces)

    def close(self) -> None:
        self._pool.close()


def left(deadline: float) -> float:
    """Raises httpcore2.TimeoutException."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise httpcore2.TimeoutException
    return seconds


@cache
def _certificates() -> ssl.SSLContext:
    """Reading the authorities takes longer than a request."""
    return httpx2.create_ssl_context()
