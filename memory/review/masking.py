"""Secrets are shown to nobody, not even where their owner decides over them."""

from collections.abc import Sequence
from itertools import pairwise

from memory.sensitive.credentials import REDACTED, credentials


def masked(text: str, cuts: Sequence[int] = ()) -> list[str]:
    """The text in pieces between the cuts. A secret that crosses one is masked where it begins."""
    spans = credentials(text)
    edges = [0, *cuts, len(text)]
    return [_piece(text, spans, *pair) for pair in pairwise(edges)]


def _piece(text: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> str:
    kept, at = [], start
    for begin, stop in spans:
        if stop <= start or begin >= end:
            continue
        kept.append(text[at : max(begin, at)])
        if begin >= start:
            kept.append(REDACTED)
        at = min(stop, end)
    return "".join([*kept, text[at:end]])
