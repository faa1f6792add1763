"""Verbatim quotes: the same characters, up to runs of white space and the shape of quote marks."""

from collections.abc import Iterator

_MARKS = {**dict.fromkeys("‘’‚‛", "'"), **dict.fromkeys("“”„‟«»", '"')}


def find_quotes(message: str, quote: str) -> Iterator[tuple[int, int]]:
    """Where the quote stands in the message, as half-open ranges of its characters."""
    wanted = _fold(quote)[0].strip()
    if not any(char.isalnum() for char in wanted):
        return
    folded, positions = _fold(message)
    start = folded.find(wanted)
    while start >= 0:
        yield positions[start], positions[start + len(wanted) - 1] + 1
        start = folded.find(wanted, start + len(wanted))


def find_quote(message: str, quote: str) -> tuple[int, int] | None:
    return next(find_quotes(message, quote), None)


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
