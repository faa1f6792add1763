"""Which text can be a rule. Pure."""

import unicodedata
from hashlib import sha256

from memory.sensitive import credentials, hidden_text

LONGEST = 500  # characters

BLANK = "Write what your assistants are to do."
TOO_LONG = f"A rule has at most {LONGEST} characters; make it shorter, or two of it."
LEAKS = (
    "This looks like a password, key or other secret. A rule is sent with every message, so no"
    " secret may be in it."
)
HIDDEN = "This holds hidden characters, which you can't see and an assistant would read."


def tidy(text: str) -> str:
    """One line, without blanks at its ends."""
    return " ".join(text.split())


def fault(text: str) -> str:
    """Why a tidy text can't be a rule, in words for its owner; empty where it can."""
    if not text:
        return BLANK
    if hidden_text(text) or any(unicodedata.category(char) in {"Cc", "Cs"} for char in text):
        return HIDDEN
    if credentials(text):
        return LEAKS
    return TOO_LONG if len(text) > LONGEST else ""


def hash_of(text: str) -> str:
    """Of the very text: that two wordings mean the same is judged over the normal form."""
    return sha256(text.encode()).hexdigest()
