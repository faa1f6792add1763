"""The proxy served to real clients, before a scripted model server, for its tests."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import openai
import pytest
from django.core.signals import request_finished, request_started
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from agents.models import Agent
from conversations.models import Message
from memory.proxy import recalling
from memory.proxy import upstream as proxied
from tests.factories import ApiKeyFactory, IssuedKey
from tests.upstream_server import Upstream, scripted_upstream

UPSTREAM_KEY = "sk-of-the-operator"
PATIENCE = 20  # seconds


class Traffic:
    """Requests that the server under test has begun and not ended."""

    def __init__(self) -> None:
        self.began = self.ended = 0
        self._lock = threading.Lock()

    def begin(self, **_: Any) -> None:
        with self._lock:
            self.began += 1

    def end(self, **_: Any) -> None:
        with self._lock:
            self.ended += 1

    def over(self) -> None:
        """What a request leaves behind, it has left."""
        eventually(lambda: self.began - self.ended, 0)


@pytest.fixture
def traffic() -> Iterator[Traffic]:
    counted = Traffic()
    request_started.connect(counted.begin)
    request_finished.connect(counted.end)
    yield counted
    request_started.disconnect(counted.begin)
    request_finished.disconnect(counted.end)


@pytest.fixture
def upstream(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, traffic: Traffic
) -> Iterator[Upstream]:
    """Recall has all the time it wants: these tests run beside others."""
    monkeypatch.setattr(recalling, "DEADLINE", PATIENCE)
    with scripted_upstream() as server:
        settings.UPSTREAM = {"base_url": server.url, "api_key": UPSTREAM_KEY}
        settings.UPSTREAM_TIMEOUT_SECONDS = PATIENCE
        yield server
        for reply in server.given:
            reply.release.set()
        traffic.over()
    proxied._client().close()
    proxied._client.cache_clear()


@pytest.fixture
def key(agent: Agent) -> IssuedKey:
    return ApiKeyFactory.create(agent=agent, scopes=["proxy"])


@pytest.fixture
def client(live_server: LiveServer, key: IssuedKey, upstream: Upstream) -> openai.OpenAI:
    return speaks_as(key, live_server)


def speaks_as(key: IssuedKey, server: LiveServer) -> openai.OpenAI:
    """Knows a new address and a key, and no more."""
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key=key.plaintext, max_retries=0)


def raw(url: str, key: str, body: Any, **headers: str) -> httpx2.Response:
    content = body if isinstance(body, bytes) else None
    return httpx2.post(
        f"{url}/chat/completions",
        content=content,
        json=None if content is not None else body,
        headers={"authorization": f"Bearer {key}", **headers},
        timeout=PATIENCE,
    )


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def ask(client: openai.OpenAI, *messages: Any, headers: Any = None, **more: Any) -> Any:
    """The answer, and what the headers said: `.headers`, `.parse()`."""
    return client.chat.completions.with_raw_response.create(
        model="scripted", messages=list(messages), extra_headers=headers or {}, **more
    )


def eventually(look: Callable[[], Any], wanted: Any) -> None:
    """The exchange is kept after the client has its answer."""
    give_up = time.monotonic() + PATIENCE
    while (found := look()) != wanted and time.monotonic() < give_up:
        time.sleep(0.02)
    assert found == wanted


def kept(*, on_branch: bool = True) -> list[tuple[str, str]]:
    rows = Message.objects.filter(on_branch=on_branch).order_by("conversation_id", "seq")
    return list(rows.values_list("role", "content"))
