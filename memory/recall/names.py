"""Whether a message names something, allowing for a slip of the finger. Pure."""

from collections.abc import Sequence

# Shorter words have too many neighbours: mango is not mongo, rust is not rest.
_SLIPS_FROM = 5
_SAME_START = 2


def says_name(message: Sequence[str], name: Sequence[str]) -> bool:
    """Both as words in normal form."""
    width = len(name)
    return width > 0 and any(
        all(map(same, message[start : start + width], name))
        for start in range(len(message) - width + 1)
    )


def same(word: str, other: str) -> bool:
    """Equal, or one letter added, lost, changed or swapped behind the first two."""
    if word == other:
        return True
    shorter, longer = sorted((word, other), key=len)
    if len(longer) < _SLIPS_FROM or len(longer) - len(shorter) > 1:
        return False
    if word[:_SAME_START] != other[:_SAME_START]:
        return False
    return _one_slip(shorter, longer)


def _one_slip(shorter: str, longer: str) -> bool:
    at = next((n for n, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), None)
    if at is None:
        return True  # one letter more at the end
    if len(shorter) < len(longer):
        return shorter[at:] == longer[at + 1 :]
    if shorter[at + 1 :] == longer[at + 1 :]:
        return True
    swapped = shorter[at + 1 : at + 2] + shorter[at]
    return longer[at : at + 2] == swapped and shorter[at + 2 :] == longer[at + 2 :]
