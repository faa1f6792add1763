"""What several tests of memory share."""

from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from agents.models import User
from memory import embedding
from tests.llm_server import ScriptedLlm, scripted_llm


@pytest.fixture
def alices(client: Client, alice: User) -> Client:
    """Alice's browser, signed in."""
    client.force_login(alice)
    return client


@pytest.fixture
def no_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedding model is not in memory, whatever test loaded it before."""
    monkeypatch.setattr(embedding, "_held", embedding._Holder())


@pytest.fixture
def llm(settings: Settings, no_vectors: None) -> Iterator[ScriptedLlm]:
    """A scripted model on the general route; there is no private one."""
    with scripted_llm() as server:
        general = {"model": "scripted", "base_url": server.url, "api_key": "key"}
        settings.LLM_ROUTES = {"general": general, "private": {"model": ""}}
        yield server
