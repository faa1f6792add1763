"""Rows as a table in Markdown, the first of them its head."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time
from itertools import chain
from typing import Any

from knowledge import marks

MOST_ROWS, MOST_COLUMNS = 100_000, 200
# Above a table. Of a column alone every line fills one cell.
_MOST_TITLES = 6


def of(rows: Iterable[Sequence[Any]]) -> tuple[str, bool]:
    """The rows with something in them as a table, and whether some were left out. Lines ahead of
    it that fill one cell are its titles, and stand above."""
    filled = _filled(rows)
    titles, first = _ahead(filled)
    lines, width, cut = list[str](), 0, False
    for cells in chain(first, filled):
        if len(lines) == MOST_ROWS + 1:
            cut = True
            break
        cut = cut or len(cells) > MOST_COLUMNS
        cells = cells[:MOST_COLUMNS]
        width = max(width, len(cells))
        lines.append(_row(cells, width))
    if lines:
        head = _row(first[0], width)
        lines[:1] = [head, f"|{' --- |' * width}"]
    return "\n\n".join([*titles, *["\n".join(lines)] * bool(lines)]), cut


def _ahead(filled: Iterator[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Titles, and the rows that were looked at and belong to the table."""
    narrow: list[list[str]] = []
    for cells in filled:
        narrow.append(cells)
        if sum(map(bool, cells)) > 1:
            return [" ".join(one).strip() for one in narrow[:-1]], narrow[-1:]
        if len(narrow) > _MOST_TITLES:
            break
    return [], narrow


def _row(cells: list[str], width: int) -> str:
    return f"| {' | '.join([*cells[:MOST_COLUMNS], *[''] * (width - len(cells))])} |"


def _filled(rows: Iterable[Sequence[Any]]) -> Iterator[list[str]]:
    for row in rows:
        cells = [cell(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield cells


def cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()  # Excel has no days without an hour
    return " ".join(marks.foreign(str(value)).replace("|", "\\|").split())
