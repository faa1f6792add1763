"""Tables of HTML, made such that Markdown can say them: a row for each row, a head, and in each row
what reaches over it. What only arranges a page, as in mails, is no table."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

_CELLS, _PARTS = ("td", "th"), ("thead", "tbody", "tfoot", "tr", "td", "th")
# Columns that a cell may claim, and characters of one that are said again in the rows it reaches.
_WIDEST, _SAID_AGAIN = 50, 300


def level(soup: "BeautifulSoup") -> None:
    # The inner ones first: what is left of one within another tells what that is.
    for table in reversed(soup.find_all("table")):
        rows = _rows(table)
        if table.find("table") or all(len(row) < 2 for row in rows):
            _unwrap(table)
        else:
            _rebuild(soup, table, _filled(soup, rows))


def _rows(table: "Tag") -> list[list[Any]]:
    rows = [list(row.find_all(_CELLS, recursive=False)) for row in table.find_all("tr")]
    return [row for row in rows if row]


def _unwrap(table: "Tag") -> None:
    own = [part for part in table.find_all([*_PARTS, "caption"])
           if part.find_parent("table") is table]  # fmt: skip
    for part in [table, *own]:
        part.name = "div"


def _filled(soup: "BeautifulSoup", rows: list[list[Any]]) -> list[list[Any]]:
    """With what cells above say that reach down."""
    found: list[list[Any]] = []
    open_cells: dict[int, tuple[int, Any]] = {}
    for row in rows:
        cells, todo, place = [], list(row), 0
        while todo or place in open_cells:
            if place in open_cells:
                left, above = open_cells.pop(place)
                cells.append(_again(soup, above))
                if left > 1:
                    open_cells[place] = left - 1, above
                place += 1
                continue
            cell = todo.pop(0)
            wide, high = _span(cell, "colspan", _WIDEST), _span(cell, "rowspan", len(rows))
            for column in range(place, place + wide):
                if high > 1:
                    open_cells[column] = high - 1, cell if column == place else None
            cells += [cell, *(soup.new_tag("td") for _ in range(wide - 1))]
            place += wide
        found.append(cells)
    return found


def _span(cell: "Tag", name: str, most: int) -> int:
    said = str(cell.get(name) or "")
    del cell[name]
    return max(1, min(int(said[:6]), most)) if said.isascii() and said.isdecimal() else 1


def _again(soup: "BeautifulSoup", above: "Tag | None") -> "Tag":
    cell = soup.new_tag("td")
    words = above.get_text(" ", strip=True) if above is not None else ""
    cell.string = words if len(words) <= _SAID_AGAIN else ""
    return cell


def _rebuild(soup: "BeautifulSoup", table: "Tag", rows: list[list[Any]]) -> None:
    caption = table.find("caption")
    if caption is not None:
        caption.name = "p"
        table.insert_before(caption.extract())
    width = max(len(row) for row in rows)
    made = []
    for number, cells in enumerate(rows):
        row = soup.new_tag("tr")
        for cell in [*cells, *(soup.new_tag("td") for _ in range(width - len(cells)))]:
            # The first row is the head: Markdown has no table without one.
            cell.name = "td" if number else "th"
            _escape(cell)
            row.append(cell)
        made.append(row)
    table.clear()
    table.extend(made)


def _escape(cell: "Tag") -> None:
    for text in cell.find_all(string=lambda said: "|" in (said or "")):
        text.replace_with(text.replace("\\|", "|").replace("|", "\\|"))
