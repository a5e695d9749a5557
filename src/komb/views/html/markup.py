"""Pieces of HTML; whatever is put into them is escaped here."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from komb.views.text import Grid


def scroll_box(title: str, inner: str, kind: str = "") -> str:
    r"""Put something wide into a box of its own, which the keyboard can scroll too.

    Parameters
    ----------
    title
        What is in it, for those who cannot see it.
    inner
        HTML.
    kind
        Another class for the box.

    Examples
    --------
    >>> scroll_box("A & B", "<table></table>")
    '<div class="scroll" role="region" tabindex="0" aria-label="A &amp; B"><table></table></div>\n'
    """
    name = f"scroll {kind}".strip()
    role = f'role="region" tabindex="0" aria-label="{escape(title)}"'
    return f'<div class="{name}" {role}>{inner}</div>\n'


def plain_table_html(title: str, headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Write a table of text as HTML, in a box that it can be scrolled in."""
    cells = tuple(map(tuple, rows))
    return scroll_box(
        title, table_html(headings, ([escape(cell) for cell in row] for row in cells))
    )


def grid_html(title: str, grid: Grid) -> str:
    """Write a table of a result as HTML, in a box that it can be scrolled in.

    Examples
    --------
    >>> html = grid_html("Sizes", Grid(("name", "size>"), (("<a>", "1"),)))
    >>> '<td>&lt;a&gt;</td><td class="right">1</td>' in html
    True
    """
    rows = ([escape(cell) for cell in row] for row in grid.rows)
    return scroll_box(title, table_html(grid.headings, rows, grid.sides))


def table_html(
    headings: Iterable[str], rows: Iterable[Iterable[str]], sides: Iterable[str] | None = None
) -> str:
    """Write a table whose cells are HTML already; the headings are text."""
    names = list(headings)
    kinds = [
        "" if side == "left" else f' class="{side}"' for side in sides or ["left"] * len(names)
    ]
    head = "".join(
        f"<th{kind}>{escape(name)}</th>" for name, kind in zip(names, kinds, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, kinds, strict=True))
        + "</tr>\n"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def facts_html(facts: Iterable[tuple[str, str]]) -> str:
    r"""Write names and what they stand for.

    Examples
    --------
    >>> facts_html([("alpha", "0.01")])
    '<dl><dt>alpha</dt><dd>0.01</dd></dl>\n'
    """
    pairs = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts)
    return f"<dl>{pairs}</dl>\n"


def notes_html(notes: Iterable[str]) -> str:
    """Write sentences as a list; nothing if there are none.

    Examples
    --------
    >>> notes_html([])
    ''
    """
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<ul class="notes">{items}</ul>\n' if items else ""
