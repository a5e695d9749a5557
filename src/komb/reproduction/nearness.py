"""How near our numbers are to the paper's, in a few lines.

>>> from komb.reproduction.paper import Published
>>> entries = Entry(0.5, published=Published(0.4)), Entry(0.3, published=Published(0.5))
>>> section = Section("test g, df observed", (Row("GS", "", entries),))
>>> columns = Column("F1", "or", 2), Column("F1", "and", 2)
>>> [nearness] = measure([Table("full", "Full", "", "method", columns, (section,))])
>>> nearness.kind, nearness.compared, nearness.middle, nearness.farthest
('classics, test g, df observed', 2, '0.15', '-0.20 (GS on and)')
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from komb.reproduction.layout import Column, Entry, Row, Section, Table, show_ratio


class Nearness(NamedTuple):
    """Differences in one kind of numbers of a table.

    Attributes
    ----------
    title
        Of the table.
    kind
        Which methods, from where, on which test.
    compared
        How many numbers can be compared.
    middle
        The median of the differences without their signs; for times, of the ratios.
    farthest
        The largest difference, or ratio, and where that is.
    """

    title: str
    kind: str
    compared: int
    middle: str
    farthest: str


class _Pair(NamedTuple):
    """A number that can be compared, and where it stands."""

    column: Column
    label: str
    entry: Entry

    @property
    def distance(self) -> float:
        return abs(self.entry.difference or 0.0)

    @property
    def speed_up(self) -> float:
        return self.entry.ratio or 1.0

    @property
    def place(self) -> str:
        return f"({self.label} on {self.column.heading})"


def measure(tables: Iterable[Table]) -> list[Nearness]:
    """Sum up the differences in some tables.

    Parameters
    ----------
    tables
        Each with columns of one kind: scores, or times.

    Returns
    -------
    list of Nearness
        For each table as many as it has kinds of rows.
    """
    return [
        _sum_up(table.title, kind, pairs)
        for table in tables
        for kind, pairs in _by_kind(table).items()
    ]


def _by_kind(table: Table) -> dict[str, list[_Pair]]:
    kinds: dict[str, list[_Pair]] = {}
    for section in table.sections:
        for row in section.rows:
            pairs = list(_pairs(table, row))
            if pairs:
                kinds.setdefault(_kind(section, row), []).extend(pairs)
    return kinds


def _kind(section: Section, row: Row) -> str:
    who = f"kOMB {row.detail}" if row.detail else "classics"
    return f"{who}, {section.title}"


def _pairs(table: Table, row: Row) -> Iterator[_Pair]:
    for column, entry in zip(table.columns, row.entries, strict=True):
        if entry.difference is not None and (column.better == "more" or entry.ratio):
            yield _Pair(column, row.label, entry)


def _sum_up(title: str, kind: str, pairs: list[_Pair]) -> Nearness:
    column = pairs[0].column
    if column.better == "less":
        middle = statistics.median(pair.speed_up for pair in pairs)
        slowest = min(pairs, key=lambda pair: pair.speed_up)
        farthest = f"{show_ratio(slowest.speed_up)} {slowest.place}"
        return Nearness(title, kind, len(pairs), show_ratio(middle), farthest)
    middle = statistics.median(pair.distance for pair in pairs)
    far = max(pairs, key=lambda pair: pair.distance)
    farthest = f"{far.column.show_change(far.entry.difference or 0.0)} {far.place}"
    return Nearness(title, kind, len(pairs), column.show(middle), farthest)
