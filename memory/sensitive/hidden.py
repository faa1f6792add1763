"""Characters that a reader can't see, or takes for others.

Ordinary writing needs some of them: joiners in emoji, in Persian and in Indic scripts, direction
marks in Hebrew and Arabic, style selectors behind a picture. Those come through.
"""

import re
import unicodedata
from collections.abc import Iterator

from memory.text.characters import (
    PICTURE,
    ZWJ,
    ZWNJ,
    is_hidden,
    is_variation_selector,
    meaningful_at,
)

_DIRECTION_MARKS = "\u200e\u200f\u061c"
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_JOINED_SCRIPTS = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af]"
)  # Arabic, Indic, Burmese, Khmer, Mongolian
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_TIBETAN = re.compile("[\u0f00-\u0fff]")
# Biblical Hebrew and Vietnamese need up to four marks on one letter.
_MARKS_PER_LETTER = 4

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_GREEK_OR_CYRILLIC = re.compile("[\u0370-\u03ff\u0400-\u052f]")
_LIKE_LATIN = frozenset("асеорхуіјѕһԁԛԝӏАВЕКМНОРСТУХІЈЅЗονραυχικΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
_LIKE_OTHERS = frozenset("aceopxyijshdqwlvukABEKMHOPCTYXIJSZN")
# Letters for formulas and enclosed letters, which spell words in no language.
_COSTUMES = re.compile("[\U0001d400-\U0001d7cb\u24b6-\u24e9\U0001f130-\U0001f149]{3,}")


def hidden_text(text: str) -> bool:
    return next(_odd(text), None) is not None


def show_hidden(text: str) -> str:
    """The text with what can't be seen, or is not what it seems, spelled out as ⟨U+200B⟩."""
    odd = set(_odd(text))
    return "".join(f"⟨U+{ord(c):04X}⟩" if i in odd else c for i, c in enumerate(text))


def _odd(text: str) -> Iterator[int]:
    """Positions in the text, in no order."""
    if text.isascii() and text.isprintable():
        return
    yield from _out_of_place(text)
    yield from _piled_marks(text)
    for word in _WORD.finditer(text):
        yield from (word.start() + at for at in _lookalikes(word[0]))
    for costume in _COSTUMES.finditer(text):
        yield from range(*costume.span())


def _out_of_place(text: str) -> Iterator[int]:
    at_home = meaningful_at(text)
    right_to_left = bool(_RIGHT_TO_LEFT.search(text))
    for position, char in enumerate(text):
        if not is_hidden(char) or position in at_home:
            continue
        if char in _DIRECTION_MARKS and right_to_left:
            continue
        before = text[position - 1] if position else ""
        after = text[position + 1 : position + 2]
        if not _belongs(char, before, after):
            yield position


def _belongs(char: str, before: str, after: str) -> bool:
    if char in (ZWNJ, ZWJ):
        return bool(_JOINED_SCRIPTS.match(before) and (not after.isascii() or not after.isalnum()))
    if not is_variation_selector(char) or not before:
        return False
    if char in "\ufe0e\ufe0f":
        return bool(PICTURE.match(before)) or before in "0123456789#*"
    return bool(_HAN.match(before)) or "\u1800" <= before <= "\u18af"


def _piled_marks(text: str) -> Iterator[int]:
    height = 0
    for position, char in enumerate(text):
        is_mark = unicodedata.category(char) in {"Mn", "Me"} and not _TIBETAN.match(char)
        height = height + 1 if is_mark and not is_variation_selector(char) else 0
        if height > _MARKS_PER_LETTER:
            yield position


def _lookalikes(word: str) -> list[int]:
    """Greek or Cyrillic letters that pose as Latin in this word, or the other way round."""
    latin = [i for i, char in enumerate(word) if _LATIN.match(char)]
    other = [i for i, char in enumerate(word) if _GREEK_OR_CYRILLIC.match(char)]
    if not latin or not other:
        return []
    if len(other) <= len(latin) and all(word[i] in _LIKE_LATIN for i in other):
        return other
    poses = len(latin) <= len(other) and all(word[i] in _LIKE_OTHERS for i in latin)
    return latin if poses else []
