"""Which reader reads what."""

from collections.abc import Callable
from pathlib import Path

from knowledge.conversion import book, encodings, html, images, mail, office, pdf, text
from knowledge.conversion.kinds import IMAGES, Kind, kind_of
from knowledge.conversion.shape import Read, Tell, Unreadable
from knowledge.conversion.withheld import without_secrets

MOST_CHARACTERS = 20_000_000
# The parser that cuts a text notes of each where it begins and ends, in the worker.
MOST_LINES = 1_000_000
_TITLE = 300
WITHHELD = "Passwords, keys and the like were taken out of the text; the original has them."


def _read_page(path: Path, tell: Tell) -> Read:
    content = path.read_bytes()
    wide = bool(encodings.marked_or_wide(content))
    return html.read(encodings.narrowed(content), charset="utf-8" if wide else "")


READERS: dict[Kind, Callable[[Path, Tell], Read]] = {
    Kind.PDF: pdf.read,
    Kind.DOCX: office.read_word,
    Kind.PPTX: office.read_slides,
    Kind.XLSX: office.read_sheets,
    Kind.EPUB: book.read,
    Kind.HTML: _read_page,
    Kind.MAIL: mail.read,
    Kind.TEXT: text.read,
    **dict.fromkeys(IMAGES, images.read),
}


def read(path: Path, tell: Tell) -> tuple[Kind, Read]:
    """Raises Unreadable."""
    kind = kind_of(path)
    found = READERS[kind](path, tell)
    if len(found.markdown) > MOST_CHARACTERS:
        raise Unreadable(
            "too_long",
            f"The text has more than {MOST_CHARACTERS // 1_000_000} million characters. Split the"
            " document and add the parts.",
        )
    # To that parser a line ends at each of them.
    found.markdown = found.markdown.replace("\r\n", "\n").replace("\r", "\n")
    if found.markdown.count("\n") > MOST_LINES:
        raise Unreadable(
            "too_long",
            f"The text has more than {MOST_LINES:,} lines. Split the document and add the parts.",
        )
    found.markdown, secrets = without_secrets(_clean(found.markdown))
    found.notes += [WITHHELD] * bool(secrets)
    title, _ = without_secrets(" ".join(_clean(found.title).split()))
    found.title = title[:_TITLE].strip()
    return kind, found


def _clean(text: str) -> str:
    """Without characters that leave no mark on a page; ours stay."""
    from memory.text.characters import without_hidden

    return "\n".join(
        line if line[:1] in _OURS else without_hidden(line).rstrip() for line in text.split("\n")
    )


_OURS = frozenset("\f\x0e\x0f")
