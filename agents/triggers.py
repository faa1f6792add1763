"""Database triggers that several apps use. The SQL functions they call are in agents/sql."""

from typing import Any

import pgtrigger


class Runs(pgtrigger.Trigger):
    """Runs a function of an app's sql folder in place of the one that pgtrigger generates.

    Such a function names the schemas it reads (SET search_path), temporary tables last. In a
    generated one a session's temporary table could stand in for a table or a catalog.
    """

    func = "RETURN NULL;"

    def __init__(self, function: str, **options: Any) -> None:
        self.function = function
        super().__init__(**options)

    def render_execute(self, model: Any) -> str:
        return f"{self.function}()"


def audited() -> pgtrigger.Trigger:
    """Writes every change of a row to the audit trail.

    The function is SECURITY DEFINER and belongs to the tables' owner, so the application's role can
    neither write nor change nor leave out a line of the trail.
    """
    return Runs(
        "remembrancer_audit",
        name="audited",
        when=pgtrigger.After,
        operation=pgtrigger.Insert | pgtrigger.Update | pgtrigger.Delete,
    )


def audited_but_for_counters(*told: str, change: str) -> list[pgtrigger.Trigger]:
    """As `audited`, for a row on which a job counts: a change that touches none of the fields
    `told` is no line of the trail, which would drown in them. `change`: the second one's name."""
    touched = pgtrigger.Q()
    for field in told:
        touched |= pgtrigger.Q(**{f"old__{field}__df": pgtrigger.F(f"new__{field}")})
    return [
        Runs(
            "remembrancer_audit",
            name="audited",
            when=pgtrigger.After,
            operation=pgtrigger.Insert | pgtrigger.Delete,
        ),
        Runs(
            "remembrancer_audit",
            name=change,
            when=pgtrigger.After,
            operation=pgtrigger.Update,
            condition=touched,
        ),
    ]


def settings_follow() -> pgtrigger.Trigger:
    """Whoever makes an account, and how: by the end of the transaction it has settings."""
    return Runs(
        "remembrancer_give_settings",
        name="settings_follow",
        when=pgtrigger.After,
        operation=pgtrigger.Insert,
        timing=pgtrigger.Deferred,
    )


def kept(message: str) -> pgtrigger.Trigger:
    """Refuse DELETE, but for the purge function."""
    return pgtrigger.Trigger(
        name="kept",
        when=pgtrigger.Before,
        operation=pgtrigger.Delete,
        func=f"""
            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN OLD; END IF;
            RAISE EXCEPTION '{message}' USING ERRCODE = 'restrict_violation';
        """,
    )


def fixed(*fields: str, name: str, message: str) -> pgtrigger.Trigger:
    """Refuse a change of these fields, but for the purge function."""
    changed = pgtrigger.Q()
    for field in fields:
        changed |= pgtrigger.Q(**{f"old__{field}__df": pgtrigger.F(f"new__{field}")})
    return pgtrigger.Trigger(
        name=name,
        when=pgtrigger.Before,
        operation=pgtrigger.Update,
        condition=changed,
        func=f"""
            IF public.remembrancer_is_purging(TG_RELID) THEN RETURN NEW; END IF;
            RAISE EXCEPTION '{message}' USING ERRCODE = 'restrict_violation';
        """,
    )
