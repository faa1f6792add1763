"""What the code may know about a text without a model: pure functions over strings."""

from memory.text.language import detect_language, language_config
from memory.text.normal import normalise, text_hash, tombstone_digest
from memory.text.quotes import contains_quote, find_quote, find_quotes
from memory.text.relative_dates import has_relative_date, relative_date
from memory.text.typed import is_typed, typed_spans
from memory.text.words import words

__all__ = [
    "contains_quote",
    "detect_language",
    "find_quote",
    "find_quotes",
    "has_relative_date",
    "is_typed",
    "language_config",
    "normalise",
    "relative_date",
    "text_hash",
    "tombstone_digest",
    "typed_spans",
    "words",
]
