"""Do two statements that a model calls the same differ in something that matters?

Asked about a new statement and one that exists. A new one that says less is no difference; one
that says more, or something else in a number, a date, a name, a negation or an order, is.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from memory.policy.number_words import number_in
from memory.text.lists import listed
from memory.text.words import UNSPACED, words


class Aspect(StrEnum):
    NUMBER = "number"
    NAME = "name"
    NEGATION = "negation"
    ORDER = "order"
    DETAIL = "detail"


@dataclass(frozen=True, slots=True)
class Difference:
    """`found` are the words of the new statement that make the difference."""

    aspect: Aspect
    found: str


# Words that turn a statement round, or say that it no longer holds, in the supported languages.
NEGATIONS = listed("""
    not no never none neither nor without cannot nobody nothing stopped quit former formerly ex
    isn't aren't wasn't weren't don't doesn't didn't can't won't wouldn't shouldn't couldn't
    hasn't haven't hadn't longer anymore
    nicht kein keine keinen keinem keiner nie niemals ohne mehr ne pas jamais sans aucun aucune
    n'est n'a n'aime plus no nunca jamás sin ningún ninguna tampoco não nunca sem nem non mai senza
    nessun nessuna niet geen nooit zonder inte ingen inget aldrig utan ikke aldri uten uden ei
    eikä eivät ilman koskaan nie nigdy bez żaden žádný nikdy nem soha nélkül nu niciodată fără
    не нет ни никогда без немає ні ніколи нема değil yok hiç asla không chẳng chưa tidak bukan
    belum tanpa jangan لا لم لن ليس ليست ليسوا غير بدون לא אין אינו אינה בלי ללא नहीं न मत बिना
    نه نیست بدون δεν μην όχι χωρίς
""")
# Turkish negates inside the verb; Chinese, Japanese, Korean and Thai run words together.
_NEGATED = re.compile(
    r"\w{2,20}(?:m[ıiuü]yor|m[ae]z|m[ae]d[ıi])|[不没沒無无未別别非]|ない|なかった|ません|ずに|않|못[하해]"
    r"|없|(?<!\w)안\s|아니|ไม่|มิได้|ไร้"
)
SMALL_WORDS = listed("""
    a an the and or of in on at to for with from by as is are was were be been has have had his
    her their its that this they he she it who which user user's users
    der die das ein eine le la les un une des el los las uno una il lo i gli o os um uma de het een
""")
# Two in Danish, ten in Turkish.
_ALSO_NUMBERS = ("to", "on")
_CASED = re.compile(r"[^\W\d_]")
_TOKEN = re.compile(r"[^\s\"“”„«»()\[\]{}<>;,!?…—–]+")
_UNSPACED_CHAR = re.compile(f"[{UNSPACED}]")
_NEAR_SAME = 0.5  # share of words in common, from which one exchanged word is taken for a name


def differs(new: str, old: str) -> Difference | None:
    new_words, old_words = words(new), words(old)
    if new_words == old_words:
        return None
    if found := sorted((numbers(new_words) - numbers(old_words)).elements()):
        return Difference(Aspect.NUMBER, ", ".join(found))
    if found := _new_names(new, old_words):
        return Difference(Aspect.NAME, ", ".join(found))
    if (negated := is_negated(new, new_words)) != is_negated(old, old_words):
        return Difference(Aspect.NEGATION, "negated" if negated else "no longer negated")
    if exchanged := _exchanged_name(new_words, old_words):
        return Difference(Aspect.NAME, exchanged)
    return _order_or_detail(new_words, old_words)


def negations(text: str) -> int:
    """How often a text says no."""
    spelled = unicodedata.normalize("NFKC", text).casefold()
    said = sum(word in NEGATIONS for word in words(text))
    return max(said, len(_NEGATED.findall(spelled)))


def shared_words(one: str, other: str) -> float:
    """The share of the shorter statement's words of content that the other has too."""
    first, second = (
        {word for word in words(text) if word not in SMALL_WORDS} for text in (one, other)
    )
    return len(first & second) / (min(len(first), len(second)) or 1)


def numbers(tokens: list[str]) -> Counter[str]:
    english = "the" in tokens or "user" in tokens
    counted = (token for token in tokens if not (english and token in _ALSO_NUMBERS))
    return Counter(number for token in counted if (number := number_in(token)))


def _new_names(new: str, old_words: list[str]) -> list[str]:
    """Capitalised words, or words of mixed case, that the old statement has in no spelling."""
    known = set(old_words) | {word.removesuffix("'s") for word in old_words}
    return [
        token
        for token in (match.strip(".:'’") for match in _TOKEN.findall(new))
        if token != token.casefold()
        and not any(char.isdigit() for char in token)
        and not ({*words(token), token.casefold().removesuffix("'s").removesuffix("’s")} & known)
        and token.casefold() not in SMALL_WORDS
        and number_in(token.casefold()) is None
    ]


def _exchanged_name(new_words: list[str], old_words: list[str]) -> str:
    """Scripts without capitals: one exchanged word, or one exchanged piece of a few characters."""
    if any(_has_case(word) for word in new_words):
        return ""
    matcher = SequenceMatcher(a=old_words, b=new_words, autojunk=False)
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace" or matcher.ratio() < _NEAR_SAME:
        return ""
    _, old_from, old_to, new_from, new_to = changes[0]
    exchanged = new_words[new_from:new_to]
    run_together = _UNSPACED_CHAR.match(exchanged[0])
    if max(old_to - old_from, new_to - new_from) > (5 if run_together else 2):
        return ""
    # The words of a script without spaces overlap by a character.
    return exchanged[0] + "".join(w[1:] if run_together else f" {w}" for w in exchanged[1:])


def _has_case(word: str) -> bool:
    return any(char.upper() != char.lower() for char in word)


def is_negated(text: str, tokens: list[str]) -> bool:
    text = unicodedata.normalize("NFKC", text).casefold()
    return not NEGATIONS.isdisjoint(tokens) or _NEGATED.search(text) is not None


def _order_or_detail(new_words: list[str], old_words: list[str]) -> Difference | None:
    new_content = [word for word in new_words if word not in SMALL_WORDS]
    old_content = [word for word in old_words if word not in SMALL_WORDS]
    if new_content != old_content and Counter(new_content) == Counter(old_content):
        return Difference(Aspect.ORDER, " ".join(new_content))
    more = Counter(new_content) - Counter(old_content)
    if more and not Counter(old_content) - Counter(new_content):
        return Difference(Aspect.DETAIL, ", ".join(more))
    return None
