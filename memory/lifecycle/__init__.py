"""The transitions of a fact: the only writer of its state.

Each is one transaction, serialised per owner, guarded by the state it starts from, and told to the
audit trail with its actor and reason. The database refuses whatever they would not do
(memory/triggers.py). Pages, API, admin, tasks and commands call these and nothing below them.
"""

from memory.lifecycle.ageing import ask_later, decay, end, reconfirm, undo_decay
from memory.lifecycle.births import propose, supersede
from memory.lifecycle.decisions import confirm, confirm_with_edit, correct, reconsider, reject
from memory.lifecycle.folding import absorb, fold, unfold
from memory.lifecycle.merges import merge
from memory.lifecycle.returns import barred, refuse_purged_facts
from memory.lifecycle.rows import version
from memory.lifecycle.sendback import quarantine, reinstate, unsay
from memory.lifecycle.unanswer import unanswer
from memory.lifecycle.upkeep import (
    add_evidence,
    archive,
    promote,
    reinforce,
    restore,
    set_pinned,
    snooze,
    undo,
)
from memory.lifecycle.values import (
    AtCap,
    Conflict,
    Draft,
    Duplicate,
    Edit,
    EntityRef,
    LifecycleError,
    NotAllowed,
    Purged,
    Scope,
    Source,
    Stale,
    Tombstoned,
)
from memory.lifecycle.withdrawal import withdraw

__all__ = [
    "AtCap",
    "Conflict",
    "Draft",
    "Duplicate",
    "Edit",
    "EntityRef",
    "LifecycleError",
    "NotAllowed",
    "Purged",
    "Scope",
    "Source",
    "Stale",
    "Tombstoned",
    "absorb",
    "add_evidence",
    "archive",
    "ask_later",
    "barred",
    "confirm",
    "confirm_with_edit",
    "correct",
    "decay",
    "end",
    "fold",
    "merge",
    "promote",
    "propose",
    "quarantine",
    "reconfirm",
    "reconsider",
    "refuse_purged_facts",
    "reinforce",
    "reinstate",
    "reject",
    "restore",
    "set_pinned",
    "snooze",
    "supersede",
    "unanswer",
    "undo",
    "undo_decay",
    "unfold",
    "unsay",
    "version",
    "withdraw",
]
