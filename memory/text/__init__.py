"""What the code may know about a text without a model: pure functions over strings."""

from memory.text.language import detect_language, language_config
from memory.text.normal import normalise, text_hash, tombstone_digest
from memory.text.quotes import contains_quote, find_quote
from memory.text.words import words

__all__ = [
    "contains_quote",
    "detect_language",
    "find_quote",
    "language_config",
    "normalise",
    "text_hash",
    "tombstone_digest",
    "words",
]
