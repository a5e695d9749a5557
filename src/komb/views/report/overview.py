"""The data at a glance: every column with its levels, its missing values and where it was cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from komb.data.names import Name
from komb.data.table import DiscreteTable
from komb.views.text import plural, show_name, show_names
from komb.views.types_text import rank_notes, show_cuts, type_notes

if TYPE_CHECKING:
    from komb.results.blanket import Blanket

_MOST_BARS = 24  # of a column; of one with more levels the most frequent are drawn
_NAMES_WIDTH = 90  # characters of a list of levels


class Bar(NamedTuple):
    """How often a level occurs, as a share of the most frequent one."""

    share: float
    is_missing: bool


class Column(NamedTuple):
    """What a page shows of a column; ``matters`` is true for the target and the members."""

    name: Name
    tags: tuple[str, ...]
    matters: bool
    n_levels: int
    n_missing: int
    bars: tuple[Bar, ...]
    frequencies: str
    cuts: str | None


class Overview(NamedTuple):
    """What a page shows of a table."""

    size: str
    notes: tuple[str, ...]
    columns: tuple[Column, ...]
    has_missing: bool


def describe_table(table: DiscreteTable, blanket: Blanket) -> Overview:
    """Describe a table that was searched, and each of its columns."""
    columns = tuple(_describe(table, blanket, position) for position in range(table.n_columns))
    n_missing = [column.n_missing for column in columns]
    return Overview(_size(table), tuple(_notes(table, blanket, n_missing)), columns, any(n_missing))


def _size(table: DiscreteTable) -> str:
    low, high = int(table.cardinalities.min()), int(table.cardinalities.max())
    levels = plural(low, "level") if low == high else f"{low:,} to {plural(high, 'level')}"
    rows, columns = plural(table.n_rows, "row"), plural(table.n_columns, "column")
    return f"{rows} and {columns} of {levels} each."


def _notes(table: DiscreteTable, blanket: Blanket, n_missing: Sequence[int]) -> Iterator[str]:
    excluded = blanket.parameters.get("exclude") or ()
    if excluded:
        yield f"Excluded by request: {show_names(excluded, _NAMES_WIDTH)}."
    # missing values are counted below, of tables without types too
    yield from type_notes({n: replace(found, missing=0) for n, found in table.types.items()})
    if any(n_missing):
        way = _way_with_missing(str(blanket.parameters.get("missing")), n_missing)
        columns = plural(sum(map(bool, n_missing)), "column")
        yield f"{plural(sum(n_missing), 'missing value')} in {columns}, {way}."
    yield from rank_notes(blanket.types)
    if blanket.cuts:
        yield f"{plural(len(blanket.cuts), 'column')} of numbers cut into bins, as shown below."
    constant = [n for n, levels in zip(table.names, table.levels, strict=True) if len(levels) < 2]
    if constant:
        yield f"Constant, and so of no use: {show_names(constant, _NAMES_WIDTH)}."


def _way_with_missing(missing: str, n_missing: Sequence[int]) -> str:
    """Say what became of missing values, of which there are so many in each column."""
    is_one = sum(n_missing) == 1
    if missing == "level":
        where = " in each" if sum(map(bool, n_missing)) > 1 else ""
        return f"a level of {'its' if is_one else 'their'} own{where}"
    tests = f"the tests {'it concerns' if is_one else 'they concern'}"
    return f"left out of {tests}" if missing == "testwise" else "kept"


def _describe(table: DiscreteTable, blanket: Blanket, position: int) -> Column:
    name, levels = table.names[position], table.levels[position]
    shown_levels = [*levels, *([None] if table.has_missing else [])]
    counts = table.level_counts(position).tolist()
    occurring = [pair for pair in zip(shown_levels, counts, strict=False) if pair[1]]
    shown = occurring
    if len(occurring) > _MOST_BARS:
        shown = sorted(occurring, key=lambda pair: -pair[1])[:_MOST_BARS]
    most = max(count for _, count in shown)
    kinds = {
        "target": name == blanket.target,
        "member": name in blanket.members,
        "identifier?": name in blanket.identifiers,
    }
    return Column(
        name,
        tags=tuple(kind for kind, holds in kinds.items() if holds),
        matters=kinds["target"] or kinds["member"],
        n_levels=len(levels),
        n_missing=sum(count for level, count in occurring if level is None),
        bars=tuple(Bar(count / most, level is None) for level, count in shown),
        frequencies=_show_frequencies(shown, len(occurring)),
        cuts=_show_cuts(table, name),
    )


def _show_frequencies(shown: Sequence[tuple[object, int]], n_levels: int) -> str:
    labels = [
        f"{'missing' if level is None else show_name(level)}: {count:,}" for level, count in shown
    ]
    text = show_names(labels, _NAMES_WIDTH)
    if n_levels == len(shown):
        return text
    return f"the {len(shown)} most frequent of {plural(n_levels, 'level')}; {text}"


def _show_cuts(table: DiscreteTable, name: Name) -> str | None:
    if name not in table.cuts:
        return None
    points = show_names(show_cuts(name, table.cuts, table.types), _NAMES_WIDTH)
    return f"cut at {points}" if points else "not cut"
