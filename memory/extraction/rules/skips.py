"""What the rules leave alone: everything but a plain assertion about the speaker."""

import re

from memory.extraction.rules.vocabulary import any_of

# A whole message of which no sentence can be trusted to be about its writer.
_ROLES = any_of("""
    act(?:ing)?_as role-?play(?:ing)? pretend(?:ing)? imagine you_are_(?:now_)?an? you're_an?
    you_will_(?:be|play|act) in_character i_want_you_to from_the_(?:perspective|point_of_view)
    first_person fictional persona
""")
_WORKS = any_of("""
    story poem song novel lyrics dialogue scene script rap joke tale monologue speech limerick haiku
""")
_FICTION = re.compile(
    rf"\b(?:{_ROLES}|write (?:me )?(?:an?|some|the) (?:\w+ ){{0,3}}{_WORKS})\b", re.IGNORECASE
)

# A sentence that asks, jokes or supposes in any of its parts.
_GAMES = any_of(r"""
    imagine imagining suppose supposing pretend\w* hypothetically what_if let's_say role-?play
    yeah,?_right kidding jk lol lmao haha\w* sarcas\w+ joking as_if
""")
_NOT_EARNEST = re.compile(rf"\?|\b{_GAMES}\b|(?<!\w)/s\b|\bnot!", re.IGNORECASE)

# A clause that wishes, doubts, softens, reports what was said, or talks to somebody.
_DOUBTS = any_of("""
    if as_though wish(?:es|ed)? would could should might maybe perhaps probably possibly unless
    i_(?:guess|suppose|think|thought|feel|felt|mean|hope|bet) hopefully kinda kind_of sort_of
    in_theory were_to supposed_to not_sure wondering wonder basically seems? apparently said says
    told tells asked asks quote[ds]? wrote_to according_to claims? dreamed dreamt a_dream please
    thank(?:s|_you) sorry let_me let_us let's i'd wouldn't couldn't shouldn't
""")
_UNSURE = re.compile(rf"\b(?:may(?! \d|,? (?:19|20)\d\d)|{_DOUBTS})\b", re.IGNORECASE)
_CODE = re.compile(r"[{}<>=;|\\`~^]|https?://|\w\(\)|::|->|\b\w+_\w+\b|#\w|@\w")
_LETTER = re.compile(r"[^\W\d_]")


def is_fiction(content: str) -> bool:
    return bool(_FICTION.search(content.replace("’", "'")))


def is_earnest(sentence: str) -> bool:
    """Takes the sentence as it was written; `is_unsure` takes a clause in plain words."""
    sentence = sentence.replace("’", "'")
    return not (_NOT_EARNEST.search(sentence) or _CODE.search(sentence) or _shouts(sentence))


def is_unsure(clause: str) -> bool:
    return bool(_UNSURE.search(clause))


def _shouts(sentence: str) -> bool:
    letters = _LETTER.findall(sentence)
    return len(letters) > 8 and sum(letter.isupper() for letter in letters) * 2 > len(letters)
