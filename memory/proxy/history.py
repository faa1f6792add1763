"""Where a client's copy of the conversation goes on from ours. Pure.

Clients send the whole history with each turn, or the end of it, after they edited it or had an
answer written again. Names of messages are not part of the protocol, so texts are compared.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from conversations.models import Message
from memory.proxy.wire import ASSISTANT, USER, Turn

# Clients take a model's thoughts out of its answer before they send it back.
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
# Compared are at most so many turns of either side, the newest.
COMPARED = 300


@dataclass(frozen=True, slots=True)
class Stored:
    """A message on the branch of a stored conversation."""

    client_id: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Continued:
    """`fresh` turns follow the first `after` stored ones; where more of these follow, the client
    has taken them back. `found` is False where nothing of its history is stored."""

    fresh: tuple[Turn, ...]
    after: int
    found: bool


def print_of(role: str, text: str) -> str:
    """The same for a text and its copy that lost its thoughts or outer white space on the way.

    >>> print_of("user", "Hello  there") == print_of("user", " Hello there ")
    True
    """
    words = " ".join(_THOUGHTS.sub(" ", text).split())
    return hashlib.sha256(f"{role}\n{words}".encode()).hexdigest()


def continued(stored: Sequence[Stored], said: Sequence[Turn]) -> Continued:
    """The longest run of turns that both have decides. A single turn counts only where the client's
    history begins with it and nothing but an answer follows it here: “ok” is said often."""
    length, heard, kept = _longest_run(stored, said)
    begins = length == heard and len(stored) - kept <= 1
    if length >= 2 or (length == 1 and begins):
        return Continued(tuple(said[heard:]), kept, found=True)
    return Continued(_newest(said), len(stored), found=False)


def _newest(said: Sequence[Turn]) -> tuple[Turn, ...]:
    """From the user's last words on. When the rest was said nobody knows, and a date that is
    reckoned from the wrong day is worse than none."""
    asked = [at for at, turn in enumerate(said) if turn.role == USER]
    return tuple(said[asked[-1] :]) if asked else ()


def _longest_run(stored: Sequence[Stored], said: Sequence[Turn]) -> tuple[int, int, int]:
    """(its length, where it ends in `said`, where in `stored`); the last of several."""
    ours = [None if _is_purged(one) else print_of(one.role, one.text) for one in stored]
    best, above = (0, 0, 0), [0] * (len(stored) + 1)
    for heard, turn in enumerate(said, start=1):
        mark, row = print_of(turn.role, turn.text), [0]
        for kept, one in enumerate(stored, start=1):
            # What was purged can't be compared, so the client's copy of it is taken for known.
            same = ours[kept - 1] in {None, mark} and one.role == turn.role
            row.append(above[kept - 1] + 1 if same else 0)
            best = max(best, (row[kept], heard, kept))
        above = row
    return best


def _is_purged(message: Stored) -> bool:
    return message.text == Message.PURGED


def names(follows: str, replaces: str, fresh: Sequence[Turn]) -> list[str]:
    """Client ids for turns that follow one another: the same whenever the same is sent again."""
    found = []
    for turn in fresh:
        mark = f"{follows}\n{replaces}\n{print_of(turn.role, turn.text)}"
        follows, replaces = f"proxy:{hashlib.sha256(mark.encode()).hexdigest()[:40]}", ""
        found.append(follows)
    return found


def openings(said: Sequence[Turn], whose: str) -> tuple[str, ...]:
    """Names for a conversation whose client gives it none: from its first question and answer, then
    from its second question too, for another that begins alike. Empty before the first answer."""
    marks = [(turn.role, print_of(turn.role, turn.text)) for turn in said]
    asked = [mark for role, mark in marks if role == USER][:2]
    answered = [mark for role, mark in marks if role == ASSISTANT][:1]
    if not asked or not answered:
        return ()
    begun = [whose, asked[0], answered[0]]
    return tuple(_name(begun + asked[1:more]) for more in range(1, len(asked) + 1))


def _name(marks: Sequence[str]) -> str:
    return f"auto-{hashlib.sha256(' '.join(marks).encode()).hexdigest()[:40]}"
