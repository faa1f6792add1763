"""A scripted web server: real HTTP on a loopback address, each path with its own answers.

A path answers what is scripted for it in that order, the last one again and again; other paths 404.
"""

import itertools
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Page:
    """With `hangs` the server reads and says nothing; with `drips` it sends its head byte by byte
    without end."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    drips: bool = False


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class WebServer:
    def __init__(self, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Asked] = []
        self.over = threading.Event()
        self._pages: dict[str, list[Page]] = {}
        self._host = host
        self._server = _Server((host, 0), _handler(self))
        self._scheme = "http"
        if tls:
            self._scheme = "https"
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def url(self, path: str = "/", host: str | None = None) -> str:
        return f"{self._scheme}://{host or self._host}:{self.port}{path}"

    def script(self, path: str, *pages: Page) -> None:
        self._pages[path] = list(pages)

    def page(self, path: str) -> Page:
        pages = self._pages.get(path) or [Page(b"no such page", 404)]
        return pages.pop(0) if len(pages) > 1 else pages[0]

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is what some tests are about."""


@contextmanager
def serving(host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[WebServer]:
    server = WebServer(host, tls)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _handler(server: WebServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.requests.append(Asked(self.command, self.path, headers, body))
            page = server.page(self.path)
            if page.hangs:
                server.over.wait()
            elif page.drips:
                self.drip()
            else:
                self.send(page)

        do_GET = do_POST = do_HEAD = do_PUT = answer

        def send(self, page: Page) -> None:
            self.send_response(page.status)
            for name, value in page.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(page.body)))
            self.end_headers()
            self.wfile.write(page.body)

        def drip(self) -> None:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nx: ")
            for _ in itertools.count():
                self.wfile.write(b"y")
                if server.over.wait(0.02):
                    return

        def log_message(self, *_: object) -> None:
            pass

    return Handler
