"""What recall asks before it knows anything, at once: the owner's settings, how much there is to
know, and what the message's words and names are."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.db import DatabaseError

from agents.models import Agent, OwnerSettings
from conversations.models import Conversation
from memory.recall import ahead, census, named, terms
from memory.recall.query import Query
from memory.recall.statements import OneRow, apart, ask_together
from memory.vocabulary import State

log = logging.getLogger(__name__)

# As text: the ORM takes ten times as long to make it as Postgres to answer it.
_SETTINGS = """
    SELECT memory_enabled, time_zone, recall_budget, EXISTS (
        SELECT FROM memory_case WHERE owner_id = %(owner)s AND state = %(active)s),
        EXISTS (
            SELECT FROM memory_rule WHERE owner_id = %(owner)s
            AND superseded_by_id IS NULL AND retired_at IS NULL AND enabled),
        ARRAY[{hints}]::boolean[]
    FROM agents_ownersettings WHERE owner_id = %(owner)s
"""
# Where a table that it looks into is broken: what is in there fails alone then, and says so.
_SETTINGS_ALONE = """
    SELECT memory_enabled, time_zone, recall_budget, true, true, ARRAY[]::boolean[]
    FROM agents_ownersettings WHERE owner_id = %(owner)s
"""
_SETTINGS_COLUMNS = 6


class Owner(NamedTuple):
    """Of the owner's settings, and whether they have cases, rules, and what each hint speaks of."""

    choice: bool | None
    zone: str
    budget: int | None
    has_cases: bool
    any_rules: bool
    any_hints: Sequence[bool]


@dataclass(frozen=True)
class First:
    """The rows of census.counts, terms.analysis and named.like; without one whoever needs it asks
    again, and fails alone."""

    counts: Sequence[Any] | None = None
    words: Sequence[Any] | None = None
    names: Sequence[Any] | None = None


UNASKED = First()


def look(agent: Agent, query: Query, conversation: Conversation | None) -> tuple[Owner, First]:
    """Of a message that asks for nothing only the settings are of use. Raises
    OwnerSettings.DoesNotExist."""
    statements = [_settings(agent.owner_id, conversation)]
    if not query.is_small_talk:
        about = named.like(agent.owner_id, query)
        statements += [census.counts(agent), terms.analysis(query, agent), about]
    try:
        with apart():
            rows = ask_together(statements)
    except DatabaseError as error:
        log.warning("recall asks for settings alone: %s", type(error).__name__)
        alone = OneRow(_SETTINGS_ALONE, _SETTINGS_COLUMNS, {"owner": agent.owner_id})
        rows = ask_together([alone])
    if not rows:
        raise OwnerSettings.DoesNotExist
    settings, *known = rows
    return Owner(*settings), First(*known)


def _settings(owner: UUID, conversation: Conversation | None) -> OneRow:
    text = _SETTINGS.replace("{hints}", ", ".join(hint.exists for hint in ahead.hints))
    values: dict[str, Any] = {
        "owner": owner,
        "active": State.ACTIVE.value,
        "conversation": conversation and conversation.pk,
    }
    return OneRow(text, _SETTINGS_COLUMNS, values)
