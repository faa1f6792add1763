"""Normal forms: when are two statements the same text?

Both forms only ever feed a hash. The narrow one decides sameness, so it must keep apart whatever
differs in number, name, negation or script. The wide one only recognises what was purged.
"""

import hmac
import re
import unicodedata
from hashlib import sha256

from memory.text.characters import BLANKS, without_hidden

_SAME_SIGN = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛ʼ′`´", "'"),
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys(BLANKS, " "),
    }
)
_TRIMMED = " .,;:!?'\"…。、，；：！？｡､「」『』《》〈〉()[]{}·•*_~¿¡؟،؛۔।"
# Before another word only: "vitamin a" ends in none.
_ARTICLES = re.compile(r"(?<!\S)(?:an?|the) (?=\w)")
# Signs that tell two things apart: C and C#, 5 and 5 %, AT&T, a/b.
_TELLING_SIGNS = frozenset("#%&@/")


def normalise(statement: str) -> str:
    """The form in which two statements count as the same text."""
    text = unicodedata.normalize("NFKC", _spell_out_small_digits(statement))
    text = unicodedata.normalize("NFKC", text.casefold())
    text = " ".join(without_hidden(text).translate(_SAME_SIGN).split())
    return _trim(text) or text


def text_hash(statement: str) -> str:
    return sha256(normalise(statement).encode()).hexdigest()


def tombstone_digest(statement: str, secret: bytes) -> str:
    """A keyed hash that a text keeps when only case, punctuation, spacing or an English article is
    changed ("The user has a cat" and "User has the cat")."""
    if not secret:
        raise ValueError("a tombstone needs a secret")
    return hmac.new(secret, _bare(statement).encode(), sha256).hexdigest()


def _spell_out_small_digits(text: str) -> str:
    """NFKC would turn 10² into 102 and 1½ into 11⁄2."""
    if text.isascii():
        return text
    spelled = []
    for char in text:
        tag = unicodedata.decomposition(char).split(" ")[0]
        mark = {"<super>": "^", "<sub>": "_", "<fraction>": " "}.get(tag, "")
        spelled.append(mark + char)
    return "".join(spelled)


def _trim(text: str) -> str:
    """Drop what surrounds a statement, but neither a sign of a number nor its feet and inches."""
    text = re.sub(r"^[-•*] +", "", text)
    end = text.rstrip(_TRIMMED)
    if end and end[-1].isdigit() and text[len(end) :].startswith(("'", '"')):
        end = text[: len(end) + 1]
    start = end.lstrip(_TRIMMED)
    if start and start[0].isdigit() and end[: len(end) - len(start)].endswith("."):
        start = "." + start
    return start


def _bare(statement: str) -> str:
    text = _ARTICLES.sub("", normalise(statement))
    text = re.sub(r"(?<=\d)[.,' ](?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(?<=\d)[.,](?=\d)", "/", text)  # the decimal point survives
    text = re.sub(r"(?:^| )-(?=\d)", "/-", text)  # and so does a minus
    kept = (c for c in text if unicodedata.category(c)[0] in "LMNS" or c in _TELLING_SIGNS)
    return "".join(kept) or text
