"""How far our numbers are from the paper's, in a few lines.

>>> from komb.reproduction.paper import Published
>>> from komb.reproduction.tables import Section
>>> entries = Entry(0.5, published=Published(0.4)), Entry(0.3, published=Published(0.5))
>>> section = Section("test g, df observed", (Row("GS", "", entries),))
>>> columns = Column("F1", "or", 2), Column("F1", "and", 2)
>>> [found] = measure_differences([Table("full", "Full", "", "method", columns, (section,))])
>>> found.kind, found.compared, found.median, found.farthest
('classics, test g, df observed', 2, '0.15', '-0.20 (GS on and)')
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from komb.reproduction.tables import Column, Entry, Row, Table, show_ratio

_Number: TypeAlias = tuple[Column, Row, Entry]


class Differences(NamedTuple):
    """Differences in one kind of numbers of a table.

    Attributes
    ----------
    title
        Of the table.
    kind
        Which methods, from where, on which test.
    compared
        How many numbers can be compared.
    median, farthest
        Of the differences without their signs, and the largest one; for times, of the ratios.
    """

    title: str
    kind: str
    compared: int
    median: str
    farthest: str


def measure_differences(tables: Iterable[Table]) -> list[Differences]:
    """Sum up the differences in tables whose columns are all scores, or all times."""
    return [
        _sum_up(table.title, kind, numbers)
        for table in tables
        for kind, numbers in _by_kind(table).items()
    ]


def _by_kind(table: Table) -> dict[str, list[_Number]]:
    kinds: dict[str, list[_Number]] = {}
    for section in table.sections:
        for row in section.rows:
            who = f"kOMB {row.detail}" if row.detail else "classics"
            for column, entry in zip(table.columns, row.entries, strict=True):
                if entry.difference is not None and (column.better == "more" or entry.ratio):
                    kinds.setdefault(f"{who}, {section.title}", []).append((column, row, entry))
    return kinds


def _sum_up(title: str, kind: str, numbers: list[_Number]) -> Differences:
    column = numbers[0][0]
    if column.better == "less":
        ratios = [entry.ratio or 1.0 for *_, entry in numbers]
        median, far = show_ratio(statistics.median(ratios)), min(ratios)
        farthest, place = show_ratio(far), ratios.index(far)
    else:
        changes = [entry.difference or 0.0 for *_, entry in numbers]
        median, far = column.show(statistics.median(map(abs, changes))), max(changes, key=abs)
        farthest, place = column.show_change(far), changes.index(far)
    column, row, _ = numbers[place]
    return Differences(
        title, kind, len(numbers), median, f"{farthest} ({row.label} on {column.heading})"
    )
