"""One sheet of results, drawn as plain text, as HTML or by rich.

Results say what to show, a :class:`Sheet` knows how: a title, a line of facts, tables and notes.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeAlias
from unicodedata import category

if TYPE_CHECKING:
    from rich.console import RenderableType

NOTHING = "-"
"""Shown where there is no value."""

Mark: TypeAlias = Literal["found", "hit", "extra", "missed", "absent"]
"""What a method said of a column; without a truth it is "found" or "absent"."""

TICK = "✓"
DOT = "·"

_IN_ASCII = str.maketrans({TICK: "x", DOT: "."})
_LEAST_ROOM = 30  # characters of a column that is wrapped
_BELOW_DOUBLES = "< 1e-300"  # of a p-value that is too small for a double

_Side = Literal["left", "right", "center"]
_SIDES: dict[str, _Side] = {">": "right", "^": "center"}


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; every cell is text already."""

    # headings: one that ends in > has its column flush right, one that ends in ^ centred; if all
    # are empty, the line of headings is left out
    columns: tuple[str, ...]
    # cells, one for each heading; a table without rows is not drawn
    rows: tuple[tuple[str, ...], ...]

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings without the marks of their sides."""
        return tuple(column[:-1] if column[-1:] in _SIDES else column for column in self.columns)

    @property
    def sides(self) -> tuple[_Side, ...]:
        """Where each column is set flush."""
        return tuple(_SIDES.get(column[-1:], "left") for column in self.columns)

    def without(self, headings: Collection[str]) -> Grid:
        """Return the table without some of its columns."""
        kept = [number for number, column in enumerate(self.columns) if column not in headings]
        rows = tuple(tuple(row[number] for number in kept) for row in self.rows)
        return Grid(tuple(self.columns[number] for number in kept), rows)

    def to_lines(self, width: int | None = None) -> Iterator[str]:
        """Draw the table in plain text, line by line; the last column is wrapped to a width."""
        lines = [self.headings, *self.rows] if any(self.headings) else list(self.rows)
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        room = (
            None if width is None else max(_LEAST_ROOM, width - sum(widths[:-1]) - 2 * len(widths))
        )
        for *cells, last in lines:
            for piece in wrap(last, room):
                row = map(_align, [*cells, piece], widths, self.sides)
                yield f"  {'  '.join(row)}".rstrip()
                cells = [""] * len(cells)  # said once

    def to_html(self) -> str:
        """Draw the table as HTML."""
        styles = [f"text-align:{side}" for side in self.sides]
        head = _html_row("th", self.headings, styles) if any(self.headings) else ""
        body = "".join(_html_row("td", row, styles) for row in self.rows)
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"

    def to_rich(self) -> RenderableType:
        """Draw the table with rich."""
        from rich.table import Table
        from rich.text import Text

        has_headings = any(self.headings)
        table = Table(
            box=None, pad_edge=True, header_style="bold", padding=(0, 1), show_header=has_headings
        )
        for heading, side in zip(self.headings, self.sides, strict=True):
            table.add_column(Text(heading), justify=side)
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table


@dataclass(frozen=True, slots=True, repr=False)
class Sheet:
    """What to show.

    Examples
    --------
    >>> grid = Grid(("name", "size>", "ok^"), (("a", "1", "x"), ("bc", "1000", "")))
    >>> print(Sheet("Title", "Facts.", (grid,), ("Note.",)))
    Title
    Facts.
    <BLANKLINE>
      name  size  ok
      a        1  x
      bc    1000
    <BLANKLINE>
    Note.
    """

    title: str  # the line on top
    facts: str = ""  # the line below it, which may be empty
    grids: tuple[Grid, ...] = ()  # the tables
    notes: tuple[str, ...] = ()  # sentences below the tables
    warnings: tuple[str, ...] = ()  # sentences between the tables and those, not to be overlooked

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()

    def __rich__(self) -> RenderableType:
        return self.to_rich()

    def to_text(self, width: int | None = None) -> str:
        """Draw the sheet in plain text, wrapped to a width if there is one."""
        heading = [self.title, self.facts] if self.facts else [self.title]
        first, last = (
            "\n".join(chain.from_iterable(wrap(line, width) for line in block))
            for block in (heading, [*self.warnings, *self.notes])
        )
        grids = ["\n".join(grid.to_lines(width)) for grid in self._filled()]
        return "\n\n".join(filter(None, [first, *grids, last]))

    def to_html(self) -> str:
        """Draw the sheet as a piece of HTML that needs nothing else."""
        parts = [f"<p><strong>{escape(self.title)}</strong><br>{escape(self.facts)}</p>"]
        parts += [grid.to_html() for grid in self._filled()]
        if self.warnings:
            parts.append(f"<p><strong>{'<br>'.join(map(escape, self.warnings))}</strong></p>")
        if self.notes:
            parts.append(f"<p>{'<br>'.join(map(escape, self.notes))}</p>")
        return f"<div>{''.join(parts)}</div>"

    def to_rich(self) -> RenderableType:
        """Draw the sheet with rich, for a terminal."""
        from rich.console import Group
        from rich.text import Text

        parts: list[RenderableType] = [Text(self.title, "bold")]
        if self.facts:
            parts.append(Text(self.facts, "dim"))
        for grid in self._filled():
            parts += ["", grid.to_rich()]
        if self.warnings or self.notes:
            parts.append("")
        parts += [Text(warning, "bold yellow") for warning in self.warnings]
        parts += [Text(note, "dim") for note in self.notes]
        return Group(*parts)

    def _filled(self) -> Iterator[Grid]:
        return (grid for grid in self.grids if grid.rows)


def wrap(text: str, width: int | None) -> list[str]:
    """Break a text into lines, but no name or number; one line if there is no width."""
    if width is None or len(text) <= width:
        return [text]
    glued = re.sub(r" ([=<]) ", "\xa0\\1\xa0", text)
    lines = textwrap.wrap(glued, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]


def _align(cell: str, width: int, side: _Side) -> str:
    if side == "center":
        return cell.center(width)
    return cell.rjust(width) if side == "right" else cell.ljust(width)


def _html_row(tag: str, cells: Iterable[str], styles: Iterable[str]) -> str:
    inner = "".join(
        f'<{tag} style="{style}">{escape(cell)}</{tag}>'
        for cell, style in zip(cells, styles, strict=True)
    )
    return f"<tr>{inner}</tr>"


def in_ascii(text: str) -> str:
    """Replace the marks of komb's own that not every terminal can show."""
    return text.translate(_IN_ASCII)


