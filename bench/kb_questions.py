"""Questions whose answers are known from how the manuals were made, not from what was found.

index      an entry of PostgreSQL's index, asked for as it stands there; the answer is what the
           entry links to
glossary   the first words of a glossary's definition, without the term; the answer is the section
           that the definition refers to for more
reference  a sentence that refers to a section of another page, without the reference; the answer
           is that section, and the page that the sentence is from does not count
book       an entry of Octave's concept index; the answer is the printed page that it names

Index and glossary are no part of the corpus.
"""

import hashlib
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from bench.kb_corpus import Chapter, Manuals, chapters, labels, page_texts

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

EACH = {"index": 200, "glossary": 60, "reference": 60, "book": 200}
# Words in a row that tell a text from another.
_SHINGLE = 6
# Of a passage or of the answer, whichever is shorter, so much must be in the other.
_ENOUGH = 0.3
# Words of a section or of a short page.
SECTION, PAGE = 700, 2500
_BODIES = re.compile("^(?:sect1|chapter|refentry|part|appendix)$")
_LINK = "\ue000"
_REFERS = re.compile(rf"\(see (?:also )?{_LINK}[^()]*\)")
_ENTRY = re.compile(r"^(?P<name>\S[^.\r\n]{2,60}?)[ .]*(?:\. )+\.?\s*(?P<pages>\d+(?:, \d+)*)\s*$")
_WORD = re.compile(r"[^\W_]+")
_CONCEPTS, _FUNCTIONS = "Concept Index", "Function Index"


@dataclass(frozen=True)
class Answer:
    """Part of a file: a text, or a page of it."""

    file_name: str
    text: str = ""
    page: int | None = None

    @cached_property
    def shingles(self) -> frozenset[tuple[str, ...]]:
        return shingles(self.text)

    def is_in(self, file_name: str, text: str, pages: tuple[int | None, int | None]) -> bool:
        if file_name != self.file_name:
            return False
        if self.page is not None:
            return (pages[0] or 0) <= self.page <= (pages[1] or pages[0] or 0)
        said = shingles(text)
        shared = len(said & self.shingles)
        return shared >= _ENOUGH * max(1, min(len(said), len(self.shingles)))


@dataclass(frozen=True)
class Question:
    kind: str
    text: str
    answers: tuple[Answer, ...] = field(repr=False)
    # A file that says the question itself.
    asked_in: str = ""

    @property
    def is_held_out(self) -> bool:
        """Constants are chosen on the others."""
        return hashlib.sha256(self.text.encode()).digest()[0] % 2 == 0


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = [word.lower() for word in _WORD.findall(text)]
    size = min(_SHINGLE, len(words))
    return frozenset(tuple(words[at : at + size]) for at in range(len(words) - size + 1))


def questions(manuals: Manuals) -> list[Question]:
    pages = Pages(manuals)
    made = {
        "index": _of_index(pages),
        "glossary": _of_glossary(pages),
        "reference": _of_references(pages),
        "book": _of_book(manuals),
    }
    return [one for kind, found in made.items() for one in _chosen(list(found), EACH[kind])]


def _chosen(found: Sequence[Question], most: int) -> list[Question]:
    """By their hashes, so that no taste comes in."""
    once = {one.text: one for one in found}
    return sorted(once.values(), key=lambda one: hashlib.sha256(one.text.encode()).digest())[:most]


class Pages:
    """PostgreSQL's pages, parsed once."""

    def __init__(self, manuals: Manuals) -> None:
        self.folder = manuals.html
        self.names = {path.name for path in manuals.pages()}
        self.parsed: dict[str, BeautifulSoup] = {}

    def soup(self, name: str) -> "BeautifulSoup":
        from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning

        if name not in self.parsed:
            warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
            html = (self.folder / name).read_text(encoding="utf-8")
            self.parsed[name] = BeautifulSoup(html, "lxml")
        return self.parsed[name]

    def answer(self, href: str, most: int = SECTION) -> Answer | None:
        """What a link leads to, where that is in the corpus and has at most so many words."""
        name, _, anchor = href.partition("#")
        if name not in self.names:
            return None
        page = self.soup(name)
        found = _holding(page.find(id=anchor)) if anchor else page.find("div", class_=_BODIES)
        text = found.get_text(" ", strip=True) if found is not None else ""
        return Answer(name, text) if 20 < len(_WORD.findall(text)) <= most else None


