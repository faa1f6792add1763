"""Does a statement say more than the words it rests on? Pure.

A model that misreads a number, a name or a "not" still cites a true quote. So what is to become
active unseen must be in the owner's own words: a day may be worked out, nothing else.
"""

import re
import unicodedata
from datetime import date

from memory.policy.difference import NEGATIONS, SMALL_WORDS, is_negated, numbers
from memory.text.lists import listed
from memory.text.words import words
from memory.vocabulary import Precision

# Say nothing by themselves, or turn "I" into "the user".
_CARRIERS = (
    SMALL_WORDS
    | NEGATIONS
    | listed("""
    went goes had did got took place reported mentioned said happened them own themselves himself
    herself about into after before day date month year
""")
)
# So much of a word is its stem, roughly: "visited" was said by "visit".
_STEM = 4
_PARTS = re.compile(r"\d+")
_UNSPACED_FROM = "\u0e00"  # Thai is the first of them, see memory.text.words


def unsaid(statement: str, said: str, quoted: str, day: date | None, language: str) -> str:
    """What of the statement is neither in the messages nor the day; empty: it says no more.

    `said` are the whole messages, `quoted` only the quotes, since a "not" elsewhere is about other
    things. Words are compared in English only: other languages inflect verbs by person.
    """
    stated, spoken = words(statement), words(said)
    known = set(numbers(spoken)) | _of(day)
    for number in sorted(set(numbers(stated))):
        if number not in known and not set(map(_plain, _PARTS.findall(number))) <= known:
            return number
    if is_negated(statement, stated) != is_negated(quoted, words(quoted)):
        return "not"
    return _other_word(stated, spoken) if language == "en" else ""


def mostly_said(statement: str, said: str) -> bool:
    """Whether half of the statement's longer words were said, roughly: enough for languages whose
    words `unsaid` does not compare. Of scripts without spaces every pair of characters counts."""
    stated = [word for word in words(statement) if len(word) > 3 or word > _UNSPACED_FROM]
    spoken = {_stem(word) for word in words(said)}
    return bool(stated) and 2 * sum(_stem(word) in spoken for word in stated) >= len(stated)


def names_day(statement: str, day: date | None, precision: Precision) -> bool:
    """Whether the statement says when: without, what lasts could pass for what happened."""
    if day is None:
        return False
    parts = {
        _plain(part) for number in numbers(words(statement)) for part in _PARTS.findall(number)
    }
    return str(day.day if precision == Precision.DAY else day.year) in parts


def _other_word(stated: list[str], spoken: list[str]) -> str:
    told = (word for word in stated if word not in _CARRIERS and not numbers([word]))
    known = {_stem(word) for word in spoken}
    return next((word for word in told if _stem(word) not in known), "")


def _stem(word: str) -> str:
    plain = unicodedata.normalize("NFD", word.removesuffix("'s"))
    return "".join(char for char in plain if not unicodedata.combining(char))[:_STEM]


def _plain(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _of(day: date | None) -> set[str]:
    """The numbers with which a date may be told, weekday and month included."""
    if day is None:
        return set()
    spelled = words(f"{day:%d %B %A %Y} {day.day} {day.month} {day.isoformat()}")
    return set(numbers(spelled)) | {str(day.day), str(day.month), str(day.year)}
