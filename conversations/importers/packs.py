"""What is to be read at a path: one file, the files of a folder, those of a ZIP archive.

Nothing is unpacked to the disk. zipfile reads no more of a member than its declared size, so that
limits on declared sizes hold for what really comes out.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from conversations.importers.base import Report
from conversations.importers.files import TextFile, Unreadable, printable

READ = {".json", ".jsonl", ".ndjson"}
# Unpacked. Text shrinks to a fifth or a tenth; far beyond that it is made to fill a memory.
MOST_BYTES = 20 << 30
MOST_RATIO = 200
SMALL = 10 << 20
MOST_FILES = 50_000


@contextmanager
def opened(path: Path, report: Report) -> Iterator[list[TextFile]]:
    """What can't be taken of a folder or an archive is in the report. Raises Unreadable."""
    with ExitStack() as stack:
        files = _folder(path, stack, report) if path.is_dir() else _file(path, stack, report)
        if not files and not report.broken:
            raise Unreadable(f"{path} holds no file that ends in {', '.join(sorted(READ))}.")
        if not files:
            raise Unreadable(f"Nothing in {path} can be read: {report.broken.lines[0]}")
        yield files


def _file(path: Path, stack: ExitStack, report: Report) -> list[TextFile]:
    file = TextFile(path)
    return _archive(path, stack, report) if file.is_archive else [file]


def _folder(path: Path, stack: ExitStack, report: Report) -> list[TextFile]:
    found: list[TextFile] = []
    others: list[str] = []
    for name in sorted(path.rglob("*")):
        if name.is_symlink() and not _stays_within(name, path):
            shown = printable(str(name.relative_to(path)))
            report.broken.append(f"{shown}: a link that leads out of the folder")
        elif name.is_file() and _ending(name.name) in {*READ, ".zip"}:
            found += _tried(name, stack, report)
        elif name.is_file():
            others.append(name.name)
    _note(others, report)
    return found


def _stays_within(link: Path, folder: Path) -> bool:
    return link.resolve().is_relative_to(folder.resolve())


def _tried(path: Path, stack: ExitStack, report: Report) -> list[TextFile]:
    try:
        return _file(path, stack, report)
    except Unreadable as error:
        report.broken.append(str(error).removesuffix("."))
        return []


def _archive(path: Path, stack: ExitStack, report: Report) -> list[TextFile]:
    try:
        archive = stack.enter_context(ZipFile(path))
    except (BadZipFile, OSError, ValueError) as error:
        raise Unreadable(f"{path} is a damaged ZIP archive.") from error
    members = [member for member in archive.infolist() if not member.is_dir()]
    wanted = [member for member in members if _ending(member.filename) in READ]
    _check(path, members, wanted)
    _note((member.filename for member in members if member not in wanted), report)
    found: list[TextFile] = []
    for member in wanted:
        found += _member(path, archive, member, report)
    return found


def _check(path: Path, members: list[ZipInfo], wanted: list[ZipInfo]) -> None:
    if len(members) > MOST_FILES:
        raise Unreadable(f"{path} holds more than {MOST_FILES} files.")
    if sum(member.file_size for member in wanted) > MOST_BYTES:
        raise Unreadable(f"{path} would unpack to more than {MOST_BYTES >> 30} GB.")


def _member(path: Path, archive: ZipFile, member: ZipInfo, report: Report) -> list[TextFile]:
    name = printable(f"{path.name}/{member.filename}")
    if _leads_out(member.filename):
        report.broken.append(f"{name}: its name leads out of the archive")
        return []
    if member.file_size > max(SMALL, MOST_RATIO * member.compress_size):
        report.broken.append(
            f"{name}: would unpack to more than {MOST_RATIO} times its size, as a ZIP bomb does"
        )
        return []
    try:
        return [TextFile(path, archive, member)]
    except Unreadable as error:
        report.broken.append(str(error).removesuffix("."))
        return []


def _leads_out(name: str) -> bool:
    parts = re.split(r"[\\/]", name)
    return ".." in parts or parts[0] == "" or parts[0].endswith(":")


def _ending(name: str) -> str:
    """Without the shadows that macOS packs beside files."""
    last = re.split(r"[\\/]", name)[-1]
    return "" if last.startswith("._") else Path(last).suffix.lower()


def _note(names: Iterable[str], report: Report) -> None:
    for name in names:
        ending = printable(_ending(name))[:20] or "without an ending"
        report.skipped[f"files of another kind ({ending})"] += 1
