from pathlib import Path

import pytest

from agents.models import Agent, User
from tests.transfer.stores import Store, a_store


@pytest.fixture
def store(alice: User, agent: Agent, second_agent: Agent) -> Store:
    """Alice's, with a fact in every state and all that can hang on one."""
    return a_store(alice, agent, second_agent)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.jsonl"
