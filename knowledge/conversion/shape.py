"""What a reader hands back, and how it says that it can't."""

from collections.abc import Callable
from dataclasses import dataclass, field

# Told how many pages are done, of how many.
Tell = Callable[[int, int], None]


class Unreadable(Exception):
    """`code` is one of knowledge.vocabulary.Failure, the message is for the owner."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


DAMAGED = "The file is damaged, or not of the kind that it seems to be. Export or save it anew."
HIDDEN = "Text that can't be seen (off the page, too small, without colour) was left out."
NESTED = (
    "Tables, lists or the like stand within each other in it deeper than can be read. Save it anew"
    " without them, or add its text."
)
PROTECTED = "The file is protected with a password. Save it without one and add it again."


@dataclass(slots=True)
class Read:
    """`pages` where the file has any. `notes`: what was left out, in words for the owner."""

    markdown: str
    title: str = ""
    pages: int | None = None
    notes: list[str] = field(default_factory=list)
