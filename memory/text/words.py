"""Words of any script. Where a script has no spaces, pairs of characters stand in for words."""

import re
import unicodedata
from itertools import pairwise

from memory.text.normal import normalise

# Thai to Lao, Burmese, Khmer, kana, Han.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")
_UNSPACED_CHAR = re.compile(f"[{UNSPACED}]")
# What of ASCII depends on what stands beside it, and what is no part of a word anywhere.
_SIGNS = "'.,^+#%-"
_SIGN = re.compile(f"[{_SIGNS}]")
_OUTSIDE = {n: " " for n in range(128) if not chr(n).isalnum() and chr(n) not in f"${_SIGNS}"}


def words(text: str) -> list[str]:
    """In order, in normal form; `don't` and `1,250` are one word each."""
    found: list[str] = []
    for run in _RUN.findall(normalise(text)):
        if _UNSPACED_CHAR.match(run):
            found += ["".join(pair) for pair in pairwise(run)] or [run]
        else:
            found += _spaced_words(run)
    return found


def _spaced_words(run: str) -> list[str]:
    """By category rather than by \\w, which takes Indic vowel signs for word ends."""
    if run.isascii():  # most are, and of most characters there is nothing to ask
        kept = _SIGN.sub(lambda at: _kept(at[0], at.start(), run), run.translate(_OUTSIDE))
    else:
        kept = "".join(_kept(char, place, run) for place, char in enumerate(run))
    return kept.split()


def _kept(char: str, index: int, run: str) -> str:
    return char if _in_word(char, index, run) else " "


def _in_word(char: str, index: int, run: str) -> bool:
    """Letters, marks, digits, money, and the signs that make C++, -5, 5% and 10^2 what they are."""
    if unicodedata.category(char) == "Sc" or unicodedata.category(char)[0] in "LMN":
        return True
    before = run[index - 1] if index else " "
    after = run[index + 1] if index + 1 < len(run) else " "
    if char in "'.,^⁄":
        return before.isalnum() and after.isalnum()
    if char in "+#%":
        return before.isalnum() or before == "+"
    return char == "-" and before.isspace() and after.isdigit()
