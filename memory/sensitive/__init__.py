"""What must not be stored, and what must not become active unseen. Pure functions over text."""

from memory.sensitive.assistant import addresses_assistant
from memory.sensitive.contact import contact_or_payment
from memory.sensitive.credentials import credentials, redact
from memory.sensitive.directives import directive
from memory.sensitive.hidden import hidden_text, show_hidden

__all__ = [
    "addresses_assistant",
    "contact_or_payment",
    "credentials",
    "directive",
    "hidden_text",
    "redact",
    "show_hidden",
]
