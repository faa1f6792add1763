"""The rules of an earlier moment. A text never changes; what does, the audit trail has."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from agents.models import Agent
from memory.models import Rule
from memory.rules.scope import rules_for

# As for facts in memory/recall/as_of.py: the first change after the moment tells what was before.
_BEFORE = """
    SELECT e.row_id::uuid, jsonb_object_agg(changed.key, changed.value ORDER BY e.id DESC)::text
    FROM agents_auditevent e, jsonb_each(e.before) AS changed
    WHERE e.owner_id = %(owner)s AND e."table" = 'memory_rule' AND e.action = 'update'
        AND e.at > %(moment)s
        AND changed.key IN ('enabled', 'place', 'superseded_by_id', 'retired_at')
        AND e.id > coalesce((
            SELECT id FROM agents_auditevent
            WHERE owner_id = %(owner)s AND at < %(moment)s::timestamptz - interval '1 minute'
            ORDER BY id DESC LIMIT 1), 0)
    GROUP BY e.row_id
"""


def rode(agent: Agent, moment: datetime, *, withdrawn: bool) -> list[Rule]:
    """What stood and was on then, in the order of then, in today's scope; with `withdrawn` also
    what the owner has since taken out or switched off."""
    rows = list(rules_for(agent).filter(created_at__lte=moment))
    if not withdrawn:
        rows = _still_meant(agent, rows)
    before = _changed_since(agent, moment)
    for row in rows:
        for name, value in before.get(row.pk, {}).items():
            setattr(row, name, value)
    told = [row for row in rows if row.stands and row.enabled]
    return sorted(told, key=lambda row: (row.place, row.created_at, row.pk))


def _changed_since(agent: Agent, moment: datetime) -> Mapping[UUID, Mapping[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(_BEFORE, {"owner": agent.owner_id, "moment": moment})
        return {rule: json.loads(columns) for rule, columns in cursor.fetchall()}


def _still_meant(agent: Agent, rows: list[Rule]) -> list[Rule]:
    """Those whose last wording stands and is on."""
    last = {row.pk: row for row in Rule.objects.filter(owner=agent.owner_id)}

    def end(row: Rule) -> Rule:
        while row.superseded_by_id is not None:
            row = last[row.superseded_by_id]
        return row

    return [row for row in rows if (head := end(row)).retired_at is None and head.enabled]
