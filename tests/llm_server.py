"""A scripted language model: a real HTTP server that speaks /v1/chat/completions, and a little of
Anthropic's /v1/messages.

Each request takes the next reply that was scripted for its task, which it names by the tool it
asks to be called (ObserverReply, ReflectorReply). A task without a script answers 500, so that an
unexpected call shows.
"""

import base64
import json
import socket
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


@dataclass(frozen=True)
class Reply:
    """What the server does with one request."""

    message: dict[str, Any] = field(default_factory=dict)
    arguments: Any = None
    finish: str = "stop"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: str = ""
    delay: float = 0.0
    body_share: float = 1.0  # less than 1: the connection is cut after that part of the body
    raw: bytes | None = None
    before: Callable[["Recorded"], None] | None = None


@dataclass(frozen=True)
class Recorded:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def task(self) -> str:
        tools = self.body.get("tools") or []
        schema = (self.body.get("response_format") or {}).get("json_schema") or {}
        return str(tools[0].get("function", tools[0])["name"] if tools else schema.get("name", ""))

    @property
    def system(self) -> str:
        return "\n".join(m["content"] for m in self.body["messages"] if m["role"] == "system")

    @property
    def user(self) -> str:
        return "\n".join(part["text"] for part in self._parts if part["type"] == "text")

    @property
    def pictures(self) -> list[bytes]:
        """Those of the question, as they came: in data URLs, or as Anthropic has them."""
        found = []
        for part in self._parts:
            if part["type"] == "image_url":
                kind, _, data = part["image_url"]["url"].partition(";base64,")
                found.append((kind.removeprefix("data:"), data))
            elif part["type"] == "image":
                found.append((part["source"]["media_type"], part["source"]["data"]))
        assert {kind for kind, _ in found} <= {"image/jpeg"}
        return [base64.b64decode(data, validate=True) for _, data in found]

    @property
    def _parts(self) -> Iterator[dict[str, Any]]:
        for message in self.body["messages"]:
            content = message["content"]
            if message["role"] == "user":
                yield from (
                    [{"type": "text", "text": content}] if isinstance(content, str) else content
                )

    @property
    def text(self) -> str:
        """Everything that left the house."""
        return json.dumps(self.body, ensure_ascii=False)


def answers(data: Any, *, think: str = "") -> Reply:
    """A tool call; `data` becomes the JSON string of its arguments, a string goes out as it is."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return Reply(message={"content": think or None}, arguments=text, finish="tool_calls")


def answers_with_object(data: dict[str, Any]) -> Reply:
    """As some servers do, against the protocol: the arguments are an object, not a string."""
    return Reply(message={"content": None}, arguments=data, finish="tool_calls")


def says(text: str) -> Reply:
    return Reply(message={"content": text})


def refuses(text: str = "I can't help with that.") -> Reply:
    return Reply(message={"content": None, "refusal": text})


def fails(status: int, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, headers=named, error="the scripted server was told to fail")


def is_cut_short(data: Any) -> Reply:
    """Ran out of tokens in the middle of its arguments."""
    return replace(answers(json.dumps(data)[:40]), finish="length")


def hangs_up(data: Any, *, after: float = 0.5) -> Reply:
    """Closes the connection after a part of the body; 0: before the first byte."""
    return replace(answers(data), body_share=after)


def waits(seconds: float, reply: Reply) -> Reply:
    return replace(reply, delay=seconds)


def meanwhile(do: Callable[[Recorded], None], reply: Reply) -> Reply:
    """Runs `do` while the client waits for the reply."""
    return replace(reply, before=do)


class ScriptedLlm:
    def __init__(self) -> None:
        self.requests: list[Recorded] = []
        self._scripts: dict[str, deque[Reply]] = defaultdict(deque)
        self._answers: dict[str, Callable[[Recorded], Reply]] = {}
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, task: str, *replies: Reply) -> None:
        self._scripts[task].extend(replies)

    def observer(self, *replies: Reply) -> None:
        self.script("ObserverReply", *replies)

    def reflector(self, *replies: Reply) -> None:
        self.script("ReflectorReply", *replies)

    def observe_with(self, decide: Callable[[Recorded], Reply]) -> None:
        """For a reply that depends on the messages in the question."""
        self._answers["ObserverReply"] = decide

    def reflect_with(self, decide: Callable[[Recorded], Reply]) -> None:
        """For a reply that depends on the handles in the question."""
        self._answers["ReflectorReply"] = decide

    def answer_with(self, task: str, decide: Callable[[Recorded], Reply]) -> None:
        """For a reply that depends on the question."""
        self._answers[task] = decide

    def asked(self, task: str) -> list[Recorded]:
        return [request for request in self.requests if request.task == task]

    def take(self, request: Recorded) -> Reply:
        with self._lock:
            self.requests.append(request)
            script = self._scripts[request.task]
            if script:
                return script.popleft()
        decide = self._answers.get(request.task)
        return decide(request) if decide else fails(500)  # which may script a `meanwhile`

    def wait(self, seconds: float) -> None:
        """A slow reply doesn't hold up the end of the test."""
        self._closing.wait(seconds)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def scripted_llm() -> Iterator[ScriptedLlm]:
    server = ScriptedLlm()
    server.start()
    try:
        yield server
    finally:
        server.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is part of the script."""


def _handler(llm: ScriptedLlm) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = Recorded(
                self.path, {name.lower(): value for name, value in self.headers.items()}, body
            )
            reply = llm.take(request)
            if reply.before:
                reply.before(request)
            llm.wait(reply.delay)
            self._send(reply, _payload(reply, request))

        def _send(self, reply: Reply, payload: bytes) -> None:
            if reply.body_share == 0:
                self._hang_up()
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload[: int(len(payload) * reply.body_share)])
            if reply.body_share < 1:
                self._hang_up()

        def _hang_up(self) -> None:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def _payload(reply: Reply, request: Recorded) -> bytes:
    if reply.raw is not None:
        return reply.raw
    if reply.status >= 400:
        return json.dumps({"error": {"message": reply.error, "type": "scripted"}}).encode()
    if request.path.endswith("/messages"):
        return json.dumps(_anthropic(reply, request), ensure_ascii=False).encode()
    return json.dumps(_completion(reply, request), ensure_ascii=False).encode()


def _completion(reply: Reply, request: Recorded) -> dict[str, Any]:
    message = {"role": "assistant", **reply.message}
    if reply.arguments is not None:
        message["tool_calls"] = [
            {
                "id": f"call_{len(request.body['messages'])}",
                "type": "function",
                "function": {"name": request.task, "arguments": reply.arguments},
            }
        ]
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.body["model"],
        "choices": [
            {"index": 0, "message": message, "finish_reason": reply.finish, "logprobs": None}
        ],
        "usage": USAGE,
    }


def _anthropic(reply: Reply, request: Recorded) -> dict[str, Any]:
    """Tool calls only; here the arguments are an object by protocol."""
    call = {"type": "tool_use", "id": "toolu_1", "name": request.task}
    return {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": request.body["model"],
        "content": [{**call, "input": json.loads(reply.arguments)}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }
