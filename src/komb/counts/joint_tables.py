"""Joint counts that are at hand: what was counted before, and what it implies.

A pass over a large table is dear, and a combination of a few more columns costs little more to
count. So what is asked for is merged into larger sets before it is counted, as long as their tables
stay small enough for the cache of a processor; and a set whose superset was counted before is never
counted again: its counts are margins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from komb.counts.joint_counts import Columns, JointCounter, JointCounts, count_cells
from komb.counts.threads import n_threads

MERGED_CELLS = 1 << 15
"""Combinations of a set that others are merged into, at most: 128 kB of counts."""

CELLS_PER_ROW = 0.25
"""And at most so many for each row: beyond, clearing a table takes longer than filling it."""

_WINDOW = 512  # sets that are looked at to fill one
_SHARE = 0.5  # of the memory for one pass; the rest is for what is kept from earlier ones
_BYTES_PER_CELL = 8  # of counts that are kept
_LISTED_BYTES = 40  # for each combination that is listed while counts of parts are added


class _Group(NamedTuple):
    """A set to count, and the places of those that it answers."""

    columns: Columns
    places: list[int]


class JointTables:
    """Joint counts of one table, kept as far as memory allows."""

    def __init__(self, counter: JointCounter) -> None:
        self.counter = counter
        self._kept: dict[int, JointCounts] = {}  # by bits of the columns, the latest last
        self._by_column: dict[int, set[int]] = {}
        self._bytes = 0

    def lots(self, sets: Sequence[Columns]) -> Iterator[list[int]]:
        """Have all sets counted; yields places of sets whose counts are at hand just then."""
        known: list[int] = []
        unknown: list[int] = []
        for place, columns in enumerate(sets):
            is_known = self._superset(columns) is not None
            (known if is_known else unknown).append(place)
        if known:
            yield known
        for groups in self._passes(self._plan(sets, unknown)):
            found = self.counter.count([group.columns for group in groups])
            self._make_room(sum(counts.nbytes for counts in found))
            for counts in found:
                self._keep(counts)
            yield [place for group in groups for place in group.places]

    def counts_of(self, columns: Columns) -> JointCounts:
        """Return the counts of a set that is at hand."""
        bits = self._superset(columns)
        if bits is None:  # it was, and had to make room
            for _ in self.lots([columns]):
                return self.counts_of(columns)
        assert bits is not None
        return self._kept[bits].margin(columns)

    def _superset(self, columns: Columns) -> int | None:
        """Find the smallest of the counted sets that a set is part of."""
        wanted = _bits_of(columns)
        if wanted in self._kept:
            return wanted
        fewest: set[int] | None = None
        for column in columns:
            holding = self._by_column.get(column)
            if not holding:
                return None
            if fewest is None or len(holding) < len(fewest):
                fewest = holding
        candidates = self._kept if fewest is None else fewest
        found = [bits for bits in candidates if wanted & ~bits == 0]
        return min(found, key=lambda bits: (len(self._kept[bits].counts), bits), default=None)

    def _keep(self, counts: JointCounts) -> None:
        bits = _bits_of(counts.columns)
        self._kept[bits] = counts
        self._bytes += counts.nbytes
        for column in counts.columns:
            self._by_column.setdefault(column, set()).add(bits)

    def _make_room(self, n_bytes: int) -> None:
        """Forget what was counted longest ago."""
        room = self.counter.memory_limit - n_bytes
        while self._kept and self._bytes > room:
            bits = next(iter(self._kept))
            counts = self._kept.pop(bits)
            self._bytes -= counts.nbytes
            for column in counts.columns:
                self._by_column[column].discard(bits)

    def _plan(self, sets: Sequence[Columns], places: Sequence[int]) -> list[_Group]:
        """Merge sets into larger ones, each of which is counted once."""
        n_codes, rows = self.counter.n_codes, self.counter.n_rows
        most = min(MERGED_CELLS, int(CELLS_PER_ROW * rows))
        left = sorted(places, key=lambda place: (sets[place], place))
        groups = []
        while left:
            columns = set(sets[left[0]])
            cells = count_cells([n_codes[column] for column in columns])
            for place in left[1:_WINDOW]:
                more = [column for column in sets[place] if column not in columns]
                merged = cells * count_cells([n_codes[column] for column in more])
                if merged <= most:
                    columns.update(more)
                    cells = merged
            taken = [place for place in left[:_WINDOW] if columns.issuperset(sets[place])]
            is_taken = set(taken)
            left = [place for place in left[:_WINDOW] if place not in is_taken] + left[_WINDOW:]
            groups.append(_Group(tuple(sorted(columns)), taken))
        return groups

    def _passes(self, groups: Sequence[_Group]) -> Iterator[list[_Group]]:
        """Cut groups into passes whose counts fit into memory."""
        room = _SHARE * self.counter.memory_limit
        lot: list[_Group] = []
        needed = 0.0
        for group in sorted(groups, key=lambda group: group.columns):
            own = self._needed(group.columns)
            if lot and needed + own > room:
                yield lot
                lot, needed = [], 0.0
            lot.append(group)
            needed += own
        if lot:
            yield lot

    def _needed(self, columns: Columns) -> float:
        """Bytes that counting a set takes: in every thread, and all together."""
        counter = self.counter
        cells = count_cells(counter.shape_of(columns))
        if counter.is_dense(columns):
            return cells * (_BYTES_PER_CELL + 3 * _BYTES_PER_CELL * n_threads())
        return min(cells, counter.n_rows) * _LISTED_BYTES


def _bits_of(columns: Columns) -> int:
    bits = 0
    for column in columns:
        bits |= 1 << column
    return bits
