"""The gates: what a proposal may become. Pure functions; the model proposes, this decides."""

from memory.policy.values import (
    AddEvidence,
    Create,
    Dropped,
    Known,
    Neighbour,
    Outcome,
    Passed,
    PolicyContext,
    Reinforce,
    Screened,
    Stored,
    Supersede,
    WindowMessage,
)

__all__ = [
    "AddEvidence",
    "Create",
    "Dropped",
    "Known",
    "Neighbour",
    "Outcome",
    "Passed",
    "PolicyContext",
    "Reinforce",
    "Screened",
    "Stored",
    "Supersede",
    "WindowMessage",
]
