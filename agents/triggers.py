"""Database triggers that several apps use. The SQL functions they call are in agents/sql."""

from typing import Any

import pgtrigger


class Audited(pgtrigger.Trigger):
    """Writes every change of a row to the audit trail.

    It runs a function of its own instead of the one that pgtrigger generates. That function belongs
    to the tables' owner and is SECURITY DEFINER, so the application's role can neither write nor
    change nor leave out a line of the trail.
    """

    name = "audited"
    when = pgtrigger.After
    operation = pgtrigger.Insert | pgtrigger.Update | pgtrigger.Delete
    func = "RETURN NULL;"

    def render_execute(self, model: Any) -> str:
        return "remembrancer_audit()"


def kept(noun: str) -> pgtrigger.Trigger:
    """Refuse DELETE, but for the tables' owner, as whom the purge function runs."""
    return pgtrigger.Trigger(
        name="kept",
        when=pgtrigger.Before,
        operation=pgtrigger.Delete,
        func=f"""
            IF remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;
            RAISE EXCEPTION 'A {noun} is never deleted, only purged.'
                USING ERRCODE = 'restrict_violation';
        """,
    )


def fixed(*fields: str, name: str, message: str) -> pgtrigger.Trigger:
    """Refuse a change of these fields, but for the tables' owner, as whom purge runs."""
    changed = pgtrigger.Q()
    for field in fields:
        changed |= pgtrigger.Q(**{f"old__{field}__df": pgtrigger.F(f"new__{field}")})
    return pgtrigger.Trigger(
        name=name,
        when=pgtrigger.Before,
        operation=pgtrigger.Update,
        condition=changed,
        func=f"""
            IF remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;
            RAISE EXCEPTION '{message}' USING ERRCODE = 'restrict_violation';
        """,
    )
