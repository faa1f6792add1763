"""From the first person to the third: `I have my own flat` is `The user has their own flat`."""

import re

from memory.text.lists import listed

_ADVERBS = listed("""
    also really actually currently still usually often sometimes mostly only now generally
    personally always never both mainly regularly typically especially recently just finally
    even no_longer absolutely definitely totally rarely normally primarily
""")
_FIXED = {"am": "is", "have": "has", "do": "does", "go": "goes"}
# Forms that stay as they are: auxiliaries and the irregular past tenses.
_UNCHANGED = listed("""
    was were had did will can cannot used went saw met bought got took made ran won lost began
    ended wrote ate flew drove came left gave found felt kept brought caught taught spent built
    sold sent told said thought knew grew drew threw broke chose spoke woke fell rode swam sang
    drank became forgot hurt held heard led paid slept stood understood wore hung hid bit shot
    stuck swept dug fed fought laid sat won quit set
""")
_BASE_VERBS = listed("""
    live work love like enjoy prefer hate play speak teach coach volunteer write paint draw sing
    dance run swim cook bake hike knit code program collect garden travel meditate practice ride
    drive use eat drink smoke read watch listen study own have go make do study train surf ski
    climb camp fish hunt keep get try help take give follow visit spend sew craft blog stream
    design build
""")
_INNER = (
    (r"\bI am\b", "they are"),
    (r"\bI was\b", "they were"),
    (r"\bI\b", "they"),
    (r"\bme\b(?!-)", "them"),
    (r"\bmyself\b", "themselves"),
    (r"\bmine\b", "theirs"),
    (r"\bmy\b(?!-)", "their"),
)
_TOGETHER = re.compile(r"^my (?P<who>[\w' -]{2,40}?) and I\s+", re.IGNORECASE)


def third_person(clause: str, *, past: bool = False) -> str:
    """A sentence about the user, with its full stop."""
    if match := _TOGETHER.match(clause):
        rest = re.sub(r"^(am|is)\b", "are", clause[match.end() :])
        sentence = f"The user and their {match['who']} {_inner(rest)}"
    elif clause.startswith("I "):
        sentence = f"The user {_inner(clause[2:] if past else _inflect(clause[2:]))}"
    elif clause[:3].lower() == "my ":
        sentence = f"The user's {_inner(clause[3:])}"
    else:
        sentence = re.sub(r"\bmy\b", "the user's", clause, count=1)
        sentence = sentence[0].upper() + _inner(sentence[1:])
    return sentence.rstrip(" .,!") + "."


def _inner(text: str) -> str:
    for pattern, other in _INNER:
        text = re.sub(pattern, other, text, flags=0 if "I" in pattern else re.IGNORECASE)
    return text


def _inflect(predicate: str) -> str:
    """The first verb behind any adverbs, and verbs that stand beside it."""
    words = predicate.replace("no longer ", "no_longer ").split(" ")
    at = next((i for i, word in enumerate(words) if word.lower() not in _ADVERBS), 0)
    verb = words[at].lower()
    if verb in _UNCHANGED or verb.endswith("ed"):
        return predicate
    words[at] = _FIXED.get(verb) or _with_s(words[at])
    if verb not in ("am", "have", "do") and "to" not in words[at:]:
        for i in range(at + 2, len(words)):
            if words[i - 1] in ("and", "or") and words[i] in _BASE_VERBS:
                words[i] = _FIXED.get(words[i]) or _with_s(words[i])
    return " ".join(words).replace("no_longer", "no longer")


def _with_s(verb: str) -> str:
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"
