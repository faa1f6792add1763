"""A fence around lines of text, as many as its budget holds. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.recall.block import NONCE_CHARACTERS, Count
from memory.recall.clean import clean


@dataclass(frozen=True)
class Fenced:
    """`text` ends its last line, where there is any; `tokens` is what it costs at most, whatever
    the nonce. `kept` are the numbers of the lines in it."""

    text: str = ""
    tokens: int = 0
    kept: tuple[int, ...] = ()


NOTHING = Fenced()


def fence(
    name: str, introduction: str, lines: Sequence[str], *, budget: int, nonce: str, count: Count
) -> Fenced:
    """In order; one that is too long leaves its room to those behind it. `name` may have
    attributes; each line is made one, in which nothing can be read as a fence."""
    if not lines:
        return NOTHING
    tag = name.split(" ", 1)[0]
    around = (f'<{name} id="', f'">\n{introduction}\n', f'</{tag} id="', '">\n')
    # No character of a nonce takes more than one token.
    tokens = sum(map(count, around)) + 2 * NONCE_CHARACTERS
    shown: list[str] = []
    kept: list[int] = []
    for number, line in enumerate(lines):
        text = f"- {clean(line, nonce)}\n"
        cost = count(text)
        if tokens + cost <= budget:
            tokens += cost
            shown.append(text)
            kept.append(number)
    if not kept:
        return NOTHING
    first, second, third, last = around
    text = f"{first}{nonce}{second}{''.join(shown)}{third}{nonce}{last}"
    return Fenced(text, tokens, tuple(kept))
