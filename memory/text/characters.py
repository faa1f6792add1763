"""Which characters leave no mark on the page, and which of those carry meaning all the same."""

import re
import unicodedata

ZWNJ, ZWJ = "\u200c", "\u200d"
EMOJI_STYLE = "\ufe0f"
BLANKS = "\u2800"  # looks like a space, is no space to Unicode
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"

# Format characters (Cf) that are printed: Arabic, Syriac and Kaithi number and footnote signs.
PRINTED_FORMATS = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)

# The three flags that Unicode spells with tag characters: England, Scotland, Wales.
TAG_FLAG = re.compile("\U0001f3f4\U000e0067\U000e0062(?:{})\U000e007f".format(
    "|".join("".join(chr(0xE0000 + ord(c)) for c in code) for code in ("eng", "sct", "wls"))
))  # fmt: skip

_PICTURES = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe"
    "\u2600-\u27bf\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
PICTURE = re.compile(f"[{_PICTURES}]")
# A joiner that glues two pictures together, as in a family or a profession.
EMOJI_JOINER = re.compile(f"(?<=[{_PICTURES}\ufe0f\U0001f3fb-\U0001f3ff])\u200d(?=[{_PICTURES}])")


def is_variation_selector(char: str) -> bool:
    return (
        "\ufe00" <= char <= "\ufe0f"
        or "\U000e0100" <= char <= "\U000e01ef"
        or "\u180b" <= char <= "\u180f"
    )


def is_hidden(char: str) -> bool:
    """Leaves no mark by itself. Line breaks and tabs are spaces, not hidden."""
    if char in "\t\n\v\f\r\x85":
        return False
    return (
        unicodedata.category(char) in {"Cf", "Cc", "Cs"} and char not in PRINTED_FORMATS
    ) or char in FILLERS or is_variation_selector(char)  # fmt: skip


def meaningful_at(text: str) -> set[int]:
    """Positions of hidden characters that belong where they are: inside emoji."""
    kept = {match.start() for match in EMOJI_JOINER.finditer(text)}
    for flag in TAG_FLAG.finditer(text):
        kept.update(range(*flag.span()))
    return kept


def without_hidden(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    kept = meaningful_at(text)
    return "".join(c for i, c in enumerate(text) if i in kept or not is_hidden(c))
