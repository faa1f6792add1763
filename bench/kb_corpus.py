"""Manuals from Debian packages: PostgreSQL's pages as HTML, Octave's chapters as PDF.

Fetched with apt-get and unpacked without being installed. Which pages are taken is decided by the
hash of their names, but for those that the glossary speaks of; index and glossary are left out,
since the questions are made of them.
"""

import hashlib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PACKAGES = ("postgresql-doc-15", "octave-doc")
PAGES = 170
_LEFT_OUT = re.compile("^(bookindex|glossary|index|release|biblio|legalnotice|acknowledgments)")
# Chapters of the PDF are at the first level of its outline.
_NO_CHAPTER = re.compile("index|contents|appendix|license|copying", re.IGNORECASE)


@dataclass(frozen=True)
class Chapter:
    """Pages of the book, from 0."""

    title: str
    first: int
    last: int

    @property
    def file_name(self) -> str:
        return f"octave-{re.sub('[^a-z0-9]+', '-', self.title.lower()).strip('-')}.pdf"


@dataclass(frozen=True)
class Manuals:
    folder: Path

    @property
    def html(self) -> Path:
        [found] = self.folder.glob("usr/share/doc/postgresql-doc-*/html")
        return found

    @property
    def book(self) -> Path:
        return self.folder / "usr/share/doc/octave/octave.pdf"

    def files(self) -> list[Path]:
        return [*self.pages(), *self.chapters()]

    def pages(self) -> list[Path]:
        known = [path for path in self.html.glob("*.html") if not _LEFT_OUT.match(path.name)]
        spoken_of = _linked(self.html / "glossary.html")
        known.sort(key=lambda path: (path.name not in spoken_of, _rank(path.name)))
        return sorted(known[:PAGES])

    def chapters(self) -> list[Path]:
        """Each as a file of its own, as they are handed around."""
        target = self.folder / "chapters"
        found = [(chapter, target / chapter.file_name) for chapter in chapters(self.book)]
        target.mkdir(exist_ok=True)
        for chapter, path in found:
            if not path.exists():
                _write(self.book, chapter, path)
        return [path for _, path in found]


def fetched(folder: Path) -> Manuals:
    """Once; later the folder is used as it is."""
    if not (folder / "usr").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "-qq", *PACKAGES], cwd=folder, check=True)
        for package in sorted(folder.glob("*.deb")):
            subprocess.run(["dpkg", "-x", package.name, "."], cwd=folder, check=True)
    return Manuals(folder)


def chapters(book: Path) -> list[Chapter]:
    marks = [(mark["title"], mark["page"]) for mark in _outline(book) if mark["level"] == 0]
    pages = [page for _, page in marks[1:]] + [_pages(book)]
    return [
        Chapter(title, first, max(first, following - 1))
        for (title, first), following in zip(marks, pages, strict=True)
        if not _NO_CHAPTER.search(title)
    ]


def labels(book: Path) -> dict[str, int]:
    """The page, from 0, that has a printed number."""
    import pypdfium2

    with pypdfium2.PdfDocument(book) as document:
        return {document.get_page_label(page): page for page in range(len(document))}


def page_texts(book: Path) -> Iterator[str]:
    import pypdfium2

    with pypdfium2.PdfDocument(book) as document:
        for page in document:
            yield page.get_textpage().get_text_bounded()


@cache
def _outline(book: Path) -> list[dict[str, Any]]:
    import pypdfium2

    with pypdfium2.PdfDocument(book) as document:
        return [
            {"title": mark.get_title(), "level": mark.level, "page": dest.get_index()}
            for mark in document.get_toc()
            if (dest := mark.get_dest())
        ]


def _pages(book: Path) -> int:
    import pypdfium2

    with pypdfium2.PdfDocument(book) as document:
        return len(document)


def _write(book: Path, chapter: Chapter, path: Path) -> None:
    import pypdfium2

    with pypdfium2.PdfDocument(book) as whole, pypdfium2.PdfDocument.new() as part:
        part.import_pages(whole, list(range(chapter.first, chapter.last + 1)))
        part.save(path)


def _linked(page: Path) -> set[str]:
    return set(re.findall(r'class="xref" href="([^"#]+)', page.read_text(encoding="utf-8")))


def _rank(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
