"""An order of the columns of a table that depends on nothing but what is in them.

A search that goes by the order of columns where evidence is equal, or tries sets one after the
other, gives the same answer for any order of the columns in a table if it puts them into this one
first. Neither the order of rows nor that of columns, nor names, nor how levels are coded, nor a
monotone change of numbers (up or down) has a say in it.

Columns are told apart as nodes of a graph are (colour refinement; Weisfeiler & Leman 1968): a level
has the colour of its number of rows, a row the colour of its levels, a level then that of its rows,
a column that of its levels. Columns that have equal colours to the end are exchangeable as far as
that shows; those are in the order of their names.

>>> from komb.data.table import DiscreteTable
>>> table = DiscreteTable.from_codes([[0, 0, 1], [0, 1, 1], [0, 1, 0], [1, 1, 0]], ["z", "y", "x"])
>>> other = DiscreteTable.from_codes([[1, 1, 1], [1, 1, 0], [0, 1, 0], [0, 0, 0]], ["x", "y", "z"])
>>> [[each.names[x] for x in order_columns(each, {})] for each in (table, other)]
[['y', 'z', 'x'], ['y', 'z', 'x']]
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from komb.data.levels import CodeArray
from komb.data.parts import CodesHere, Int64Array, Parts, Piece
from komb.data.row_sample import codes_in, sample_rows
from komb.data.table import DiscreteTable

MOST_ROUNDS = 8
"""Times that colours are refined, at most; twice is enough unless columns are much alike."""

FEW_CODES = 8
"""Up to here rows are compared with each code, which is faster than to look their codes up."""

MOST_TELLING = 32
"""Columns that are told apart already and help to tell others apart."""

MOST_ROWS_KEPT = 20_000
"""Of tables that are kept in their order, so that the next search has what the last one made."""

Colours = npt.NDArray[np.uint64]
FloatArray = npt.NDArray[np.float64]

_FLOAT_BITS = 52  # whole numbers below 2 to this are added exactly


def order_columns(table: DiscreteTable, ranked: Mapping[int, FloatArray]) -> tuple[int, ...]:
    """Return the positions of the columns in the order of their contents.

    ``ranked`` are the values of columns that tests take by their ranks; of all others the levels
    count. Of such a table as many rows are looked at as those tests look at.
    """
    if ranked:
        return _find_order(table, ranked)
    if "order" not in table.made:
        table.made["order"] = _find_order(table, ranked)
    order: tuple[int, ...] = table.made["order"]
    return order


def put_in_order(table: DiscreteTable, order: Sequence[int]) -> DiscreteTable:
    """Return a table with its columns in an order; a small one is the same each time."""
    known_order, known = table.made.get("in order", ((), table))
    if known_order != order:
        known = table.select(table.names[x] for x in order)
        if table.n_rows <= MOST_ROWS_KEPT:
            table.made["in order"] = order, known
    ordered: DiscreteTable = known
    return ordered


def _find_order(table: DiscreteTable, ranked: Mapping[int, FloatArray]) -> tuple[int, ...]:
    parts, n_levels = _codes_of(table, ranked)
    n_codes = n_levels + int(table.has_missing)
    counts = parts.add_up(partial(_count, parts.places, n_codes.tolist()))
    known = _Colours(n_levels, n_codes, counts, ranked)
    n_classes = 0
    for _ in range(MOST_ROUNDS):
        classes, class_of, sizes = np.unique(known.columns, return_inverse=True, return_counts=True)
        is_tied = sizes[class_of] > 1
        if not is_tied.any() or len(classes) == n_classes:
            break
        n_classes = len(classes)
        known.refine(parts, is_tied)
    order = sorted(range(len(n_codes)), key=lambda x: (known.columns[x], *_rank(table, x)))
    return tuple(order)


def _rank(table: DiscreteTable, position: int) -> tuple[str, str]:
    """Return what decides between columns that are exchangeable."""
    name = table.names[position]
    return type(name).__name__, repr(name)


def _codes_of(table: DiscreteTable, ranked: Mapping[int, FloatArray]) -> tuple[Parts, Int64Array]:
    """Return the codes of all columns, and how many levels each has: its values if it is ranked."""
    n_levels = table.cardinalities
    if not ranked:
        return table.parts, n_levels
    rows = sample_rows(table, table.n_ranked_rows)
    codes = codes_in(table, rows).astype(np.uint16)  # no more levels than rows, which are few
    for position, values in ranked.items():
        distinct, codes[position] = np.unique(values[rows], return_inverse=True, equal_nan=True)
        n_levels[position] = len(distinct) - int(np.isnan(distinct[-1:]).any())
    return CodesHere(codes), n_levels


class _Colours:
    """The colours of columns and of their codes; a code beyond the levels is of missing values."""

    def __init__(
        self, n_levels: Int64Array, n_codes: Int64Array, counts: Int64Array, ranked: Collection[int]
    ) -> None:
        self.columns: Colours
        self.codes: Colours  # of one column after the other
        self._starts = np.cumsum(n_codes) - n_codes
        self._column_of = np.repeat(np.arange(len(n_codes)), n_codes)
        is_missing = (
            np.arange(len(counts)) - self._starts[self._column_of] == n_levels[self._column_of]
        )
        middles = np.zeros(len(counts), np.int64)  # of a ranked level, as seen from the median
        for column in ranked:
            own = slice(self._starts[column], self._starts[column] + n_levels[column])
            middles[own] = 2 * np.cumsum(counts[own]) - counts[own] - counts[own].sum()
        self._sides = np.sign(middles)
        colours = _mix(counts.astype(np.uint64)) + np.abs(middles).astype(np.uint64)
        self._set(_mix(colours ^ (is_missing.astype(np.uint64) << np.uint64(63))))

    def _set(self, colours: Colours) -> None:
        """Give codes their colours, and columns those of their codes."""
        self.codes = colours
        below, above, between = (
            np.add.reduceat(np.where(self._sides == side, colours, 0), self._starts)
            for side in (-1, 1, 0)
        )
        low, high = np.minimum(below, above), np.maximum(below, above)  # whichever way is up
        self.columns = _mix(_mix(low) + _mix(_mix(high) + _mix(between)))

    def refine(self, parts: Parts, is_tied: npt.NDArray[np.bool_]) -> None:
        """Colour the codes of some columns by the colours of their rows."""
        others = sorted(np.flatnonzero(~is_tied).tolist(), key=self.columns.__getitem__)
        tied = np.flatnonzero(is_tied).tolist()
        of_rows = np.split(_mix(self.codes ^ self.columns[self._column_of]), self._starts[1:])
        tables = {parts.places[x]: of_rows[x] for x in [*others[:MOST_TELLING], *tied]}
        shift = max(0, 64 - _FLOAT_BITS + parts.n_rows.bit_length())
        asked = [parts.places[x] for x in tied]
        sums = np.zeros(len(self.codes), np.uint64)
        sums[is_tied[self._column_of]] = parts.add_up(partial(_add_colours, tables, asked, shift))
        self._set(_mix(self.codes + _mix(sums)))


def _mix(values: Colours) -> Colours:
    """Scatter numbers (the finaliser of splitmix64; Steele, Lea & Flood 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    result: Colours = mixed ^ (mixed >> np.uint64(31))
    return result


def _count(places: Sequence[int], n_codes: Sequence[int], piece: Piece) -> Int64Array:
    """Count the rows of a piece that have each code, of one column after the other."""
    codes = piece.codes()
    return np.concatenate(
        [_count_each(codes[place], n) for place, n in zip(places, n_codes, strict=True)]
    )


def _count_each(codes: CodeArray, n_codes: int) -> Int64Array:
    if n_codes > FEW_CODES:
        return np.bincount(codes, minlength=n_codes)[:n_codes]
    return np.array([np.count_nonzero(codes == code) for code in range(n_codes)], np.int64)


def _add_colours(
    tables: Mapping[int, Colours], asked: Collection[int], shift: int, piece: Piece
) -> FloatArray:
    """Add up the colours of the rows that have each code, of some columns one after the other."""
    codes = piece.codes()
    rows = np.zeros(codes.shape[1], np.uint64)
    for place, table in tables.items():
        rows += _look_up(table, codes[place])
    colours = (_mix(rows) >> np.uint64(shift)).astype(np.float64)
    return np.concatenate([_add_each(codes[x], colours, len(tables[x])) for x in asked])


def _look_up(table: Colours, codes: CodeArray) -> Colours:
    if len(table) > FEW_CODES:
        return table.take(codes, mode="clip")  # a code without a level is refused later
    found: Colours = (codes == 0) * table[0]
    for code in range(1, len(table)):
        found += (codes == code) * table[code]
    return found


def _add_each(codes: CodeArray, colours: FloatArray, n_codes: int) -> FloatArray:
    if n_codes > FEW_CODES:
        return np.bincount(codes, colours, n_codes)[:n_codes].astype(np.float64, copy=False)
    return np.array([(colours * (codes == code)).sum() for code in range(n_codes)])
