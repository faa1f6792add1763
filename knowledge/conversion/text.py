"""Plain text and Markdown, in whatever encoding."""

from pathlib import Path

from knowledge import marks
from knowledge.conversion.encodings import decoded
from knowledge.conversion.html import with_images
from knowledge.conversion.images import Reader
from knowledge.conversion.shape import Read, Tell, Unreadable


def read(path: Path, tell: Tell) -> Read:
    text = marks.foreign(decoded(path.read_bytes())).replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise Unreadable("empty", "There is no text in the file.")
    reader = Reader()
    return Read(_with_images(text, reader), title=_heading(text), notes=reader.notes)


def _with_images(text: str, reader: Reader) -> str:
    """Not within code blocks, where it is code."""
    lines, fence = [], ""
    for line in text.split("\n"):
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~"):
            fence = "" if mark == fence else fence or mark
        lines.append(line if fence else with_images(line, reader))
    return "\n".join(lines)


def _heading(text: str) -> str:
    """The first line, where it is a heading of the first level."""
    first = text.lstrip().split("\n", 1)[0]
    return first[2:].strip("# ") if first.startswith("# ") else ""