def _holding(found: "Tag | None") -> "Tag | None":
    """What the anchor names: an entry of a list with what is said of it, else its section."""
    if found is None:
        return None
    if found.name == "a" and found.parent is not None:
        return _holding(found.parent)
    if found.name == "dt":
        following = found.find_next_sibling("dd")
        return following if following is not None else found
    return found


def _of_index(pages: Pages) -> Iterator[Question]:
    for term in pages.soup("bookindex.html").select("dt"):
        links = term.find_all("a", class_="indexterm", recursive=False)
        words = _own_text(term)
        above = term.find_parent("dd")
        head = above.find_previous_sibling("dt") if above is not None else None
        asked = f"{_own_text(head)} {words}".strip() if head is not None else words
        answers = tuple(one for link in links if (one := pages.answer(str(link["href"]))))
        if answers and len(answers) == len(links) and len(asked) > 5 and "see" not in asked.split():
            yield Question("index", asked, answers)


def _own_text(term: "Tag") -> str:
    words = "".join(part for part in term.find_all(string=True) if part.find_parent("a") is None)
    return " ".join(words.replace(",", " ").split())


def _of_glossary(pages: Pages) -> Iterator[Question]:
    for definition in pages.soup("glossary.html").select("dd.glossdef"):
        links = definition.find_all("a", class_="xref")
        answers = tuple(one for link in links if (one := pages.answer(str(link["href"]), PAGE)))
        first = definition.find("p")
        if answers and first is not None and not first.find("a", class_="xref"):
            words = first.get_text(" ", strip=True).split()
            if len(words) > 6:
                yield Question("glossary", " ".join(words[:40]), answers)


def _of_references(pages: Pages) -> Iterator[Question]:
    for name in sorted(pages.names):
        for link in pages.soup(name).select("p > a.xref"):
            answer = pages.answer(str(link.get("href", "")))
            if answer is None or answer.file_name == name:
                continue
            asked = _sentence(link)
            if 8 <= len(asked.split()) <= 40:
                yield Question("reference", asked, (answer,), asked_in=name)


def _sentence(link: "Tag") -> str:
    """The one that refers to it in brackets, without the brackets."""
    parts = [
        _LINK if part is link else part if isinstance(part, str) else part.get_text(" ")
        for part in (link.parent.children if link.parent else ())
    ]
    text = " ".join("".join(parts).split())
    sentences = re.split(r"(?<=[.:;])\s+(?=[A-Z])", _REFERS.sub(_LINK, text))
    found = next((one for one in sentences if _LINK in one), "")
    alone = _REFERS.search(text) and found.count(_LINK) == 1
    return " ".join(found.replace(_LINK, " ").split()) if alone else ""


def _of_book(manuals: Manuals) -> Iterator[Question]:
    printed, known = labels(manuals.book), chapters(manuals.book)
    for line in _concepts(manuals):
        entry = _ENTRY.match(line)
        if entry is None or len(entry["name"].split()) < 2:
            continue
        places = [printed.get(number) for number in entry["pages"].split(", ")]
        answers = tuple(one for place in places if (one := _page_answer(place, known)))
        if answers:
            yield Question("book", entry["name"].replace(",", ""), answers)


def _concepts(manuals: Manuals) -> Iterator[str]:
    inside = False
    for text in page_texts(manuals.book):
        start = text[:200]
        inside = (inside or _CONCEPTS in start) and _FUNCTIONS not in start
        if inside and "Contents" not in start:
            yield from text.splitlines()


def _page_answer(place: int | None, known: Sequence[Chapter]) -> Answer | None:
    for chapter in known:
        if place is not None and chapter.first <= place <= chapter.last:
            return Answer(chapter.file_name, page=place - chapter.first + 1)
    return None
