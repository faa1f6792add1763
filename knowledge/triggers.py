"""What the database keeps of itself in the knowledge base. Its SQL is in knowledge/sql."""

import pgtrigger

from agents.triggers import Runs, audited_but_for_counters

# A running job writes its progress every second or so.
DOCUMENT = audited_but_for_counters(
    "collection",
    "title",
    "address",
    "file_name",
    "state",
    "failure",
    "generation",
    "digest",
    change="audited_change",
)

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
