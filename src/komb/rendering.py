"""One sheet of results, drawn as plain text, as HTML or by rich.

Results say what to show, a :class:`Sheet` knows how: a title, a line of facts, a table and notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

NOTHING = "-"
"""Shown where there is no value."""

_SMALLEST_P = 1e-16  # smaller p-values are beyond what a double can tell from zero


@dataclass(frozen=True, slots=True)
class Sheet:
    """What to show; every cell is text already.

    Attributes
    ----------
    title, facts
        Two lines above the table; the second may be empty.
    columns
        Headings; one that ends in ``>`` has its column set flush right.
    rows
        Cells, one for each heading. The table is left out if there are none.
    notes
        Sentences below the table.

    Examples
    --------
    >>> sheet = Sheet("Title", "Facts.", ("name", "size>"), (("a", "1"), ("bc", "10")), ("Note.",))
    >>> print(sheet.to_text())
    Title
    Facts.
    <BLANKLINE>
      name  size
      a        1
      bc      10
    <BLANKLINE>
    Note.
    """

    title: str
    facts: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return self.to_text()

    def __rich__(self) -> RenderableType:
        return self.to_rich()

    def to_text(self) -> str:
        """Draw the sheet in plain text."""
        blocks = [f"{self.title}\n{self.facts}".rstrip()]
        if self.rows:
            blocks.append("\n".join(self._aligned_lines()))
        if self.notes:
            blocks.append("\n".join(self.notes))
        return "\n\n".join(blocks)

    def _aligned_lines(self) -> Iterator[str]:
        lines = [tuple(heading for heading, _ in self._headings()), *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            cells = (
                cell.rjust(width) if is_number else cell.ljust(width)
                for cell, width, (_, is_number) in zip(line, widths, self._headings(), strict=True)
            )
            yield f"  {'  '.join(cells)}".rstrip()

    def _headings(self) -> list[tuple[str, bool]]:
        return [(column.removesuffix(">"), column.endswith(">")) for column in self.columns]

    def to_html(self) -> str:
        """Draw the sheet as a piece of HTML that needs nothing else."""
        parts = [f"<p><strong>{escape(self.title)}</strong><br>{escape(self.facts)}</p>"]
        if self.rows:
            styles = [f"text-align:{'right' if right else 'left'}" for _, right in self._headings()]
            head = _html_row("th", [heading for heading, _ in self._headings()], styles)
            body = "".join(_html_row("td", row, styles) for row in self.rows)
            parts.append(f"<table><thead>{head}</thead><tbody>{body}</tbody></table>")
        if self.notes:
            parts.append(f"<p>{'<br>'.join(map(escape, self.notes))}</p>")
        return f"<div>{''.join(parts)}</div>"

    def to_rich(self) -> RenderableType:
        """Draw the sheet with rich, for a terminal."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        parts: list[RenderableType] = [Text(self.title, "bold")]
        if self.facts:
            parts.append(Text(self.facts, "dim"))
        if self.rows:
            table = Table(box=None, pad_edge=True, header_style="bold", padding=(0, 1))
            for heading, is_number in self._headings():
                table.add_column(heading, justify="right" if is_number else "left")
            for row in self.rows:
                table.add_row(*map(Text, row))
            parts += ["", table]
        if self.notes:
            parts += ["", *(Text(note, "dim") for note in self.notes)]
        return Group(*parts)


def _html_row(tag: str, cells: Iterable[str], styles: Iterable[str]) -> str:
    inner = "".join(
        f'<{tag} style="{style}">{escape(cell)}</{tag}>'
        for cell, style in zip(cells, styles, strict=True)
    )
    return f"<tr>{inner}</tr>"


def show_name(name: object) -> str:
    r"""Show a column's name on one line.

    Examples
    --------
    >>> show_name("age"), show_name(3), show_name("two\nlines")
    ('age', '3', "'two\\nlines'")
    """
    text = str(name)
    return text if text.isprintable() and text.strip() else repr(text)


def show_names(names: Sequence[object], width: int | None = None) -> str:
    """Show several names; past ``width`` characters say how many are left out.

    Examples
    --------
    >>> show_names(["age", "sex"])
    'age, sex'
    >>> show_names([f"X{i}" for i in range(100)], 20)
    'X0, X1, X2, X3, ... (100 in all)'
    """
    shown = [show_name(name) for name in names]
    text = ", ".join(shown)
    if width is None or len(text) <= width:
        return text
    kept = text[:width].rpartition(", ")[0]
    return f"{kept + ', ' if kept else ''}... ({len(names)} in all)"


def show_statistic(value: float | None) -> str:
    """Show a statistic.

    Examples
    --------
    >>> show_statistic(1234.567), show_statistic(None)
    ('1,234.57', '-')
    """
    return NOTHING if value is None else f"{value:,.2f}"


def show_p_value(value: float | None) -> str:
    """Show a p-value.

    Examples
    --------
    >>> show_p_value(0.0123), show_p_value(3.4e-7), show_p_value(1e-300), show_p_value(None)
    ('0.012', '3.4e-07', '< 1e-16', '-')
    """
    if value is None:
        return NOTHING
    return f"< {_SMALLEST_P:.0e}" if value < _SMALLEST_P else f"{value:.2g}"


def show_seconds(value: float) -> str:
    """Show a duration.

    Examples
    --------
    >>> show_seconds(0.00012), show_seconds(0.123), show_seconds(75)
    ('0.1 ms', '123 ms', '75 s')
    """
    if value < 0.00995:
        return f"{value * 1000:.1f} ms"
    if value < 0.9995:
        return f"{value * 1000:.0f} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:,.0f} s"


def plural(count: int, noun: str) -> str:
    """Count something.

    Examples
    --------
    >>> plural(1, "test"), plural(1500, "test")
    ('1 test', '1,500 tests')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
