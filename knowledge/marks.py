"""Marks within converted text: where a page begins, and what was made of an image.

They are control characters, which are taken out of everything that a document says, so that no
document can make one. A page mark is a line of its own, `\\f12`; what was made of an image stands
between a line `\\x0eocr` (or another kind, see SAID) and a line `\\x0f`.
"""

import re

PAGE, BEGIN, END = "\f", "\x0e", "\x0f"
OCR, CAPTION, READ, VISION = "ocr", "caption", "read", "vision"
SAID = {
    OCR: "[Text recognised in an image]",
    CAPTION: "[Caption of an image]",
    READ: "[Text in an image, read by a language model]",
    VISION: "[Image described by a language model]",
}
MARK = re.compile(f"^(?:{PAGE}(?P<page>\\d+)|{BEGIN}(?P<kind>\\w+)|{END})\n?", re.MULTILINE)
_FOREIGN = str.maketrans({PAGE: "\n", BEGIN: None, END: None, "\v": "\n", "\x00": None})


def page(number: int) -> str:
    return f"{PAGE}{number}\n"


def image(text: str, kind: str = OCR) -> str:
    """A quote that says for people too where its words come from; empty for no words."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    quoted = "\n".join(f"> {line}" for line in [SAID[kind], *lines])
    return f"{BEGIN}{kind}\n{quoted}\n{END}\n"


def foreign(text: str) -> str:
    """What a document says, without anything that would be taken for a mark."""
    return text.translate(_FOREIGN)


def without(markdown: str) -> str:
    return MARK.sub("", markdown)
