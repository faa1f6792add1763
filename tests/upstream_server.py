"""A scripted model server for the proxy: real HTTP, the same bytes each time, in pieces when asked.

Each request to /v1/chat/completions takes the next reply; without one it answers 500, so that an
unexpected call shows.
"""

import json
import socket
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HEAD = {"id": "chatcmpl-1", "created": 1_770_000_000, "model": "scripted"}
USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
MODELS = b'{"object":"list","data":[{"id":"scripted","object":"model","owned_by":"tests"}]}'


@dataclass(frozen=True)
class Reply:
    """`pieces` go out one by one; before the one numbered `held` it waits for `release`, and with
    `breaks` it hangs up in the middle instead of ending."""

    pieces: Sequence[bytes]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    held: int | None = None
    breaks: bool = False
    release: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Recorded:
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.raw)
        return body

    @property
    def text(self) -> str:
        """Everything that left the house, as words."""
        return json.dumps(self.body, ensure_ascii=False) if self.raw else ""


def says(*texts: str, **more: Any) -> Reply:
    """A whole answer, with a choice for each text."""
    choices = [
        {"index": n, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for n, text in enumerate(texts)
    ]
    return _whole(choices, **more)


def calls(name: str, arguments: str) -> Reply:
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return _whole([{"index": 0, "message": message, "finish_reason": "tool_calls"}])


def streams(*texts: str, end: bool = True, **more: Any) -> Reply:
    """One choice in as many pieces as there are texts."""
    parts = [event({"role": "assistant", "content": ""}), *(event({"content": t}) for t in texts)]
    parts += [event({}, finish="stop"), b"data: [DONE]\n\n"] if end else []
    return Reply(parts, content_type="text/event-stream", **more)


def event(delta: Mapping[str, Any], finish: str | None = None, index: int = 0) -> bytes:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    body = HEAD | {"object": "chat.completion.chunk", "choices": [choice]}
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def fails(status: int, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    error = {"message": "scripted to fail", "type": "scripted", "param": None, "code": "no"}
    return Reply([json.dumps({"error": error}).encode()], status=status, headers=named)


def _whole(choices: Sequence[Mapping[str, Any]], **more: Any) -> Reply:
    body = HEAD | {"object": "chat.completion", "choices": choices, "usage": USAGE}
    return Reply([json.dumps(body, ensure_ascii=False, indent=1).encode()], **more)


class Upstream:
    def __init__(self) -> None:
        self.requests: list[Recorded] = []
        self.hung_up = threading.Event()  # somebody left in the middle of an answer
        self._replies: deque[Reply] = deque()
        self.given: list[Reply] = []
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def last(self) -> Recorded:
        return self.requests[-1]

    def script(self, *replies: Reply) -> None:
        self._replies.extend(replies)

    def take(self, request: Recorded) -> Reply:
        self.requests.append(request)
        if request.path.endswith("/models"):
            return Reply([MODELS])
        reply = self._replies.popleft() if self._replies else fails(500)
        self.given.append(reply)
        return reply

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        for reply in self.given:
            reply.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def scripted_upstream() -> Iterator[Upstream]:
    server = Upstream()
    server.start()
    try:
        yield server
    finally:
        server.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is part of the script."""


def _handler(upstream: Upstream) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["Content-Length"])))

        def do_GET(self) -> None:
            self._answer(b"")

        def _answer(self, raw: bytes) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = upstream.take(Recorded(self.path, headers, raw))
            if reply.held == -1:  # not even a head
                reply.release.wait(30)
            self._head(reply)
            try:
                self._pieces(reply)
            except OSError:
                upstream.hung_up.set()
                raise

        def _head(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", reply.content_type)
            if len(reply.pieces) == 1:
                self.send_header("Content-Length", str(len(reply.pieces[0])))
            else:
                self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()

        def _pieces(self, reply: Reply) -> None:
            chunked = len(reply.pieces) > 1
            for number, piece in enumerate(reply.pieces):
                if number == reply.held:
                    self._hold(reply)
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                self.wfile.flush()
            if reply.breaks:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
            elif chunked:
                self.wfile.write(b"0\r\n\r\n")

        def _hold(self, reply: Reply) -> None:
            """Notices a client that leaves meanwhile, as servers of models do."""
            self.connection.settimeout(0.05)
            while not reply.release.is_set():
                try:
                    if not self.connection.recv(1):
                        raise ConnectionResetError
                except TimeoutError:
                    continue
            self.connection.settimeout(None)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
