"""Makes a stored text safe to stand inside the fence of a block. Pure.

It becomes one line with no hidden characters, in which nothing can be read as the fence, a role or
a template's marker. All else stays as it is.
"""

import html
import re
import unicodedata
from functools import cache

from memory.text.characters import (
    EMOJI_STYLE,
    FILLERS,
    PICTURE,
    ZWJ,
    ZWNJ,
    is_hidden,
    meaningful_at,
)

# No script puts more marks on one letter; stacks of them draw over the neighbouring lines.
MARKS = 4
_KEYCAP = "\u20e3"
# Scripts in which joiners and non-joiners are spelling: Arabic to Sinhala.
_JOINING = re.compile("[\u0600-\u08ff\u0900-\u0dff]")
_STACKING = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
_TOO_MANY_MARKS = re.compile(f"([{_STACKING}]{{{MARKS}}})[{_STACKING}]+")
# What Python calls printable, although it is hidden or stacks.
_ODD = re.compile(f"[{_STACKING}{FILLERS}\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")

# Letters of other scripts, and signs, that look like those of the markers below.
_LOOK_ALIKES = {
    **dict.fromkeys("‹〈⟨《≺ᐸ˂❮⟪", "<"),
    **dict.fromkeys("∕⁄⧸╱⟋", "/"),
    **dict.fromkeys("∣│｜ǀ", "|"),
    **dict.fromkeys("∶꞉：", ":"),
    **dict.fromkeys("ⅿмϻ", "m"),
    **dict.fromkeys("еєεҽ", "e"),
    **dict.fromkeys("оοσօ๐", "o"),
    **dict.fromkeys("гᴦ", "r"),
    **dict.fromkeys("уүγʏ", "y"),
    **dict.fromkeys("ѕ", "s"),
    **dict.fromkeys("аα", "a"),
    **dict.fromkeys("іι", "i"),
    **dict.fromkeys("т", "t"),
    **dict.fromkeys("п", "n"),
    **dict.fromkeys("һ", "h"),
    **dict.fromkeys("υ", "u"),
    **dict.fromkeys("ӏ", "l"),
    **dict.fromkeys("ԁ", "d"),
    **dict.fromkeys("сϲ", "c"),
    **dict.fromkeys("рρ", "p"),
    **dict.fromkeys("νѵ", "v"),
}

# Signs and letters as entities, in percent or after a backslash, however often encoded.
_ENCODED = re.compile(
    r"&(?:amp;)*(?P<entity>#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8})\b;?"
    r"|%(?:25)*(?P<percent>[0-9a-f]{2})|\\+(?:u00|x)(?P<slashed>[0-9a-f]{2})"
)
_ROUNDS = 3
# Of the fences in a block and around documents: see memory/recall/block.py and ahead.py.
_FENCES = ("memory", "rules", "hints", "untrustedcontent")
_NAME = "|".join(r"[\W_]{0,3}".join(name) for name in _FENCES)
_ROLES = "system|assistant|developer|human"
# Matched over the folded text; the group `open` is the sign that gets escaped.
_MARKERS = tuple(
    re.compile(expression)
    for expression in (
        rf"(?P<open><)[\W_]{{0,8}}(?:{_NAME})",
        rf"(?P<open><)\s*/?\s*(?:{_ROLES}|start_of_turn|end_of_turn)\b",
        r"(?P<open><)\s*\|",
        r"(?P<open><)\s*<\s*/?\s*sys\b",
        r"(?P<open>\[)\s*/?\s*(?:inst|system)\s*\]",
    )
)
_LABELS = (
    re.compile(rf"(?:^|\n)\W*(?:{_ROLES}|user)\s*(?P<open>:)"),
    re.compile(r"(?:^|\n)\s*(?P<open>#)#*\s*(?:instruct|system|response|input|prompt)"),
)
# Without one of these, which fold to < & % \ [ : or #, a text holds no marker.
SIGNS = re.compile("[<‹〈\u2329⟨《≺⊀ᐸ˂❮⟪≮＜﹤︽︿&＆﹠%％﹪\\\\＼﹨\\[［﹇:∶꞉：﹕︓⩴#＃﹟]")
_EMPTY_LINES = re.compile("\n{3,}")
_ESCAPED = {"&": "&amp;", "%": "%25", "\\": "&#92;", "[": "&#91;", ":": "&#58;", "#": "&#35;"}


def clean(text: str, nonce: str = "") -> str:
    """`nonce`: the fence's own, which no content may hold."""
    return " ".join(_safe(text, nonce).split())


def clean_lines(text: str, nonce: str = "") -> str:
    """As `clean`, but its lines and their indents stay, for tables and code."""
    lines = (line.rstrip() for line in _safe(text.replace("\t", "    "), nonce).split("\n"))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip("\n")


def _safe(text: str, nonce: str) -> str:
    text = _visible(text)
    if nonce and nonce.lower() in text.lower():
        text = re.sub(re.escape(nonce), " ", text, flags=re.IGNORECASE)
    return _without_markers(text)


def _visible(text: str) -> str:
    if text.isprintable() and not _ODD.search(text):
        return text
    text = re.sub("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", "\n", text)
    kept = meaningful_at(text)
    shown = "".join(c for i, c in enumerate(text) if i in kept or not _is_removed(text, i))
    return _TOO_MANY_MARKS.sub(r"\1", shown)


def _is_removed(text: str, index: int) -> bool:
    char = text[index]
    if not is_hidden(char):
        return False
    before = text[index - 1] if index else ""
    after = text[index + 1] if index + 1 < len(text) else ""
    if char == EMOJI_STYLE:
        return not (PICTURE.match(before) or after == _KEYCAP)
    if char in {ZWJ, ZWNJ}:
        return not (_JOINING.match(before) and _JOINING.match(after))
    return True


def _without_markers(text: str) -> str:
    if not SIGNS.search(text):
        return text
    folded, places = _fold(text)
    escaped = {
        places[match.start("open")]
        for pattern in (*_MARKERS, *_LABELS)
        for match in pattern.finditer(folded)
    }
    if not escaped:
        return text
    return "".join(_escape(char) if i in escaped else char for i, char in enumerate(text))


def _escape(char: str) -> str:
    return _ESCAPED.get(char, _ESCAPED.get(_folded(char), "&lt;"))


def _fold(text: str) -> tuple[str, list[int]]:
    """The text as a careless reader takes it, with the place that each character is from."""
    folded: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        for plain in _folded(char):
            folded.append(plain)
            places.append(place)
    return _decode("".join(folded), places)


def _decode(text: str, places: list[int]) -> tuple[str, list[int]]:
    for _ in range(_ROUNDS):
        if not _ENCODED.search(text):
            break
        decoded: list[str] = []
        origins: list[int] = []
        position = 0
        for match in _ENCODED.finditer(text):
            meant = _meant(match)
            decoded += [text[position : match.start()], meant]
            origins += places[position : match.start()] + [places[match.start()]] * len(meant)
            position = match.end()
        text, places = "".join([*decoded, text[position:]]), origins + places[position:]
    return text, places


def _meant(match: re.Match[str]) -> str:
    if match["entity"]:
        char = html.unescape(f"&{match['entity']};")
    else:
        char = chr(int(match["percent"] or match["slashed"], 16))
    return "".join(map(_folded, char))


@cache
def _plain(char: str) -> str:
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", char).casefold())
    bare = (c for c in decomposed if unicodedata.category(c) not in {"Mn", "Me", "Cf"})
    return "".join(_LOOK_ALIKES.get(c, c) for c in bare)


def _folded(char: str) -> str:
    return char.lower() if char.isascii() else _plain(char)
