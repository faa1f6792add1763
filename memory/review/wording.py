"""What a new wording changes, word by word."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from memory.text.words import UNSPACED

# A word with the space behind it; where a script has no spaces, a character.
_TOKEN = re.compile(rf"[{UNSPACED}]\s*|[^\s{UNSPACED}]+\s*|\s+")


class Part(StrEnum):
    SAME = "same"
    GONE = "gone"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Piece:
    part: Part
    text: str


def changes(old: str, new: str) -> list[Piece]:
    """One line that reads as the old text with what is gone, and as the new one with what came."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    matcher = SequenceMatcher(None, [t.strip() for t in before], [t.strip() for t in after])
    found: list[Piece] = []
    for what, i, j, k, m in matcher.get_opcodes():
        if what == "equal":
            same = zip(before[i:j], after[k:m], strict=True)
            found.append(Piece(Part.SAME, "".join(max(pair, key=len) for pair in same)))
        else:
            found += _marked(Part.GONE, "".join(before[i:j]))
            found += _marked(Part.NEW, "".join(after[k:m]))
    return found


def _marked(part: Part, text: str) -> list[Piece]:
    """The mark ends with the last letter, not behind the space."""
    bare = text.rstrip()
    pieces = [Piece(part, bare), Piece(Part.SAME, text[len(bare) :])]
    return [piece for piece in pieces if piece.text]
