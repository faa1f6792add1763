"""Tables of pages, mails and books, as Markdown can say them."""

from pathlib import Path

import pytest

from knowledge.conversion import reading
from tests.knowledge import files


def said(folder: Path, body: str) -> str:
    content = f"<!doctype html><html><body>{body}</body></html>".encode()
    return reading.read(files.kept(folder, content), lambda done, of: None)[1].markdown.strip()


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("<tr><th>port<th>depth|m<tr><td>North<td>4|5",
         "| port | depth\\|m |\n| --- | --- |\n| North | 4\\|5 |"),
        ("<tr><td>port<td>depth<tr><td>North<td>4",
         "| port | depth |\n| --- | --- |\n| North | 4 |"),
        ("<colgroup><col><col></colgroup><tr><td>port<td>depth<tr><td>North<td>4",
         "| port | depth |\n| --- | --- |\n| North | 4 |"),
        ("<caption>Depths</caption><thead><tr><th>port<th colspan=2>m</thead><tbody><tr>"
         "<td rowspan=2>North<td>4<td>6<tr><td>5<td>7<tr><td>South<td>1<td>2</tbody>",
         "Depths\n\n| port | m |  |\n| --- | --- | --- |\n| North | 4 | 6 |\n| North | 5 | 7 |\n"
         "| South | 1 | 2 |"),
        ("<tr><td>a<td rowspan=99>b<td>c<tr><td>d<td>e<tr><td>f",
         "| a | b | c |\n| --- | --- | --- |\n| d | b | e |\n| f | b |  |"),
        ("<tr><td rowspan=3 colspan=2>a<td>b<tr><td>c<tr><td>d",
         "| a |  | b |\n| --- | --- | --- |\n| a |  | c |\n| a |  | d |"),
        ("<tr><td colspan=x>a<td colspan=-3>b<tr><td rowspan=0>c<td>d",
         "| a | b |\n| --- | --- |\n| c | d |"),
        ("<tr><td><b>a</b><td><code>b|c</code>", "| **a** | `b\\|c` |\n| --- | --- |"),
    ],
    ids=["bars", "no head", "columns", "spans", "down", "block", "nonsense", "markup"],
)  # fmt: skip
def test_a_row_says_all_that_reaches_over_it(tmp_path: Path, rows: str, told: str) -> None:
    assert said(tmp_path, f"<table>{rows}</table>") == told


def test_what_only_arranges_a_page_is_no_table(tmp_path: Path) -> None:
    inner = "<table><tr><td>port<td>depth<tr><td>North<td>4</table>"
    outer = f"<table><tr><td><p>Dear Ann</p><tr><td>{inner}<tr><td>Yours</table>"
    assert said(tmp_path, outer) == (
        "Dear Ann\n\n| port | depth |\n| --- | --- |\n| North | 4 |\n\nYours"
    )


def test_a_table_that_claims_millions_of_cells_has_few(tmp_path: Path) -> None:
    wide = "<td colspan=99999999 rowspan=99999999>x"
    assert len(said(tmp_path, f"<table><tr>{wide}{wide}<tr>{wide}<tr>{wide}</table>")) < 4_000
