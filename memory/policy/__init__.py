"""The gates: what a proposal may become. Pure functions; the model proposes, this decides."""

from memory.policy.activation import activation, remember_state
from memory.policy.difference import Aspect, Difference, differs
from memory.policy.resolve import count_gates, gate_of, passed_over, resolve, without_reflector
from memory.policy.screen import screen, screen_batch
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
    "Aspect",
    "Create",
    "Difference",
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
    "activation",
    "count_gates",
    "differs",
    "gate_of",
    "passed_over",
    "remember_state",
    "resolve",
    "screen",
    "screen_batch",
    "without_reflector",
]
