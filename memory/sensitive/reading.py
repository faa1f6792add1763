"""What a careless reader, a model above all, would read in a text whatever its spelling."""

import html
import unicodedata

from memory.text.characters import is_hidden

# Statements have 500 characters; the patterns look at this many, whatever they are given.
READ = 10_000


def readable(text: str) -> str:
    """Full-width letters, entities (twice), hidden characters and fancy apostrophes undone."""
    text = html.unescape(html.unescape(text[:READ]))
    text = unicodedata.normalize("NFKC", text)
    text = "".join(char for char in text if not is_hidden(char))
    return text.translate({0x2019: "'", 0x2018: "'", 0x02BC: "'", 0x201C: '"', 0x201D: '"'})