def show_name(name: object) -> str:
    """Show a column's name on one line."""
    text = str(name)
    return text if text.isprintable() and text.strip() else repr(text)


def neutralise(text: str) -> str:
    r"""Write control characters as escapes, so that a terminal does not obey them.

    Line ends and tabs stay. Marks that change the direction of text are escaped too, as they can
    make one name look like another; joiners, which some scripts need, are not.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or not _is_control(letter) else _escape(letter)
        for letter in text
    )


def show_on_line(name: object) -> str:
    """Show a name as it is, on one line of its own, for programs that read lines."""
    return "".join(
        _escape(letter) if letter in "\t\n\r" else letter for letter in neutralise(str(name))
    )


def _is_control(letter: str) -> bool:
    is_control = category(letter) in ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp")
    return is_control and letter not in "\t\n\u200c\u200d"


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def show_names(names: Sequence[object], width: int | None = None) -> str:
    """Show several names; past ``width`` characters say how many are left out."""
    shown = [show_name(name) for name in names]
    text = ", ".join(shown)
    if width is None or len(text) <= width:
        return text
    kept = text[:width].rpartition(", ")[0]
    return f"{kept + ', ' if kept else ''}... ({len(names)} in all)"


def show_statistic(value: float | None) -> str:
    """Show a statistic."""
    return NOTHING if value is None else f"{value:,.2f}"


def show_freedom(value: float | None) -> str:
    """Write degrees of freedom, whole or to one decimal."""
    return NOTHING if value is None else f"{value:,.1f}".removesuffix(".0")


def show_p_value(value: float | None, bits: float | None = None) -> str:
    """Show a p-value; one that is too small for a double by its ``bits``, if they are known."""
    if value is None:
        return NOTHING
    if value > 0.0 or not bits:
        return f"{value:.2g}" if value > 0.0 else _BELOW_DOUBLES
    decades = bits * math.log10(2.0)
    power = math.ceil(decades)
    digit = round(10 ** (power - decades))
    return f"1e-{power - 1:,}" if digit == 10 else f"{digit}e-{power:,}"


def show_seconds(value: float) -> str:
    """Show a duration."""
    if value < 0.00995:
        return f"{value * 1000:.1f} ms"
    if value < 0.9995:
        return f"{value * 1000:.0f} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:,.0f} s"


def plural(count: int, noun: str) -> str:
    """Count something."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
