"""Rules for tests, written as their owner writes them."""

from typing import Any

from agents.audit import person
from agents.models import Agent, User
from memory.models import Rule
from memory.rules import writing


def ruled(owner: User, text: str, agent: Agent | None = None, **values: Any) -> Rule:
    return writing.write(owner=owner, agent=agent, text=text, actor=person(owner), **values)
