"""Memories of other programs: Markdown files, lists, and listings of mem0 and ChatGPT.

Each gives sentences with their place, never more than that: what they become is decided elsewhere.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.transfer.reading import BadFile, is_ours

LONGEST = 500  # characters of a statement
# A list of memories is a page or a few; a JSON listing of thousands is some megabytes.
MOST_BYTES = 20_000_000
MOST_ITEMS = 20_000
# What is longer is no memory but a document.
LONGEST_PARAGRAPH = 5_000


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence of a list. `said_at` is None where the file does not say."""

    line: int
    text: str
    said_at: datetime | None = None
    is_instruction: bool = False


@dataclass(frozen=True)
class ListFormat:
    name: str
    what: str
    parse: Callable[[str, Counter[str]], Iterator[Item]]


def text_of(path: Path) -> str:
    """Raises BadFile."""
    if path.stat().st_size > MOST_BYTES:
        raise BadFile(
            1, f"is larger than {MOST_BYTES // 1_000_000} MB, which no list of memories is."
        )
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(raw[: error.start].count(b"\n") + 1, "is not UTF-8.") from None
    if "\x00" in text:
        raise BadFile(text[: text.index("\x00")].count("\n") + 1, "holds a NUL character.")
    return text


def items_of(path: Path, format: str, skipped: Counter[str]) -> list[Item]:
    """Raises BadFile."""
    found: list[Item] = []
    for item in LISTS[format].parse(text_of(path), skipped):
        if len(found) >= MOST_ITEMS:
            raise BadFile(item.line, f"the list has more than {MOST_ITEMS:,} memories.")
        found.append(item)
    return found


def format_of(path: Path, name: str) -> str:
    """The name of the format. Raises BadFile where it can't be told."""
    if is_ours(path):
        return OURS
    known = {"memory.md": "memory-md", "claude.md": "claude-md", "agents.md": "claude-md"}
    if (found := known.get(Path(name).name.casefold())) is not None:
        return found
    with path.open("rb") as file:
        head = file.read(200).decode("utf-8", errors="replace").lstrip("\ufeff \r\n\t")
    if head.startswith(("{", "[{")) or (head.startswith("[") and '"' in head):
        return "mem0"
    if re.match(r"[-*•+] |\d{1,3}[.)] ", head):
        return "bullets"
    raise BadFile(1, f"does not tell the format. Name one with --format: {', '.join(LISTS)}.")


# --- Markdown ------------------------------------------------------------------------------------

