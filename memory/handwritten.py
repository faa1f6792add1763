"""A fact that the owner words themselves, active at once."""

from datetime import datetime

from agents.audit import Actor
from agents.models import Agent, User
from memory import embedding, lifecycle
from memory.lifecycle import Draft, Edit
from memory.models import Fact
from memory.text import detect_language, language_config
from memory.vocabulary import Origin, State


def write(*, owner: User, agent: Agent | None, edit: Edit, at: datetime, actor: Actor) -> Fact:
    """Without an agent it is for every one. Raises MemoryOff, NotAllowed, Duplicate, AtCap."""
    draft = Draft(
        statement=edit.statement,
        kind=edit.kind,
        origin=Origin.MANUAL,
        observed_at=at,
        language=language_config(detect_language(edit.statement)),
        tags=edit.tags,
        valid_from=edit.valid_from,
        valid_until=edit.valid_until,
        valid_precision=edit.valid_precision,
        pinned=edit.pinned,
    )
    fact = lifecycle.propose(
        owner=owner,
        agent=agent,
        draft=draft,
        actor=actor,
        state=State.ACTIVE,
        reason="written by hand",
    )
    embedding.store_at_once([fact])
    return fact
