"""What the database keeps of itself in the knowledge base. Its SQL is in knowledge/sql."""

import pgtrigger

from agents.triggers import Runs

# A running job writes its progress every second or so: that is nothing for the trail.
_TOLD = ("collection", "title", "address", "file_name", "state", "failure", "generation", "digest")


def _changed() -> pgtrigger.Q:
    changed = pgtrigger.Q()
    for field in _TOLD:
        changed |= pgtrigger.Q(**{f"old__{field}__df": pgtrigger.F(f"new__{field}")})
    return changed


DOCUMENT = [
    Runs(
        "remembrancer_audit",
        name="audited",
        when=pgtrigger.After,
        operation=pgtrigger.Insert | pgtrigger.Delete,
    ),
    Runs(
        "remembrancer_audit",
        name="audited_change",
        when=pgtrigger.After,
        operation=pgtrigger.Update,
        condition=_changed(),
    ),
]

PASSAGES = [
    Runs(
        "remembrancer_document_passages_came",
        name="document_passages_came",
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=pgtrigger.Insert,
        referencing=pgtrigger.Referencing(new="came"),  # type: ignore[no-untyped-call]
    ),
]
