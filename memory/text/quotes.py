"""Verbatim quotes: the same characters, up to runs of white space and the shape of quote marks."""

_MARKS = {**dict.fromkeys("‘’‚‛", "'"), **dict.fromkeys("“”„‟«»", '"')}


def find_quote(message: str, quote: str) -> tuple[int, int] | None:
    """Where the quote stands in the message, as a half-open range of its characters."""
    wanted = _fold(quote)[0].strip()
    if not any(char.isalnum() for char in wanted):
        return None
    folded, positions = _fold(message)
    start = folded.find(wanted)
    if start < 0:
        return None
    return positions[start], positions[start + len(wanted) - 1] + 1


def contains_quote(message: str, quote: str) -> bool:
    return find_quote(message, quote) is not None


def _fold(text: str) -> tuple[str, list[int]]:
    """The folded text, and for each of its characters the position it came from."""
    chars: list[str] = []
    positions: list[int] = []
    for position, char in enumerate(text):
        if char.isspace():
            if chars and chars[-1] == " ":
                continue
            char = " "
        chars.append(_MARKS.get(char, char))
        positions.append(position)
    return "".join(chars), positions