_BULLET = re.compile(r"\s*(?:[-*+•‣◦–—]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?(?P<text>.*)")
_SKIPPED = (
    (re.compile(r"\s*#{1,6}(\s|$)"), "headings"),
    (re.compile(r"\s*\|"), "rows of tables"),
    (re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*$"), "rules"),
    (re.compile(r"\s*@\S+\s*$"), "imports of other files"),
    (re.compile(r"\s*!\[[^\]]*\]\([^)]*\)\s*$"), "pictures"),
)
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


def markdown(text: str, skipped: Counter[str]) -> Iterator[Item]:
    """Each point of a list, and each paragraph, in sentences where it is too long for one fact."""
    for number, paragraph in _paragraphs(text, skipped):
        yield from _items(number, paragraph, skipped)


def _items(number: int, text: str, skipped: Counter[str]) -> Iterator[Item]:
    if len(text) > LONGEST_PARAGRAPH:
        skipped[f"paragraphs of more than {LONGEST_PARAGRAPH:,} characters"] += 1
        return
    yield from (Item(number, part) for part in parts(plain(text)))


def instructions(text: str, skipped: Counter[str]) -> Iterator[Item]:
    for item in markdown(text, skipped):
        yield Item(item.line, item.text, is_instruction=True)


def _paragraphs(text: str, skipped: Counter[str]) -> Iterator[tuple[int, str]]:
    start, words = 0, list[str]()
    for number, line in _prose(text, skipped):
        point = _BULLET.match(line)
        if (point or not line.strip()) and words:
            yield start, " ".join(words)
            words = []
        if line.strip():
            start = start if words else number
            words.append(point["text"] if point else line.strip())
    if words:
        yield start, " ".join(words)


def _prose(text: str, skipped: Counter[str]) -> Iterator[tuple[int, str]]:
    """Without code, comments, front matter and what else is no sentence; blank lines part."""
    fence = ""
    for number, line in enumerate(_without_comments(text, skipped).split("\n"), start=1):
        mark = _FENCE.match(line)
        if fence or mark:
            if mark and not fence:
                fence, skipped["blocks of code"] = mark[1], skipped["blocks of code"] + 1
            elif mark and mark[1].startswith(fence):
                fence = ""
            yield number, ""
            continue
        why = next((why for pattern, why in _SKIPPED if pattern.match(line)), None)
        if why is not None:
            skipped[why] += 1
        yield number, "" if why else line


def _without_comments(text: str, skipped: Counter[str]) -> str:
    """Their lines stay, so that numbers are right."""

    def blank(match: re.Match[str]) -> str:
        skipped["comments"] += 1
        return "\n" * match.group().count("\n")

    text = re.sub(r"\A---\n.*?\n---[ \t]*(?=\n|\Z)", blank, text.replace("\r\n", "\n"), flags=re.S)
    return re.sub(r"<!--.*?(?:-->|\Z)", blank, text, flags=re.S)


def plain(text: str) -> str:
    """Without the marks of Markdown; an address that a link hides behind words stays visible."""
    text = re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", r"\1 (\2)", text)
    text = re.sub(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", r"\2", text)
    text = re.sub(r"(?<![\w*])([*_])(?=\S)([^*_]+)(?<=\S)\1(?!\w)", r"\2", text)
    return " ".join(text.replace("`", "").split())


def parts(text: str) -> list[str]:
    """At most 500 characters each, cut between sentences, or else words."""
    if len(text) <= LONGEST:
        return [text] if text else []
    found: list[str] = []
    for sentence in re.split(r"(?<=[.!?。！？])\s+", text):
        for piece in _pieces(sentence):
            if found and len(found[-1]) + len(piece) < LONGEST:
                found[-1] = f"{found[-1]} {piece}"
            else:
                found.append(piece)
    return [part for part in found if part]


def _pieces(sentence: str) -> Iterator[str]:
    while len(sentence) > LONGEST:
        at = sentence.rfind(" ", 1, LONGEST)
        at = at if at > 0 else LONGEST
        yield sentence[:at].strip()
        sentence = sentence[at:].strip()
    yield sentence


# --- plain lists ---------------------------------------------------------------------------------


def bullets(text: str, skipped: Counter[str]) -> Iterator[Item]:
    """One memory a line, with or without a mark before it."""
    for number, line in enumerate(text.split("\n"), start=1):
        point = _BULLET.match(line)
        yield from _items(number, point["text"] if point else line, skipped)


_DATED = re.compile(r"\W{0,3}(?P<day>\d{4}-\d\d-\d\d)\W{1,4}\s*(?P<text>.+)")
# What stands around the list where it is copied from the settings or from an answer.
_CHROME = re.compile(
    r"(?:saved memories|manage memories|memories|model set context|user knowledge memories"
    r"|delete|clear (?:chatgpt.s )?memory|memory full|\d+\s*%(?: full)?)[.:]?",
    re.IGNORECASE,
)


def chatgpt(text: str, skipped: Counter[str]) -> Iterator[Item]:
    """One memory a line, as its settings show them or as it tells them when asked, with a date
    before it or without."""
    for item in bullets(text, skipped):
        if _CHROME.fullmatch(item.text):
            skipped["headings and buttons"] += 1
            continue
        dated = _DATED.fullmatch(item.text)
        said_at = _day(dated["day"]) if dated else None
        yield Item(item.line, dated["text"] if dated and said_at else item.text, said_at)


def _day(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None


# --- mem0 ----------------------------------------------------------------------------------------


def mem0(text: str, skipped: Counter[str]) -> Iterator[Item]:
    """What `get_all` returns: `{"results": [{"memory": …, "created_at": …}]}` or the list alone."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise BadFile(getattr(error, "lineno", 1), "is not JSON.") from None
    except RecursionError:
        raise BadFile(1, "is nested too deeply.") from None
    rows = data.get("results", data.get("memories")) if isinstance(data, dict) else data
    if not isinstance(rows, list):
        raise BadFile(1, "is no listing of mem0: it has no list of results.")
    for number, row in enumerate(rows, start=1):
        yield from _of_mem0(number, row, skipped)


def _of_mem0(number: int, row: Any, skipped: Counter[str]) -> Iterator[Item]:
    text = row if isinstance(row, str) else None
    if isinstance(row, dict):
        text = row.get("memory") or row.get("text") or row.get("data")
    if (
        not isinstance(text, str)
        or not text.strip()
        or any(0xD800 <= ord(c) < 0xE000 for c in text)
    ):
        skipped["entries without a memory"] += 1
        return
    said_at = None
    if isinstance(row, dict):
        said_at = _moment(row.get("updated_at")) or _moment(row.get("created_at"))
    if len(text) > LONGEST_PARAGRAPH:
        skipped[f"entries of more than {LONGEST_PARAGRAPH:,} characters"] += 1
        return
    for part in parts(" ".join(text.split())):
        yield Item(number, part, said_at)


def _moment(value: Any) -> datetime | None:
    """A time without a zone is mem0's own, which was UTC where it could be checked."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found


OURS = "remembrancer"
LISTS = {
    form.name: form
    for form in (
        ListFormat("memory-md", "a MEMORY.md, or any Markdown with a memory a point", markdown),
        ListFormat("claude-md", "a CLAUDE.md or AGENTS.md: what assistants are told", instructions),
        ListFormat("bullets", "a list, one memory a line", bullets),
        ListFormat("mem0", "what mem0's get_all returns, as JSON", mem0),
        ListFormat("chatgpt", "ChatGPT's saved memories, as text", chatgpt),
    )
}
