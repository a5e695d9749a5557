"""Tables of results, each number beside the one that the paper has in its place.

A table knows what it says and how its numbers are written; what it looks like is the affair of
:mod:`komb.reproduction.table_text` and :mod:`komb.reproduction.page`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from komb.reproduction.paper import Published
from komb.views.text import plural

Better: TypeAlias = Literal["more", "less", "neither"]
"""Which numbers of a column are the good ones."""

NO_NUMBER = "--"
"""Shown where the paper has no number, as in the paper."""


@dataclass(frozen=True, slots=True)
class Column:
    """What a column is about, and how its numbers are written.

    Attributes
    ----------
    group, heading
        The heading that it shares with its neighbours, such as ``"F1"``, and its own.
    digits
        After the decimal point.
    better
        Which of its numbers are the good ones.
    is_published
        Whether the paper has such a column.
    whole
        The largest number that there can be, if that is known.

    Examples
    --------
    >>> column = Column("F1", "Alarm1", 3)
    >>> column.show(0.5), column.show(0.5, 0.125)
    ('0.500', '0.500 ± 0.125')
    >>> column.show_change(0.25), column.show_change(-0.25), column.show_change(-0.0001)
    ('+0.250', '-0.250', '0.000')
    """

    group: str
    heading: str
    digits: int
    better: Better = "more"
    is_published: bool = True
    whole: float = 1.0

    def show(self, mean: float, std: float | None = None) -> str:
        """Write a number, with its standard deviation if it has one."""
        shown = f"{mean:.{self.digits}f}"
        return shown if std is None else f"{shown} ± {std:.{self.digits}f}"

    def show_change(self, value: float) -> str:
        """Write a difference with its sign; what is rounded to zero has none."""
        text = f"{value:+.{self.digits}f}"
        return text if float(text) else text[1:]


@dataclass(frozen=True, slots=True)
class Entry:
    """A number of ours, and that of the paper.

    Attributes
    ----------
    mean, std
        Of our runs; ``None`` where there are none, or too few for a deviation.
    runs, usual
        How many there were, and how many there are behind its neighbours; both are 0 where nothing
        is averaged.
    timed_out
        How many of ours reached the time cap.
    published, caveat
        What the paper reports, ``None`` where it has no number; and what to know about that.

    Examples
    --------
    >>> column = Column("F1", "Alarm1", 3)
    >>> entry = Entry(0.75, 0.125, runs=10, usual=100, timed_out=1, published=Published(0.5))
    >>> entry.show_ours(column), entry.show_paper(column), entry.show_change(column)
    ('0.750 ± 0.125', '0.500', '+0.250')
    >>> entry.remarks
    ('1 of 10 runs timed out', '10 of 100 runs')
    >>> Entry(0.5, published=Published(20.0)).show_change(Column("s", "Alarm1", 1, "less"))
    '-19.5, 40x faster'
    """

    mean: float | None = None
    std: float | None = None
    runs: int = 0
    usual: int = 0
    timed_out: int = 0
    published: Published | None = None
    caveat: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say, neither by the paper nor by us."""
        return self.runs == 0 and self.mean is None and self.published is None and not self.caveat

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's; ``None`` where one is missing."""
        if self.mean is None or self.published is None:
            return None
        return self.mean - self.published.mean

    @property
    def ratio(self) -> float | None:
        """The paper's by ours; ``None`` where one is missing or zero."""
        if not self.mean or self.published is None or not self.published.mean:
            return None
        return self.published.mean / self.mean

    @property
    def remarks(self) -> tuple[str, ...]:
        """What one must know before trusting our number."""
        capped = self.timed_out and self.mean is not None
        fewer = f"{self.runs} of {plural(self.usual, 'run')}"
        return (
            *([self._show_timed_out()] if capped else []),
            *([fewer] if 0 < self.runs < self.usual else []),
        )

    def show_ours(self, column: Column) -> str:
        """Write our number, or why there is none."""
        if self.mean is not None:
            return column.show(self.mean, self.std)
        if self.timed_out:
            return self._show_timed_out()
        return NO_NUMBER if self.is_empty else "not run"

    def _show_timed_out(self) -> str:
        return f"{self.timed_out} of {plural(self.runs, 'run')} timed out"

    def show_paper(self, column: Column) -> str:
        """Write the paper's number."""
        text = NO_NUMBER if self.published is None else column.show(*self.published)
        return f"{text} ({self.caveat})" if self.caveat else text

    def show_change(self, column: Column) -> str:
        """Write the difference, and for times the ratio; nothing where there is neither."""
        if self.difference is None:
            return ""
        text = column.show_change(self.difference)
        if column.better == "less" and self.ratio is not None:
            return f"{text}, {show_ratio(self.ratio)}"
        return text


def show_ratio(ratio: float) -> str:
    """Write how much faster we are.

    Examples
    --------
    >>> show_ratio(1234.5), show_ratio(0.5)
    ('1,234x faster', '2.0x slower')
    """
    factor, word = (ratio, "faster") if ratio >= 1 else (1 / ratio, "slower")
    return f"{factor:,.1f}x {word}" if factor < 9.95 else f"{factor:,.0f}x {word}"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: what it is about, how that was started, and an entry for each column."""

    label: str
    detail: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Rows that were made in the same way, which the title tells."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the paper, made again.

    Attributes
    ----------
    name
        Of its files.
    title, caption, notes
        What stands above it, and below it.
    head
        What its rows are.
    columns, sections
        What is in it; without sections there is nothing to show yet.

    Examples
    --------
    >>> columns = (Column("F1", "or", 2),)
    >>> rows = (Row("GS", "", (Entry(0.5),)), Row("IAMB", "", (Entry(0.754),)))
    >>> table = Table("name", "Title", "Caption.", "method", columns, (Section("", rows),))
    >>> table.is_best(0, Entry(0.75)), table.is_best(0, Entry(0.5)), table.is_best(0, Entry())
    (True, False, False)
    """

    name: str
    title: str
    caption: str
    head: str
    columns: tuple[Column, ...] = ()
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """Those of all sections."""
        return tuple(row for section in self.sections for row in section.rows)

    @property
    def has_details(self) -> bool:
        """Whether any row says how it was started."""
        return any(row.detail for row in self.rows)

    def groups(self) -> Iterator[tuple[str, int]]:
        """Return each heading that columns share, and over how many it stands."""
        names = [column.group for column in self.columns]
        for name in dict.fromkeys(names):
            yield name, names.count(name)

    def is_best(self, place: int, entry: Entry) -> bool:
        """Whether no number in a column is better than this, to the digits that are shown."""
        column = self.columns[place]
        if entry.mean is None or column.better == "neither":
            return False
        means = [row.entries[place].mean for row in self.rows]
        known = [round(mean, column.digits) for mean in means if mean is not None]
        best = max(known) if column.better == "more" else min(known)
        return round(entry.mean, column.digits) == best
