"""Rows that are counted piece by piece: blocks of columns, counted in one pass and remembered.

A pass over many rows is dear, and a few more columns cost little more to count. So sets of columns
that are asked for are merged into blocks, as long as their tables stay in the cache of a processor,
and all blocks are counted in one pass over the pieces of the table, each piece by whoever has it.
The counts of a block hold those of all sets inside it: a set whose superset was counted is never
counted again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations, islice
from math import comb

from komb.data.memory_limit import check_limit
from komb.data.parts import Piece
from komb.data.table import DiscreteTable
from komb.engine.joint_counts import (
    CodesBeyondLevels,
    Columns,
    JointCounts,
    add_counts,
    count_cells,
    count_in,
)
from komb.engine.threads import map_in_order, n_threads

BLOCK_CELLS = 1 << 15
"""Combinations of a block that several sets are merged into, at most: 128 kB of counts."""

CELLS_PER_ROW = 0.25
"""And at most so many for each row: beyond, clearing a table takes longer than filling it."""

SHARE = 0.5
"""Of the memory limit that counts may take; the rest is for pieces and statistics."""

LEAST_BYTES = 32 << 20
"""What counts may take however low the limit is."""

_WINDOW = 512  # sets that are looked at to fill a block
_ROWS_AT_ONCE = 1 << 28  # times blocks: some tenths of a second, in which Ctrl-C is not heard
_PASS = 0.5  # share of the counts' memory for one pass; the rest is for what is remembered
_BYTES_PER_CELL = 8  # of counts that are remembered
_LISTED_BYTES = 40  # for each combination that is listed while counts of pieces are added


class BlockCounter(ABC):
    """Who counts blocks of columns in all rows of a table.

    A missing value is one more code of its column.
    """

    def __init__(self, table: DiscreteTable) -> None:
        self.table = table
        has_missing = table.missing_counts > 0
        self.n_codes: list[int] = (table.cardinalities + has_missing).tolist()

    @abstractmethod
    def count(self, blocks: Sequence[Columns]) -> list[JointCounts]:
        """Count each block, in one pass over the rows."""

    def wrong_codes(self, error: CodesBeyondLevels) -> Exception:
        """Return the error about codes that no level belongs to."""
        return self.table.parts.wrong_codes(self.table.names[error.column])


class ThreadCounter(BlockCounter):
    """Counts pieces that this process can read, by as many threads as there may be."""

    def count(self, blocks: Sequence[Columns]) -> list[JointCounts]:
        """Count each block, in one pass over the rows."""
        parts, threads = self.table.parts, n_threads()

        def work(piece: Piece) -> list[JointCounts]:
            return count_in(piece.codes(), parts.places, self.n_codes, blocks)

        n_pieces = max(threads, self.table.n_rows * len(blocks) // _ROWS_AT_ONCE)
        try:
            return reduce(add_counts, map_in_order(work, parts.pieces(n_pieces), threads))
        except CodesBeyondLevels as error:
            raise self.wrong_codes(error) from None


class Blocks:
    """The blocks of one table that were counted, remembered as far as memory allows."""

    def __init__(self, counter: BlockCounter, memory_limit: int | str | None = None) -> None:
        self._counter = counter
        self._most_bytes = max(int(SHARE * check_limit(memory_limit)), LEAST_BYTES)
        self._kept: dict[int, JointCounts] = {}  # by bits of the columns, the latest last
        self._by_column: dict[int, set[int]] = {}
        self._n_bytes = 0

    def count(self, sets: Sequence[Columns]) -> Iterator[tuple[list[int], JointCounts]]:
        """Have all sets counted; yields blocks, with the places of the sets that are inside.

        Sets are ascending. They come in no particular order, but each of them once.
        """
        known: dict[int, list[int]] = {}
        unknown: dict[Columns, list[int]] = {}
        for place, columns in enumerate(sets):
            bits = self._find(columns)
            if bits is None:
                unknown.setdefault(columns, []).append(place)
            else:
                known.setdefault(bits, []).append(place)
        at_hand = [(places, self._kept[bits]) for bits, places in known.items()]
        yield from at_hand
        n_codes, n_rows = self._counter.n_codes, self._counter.table.n_rows
        most = min(BLOCK_CELLS, int(CELLS_PER_ROW * n_rows))
        merged = dict(merge_sets(list(unknown), n_codes, most))
        for blocks in self._passes(sorted(merged)):
            counted = self._counter.count(blocks)
            self._keep(counted)
            for block, counts in zip(blocks, counted, strict=True):
                yield [place for columns in merged[block] for place in unknown[columns]], counts

    def _find(self, columns: Columns) -> int | None:
        """Find the smallest of the counted blocks that a set is inside of."""
        wanted = _bits_of(columns)
        if wanted in self._kept:
            return wanted
        holding = [self._by_column.get(column, set()) for column in columns]
        candidates = min(holding, key=len, default=set(self._kept))
        found = [bits for bits in candidates if wanted & ~bits == 0]
        return min(found, key=lambda bits: (len(self._kept[bits].counts), bits), default=None)

    def _keep(self, counted: Sequence[JointCounts]) -> None:
        """Remember counts; forget what was counted longest ago if memory is short."""
        self._n_bytes += sum(counts.nbytes for counts in counted)
        while self._kept and self._n_bytes > self._most_bytes:
            bits = next(iter(self._kept))
            forgotten = self._kept.pop(bits)
            self._n_bytes -= forgotten.nbytes
            for column in forgotten.columns:
                self._by_column[column].discard(bits)
        for counts in counted:
            bits = _bits_of(counts.columns)
            self._kept[bits] = counts
            for column in counts.columns:
                self._by_column.setdefault(column, set()).add(bits)

    def _passes(self, blocks: Sequence[Columns]) -> Iterator[list[Columns]]:
        """Cut blocks into passes whose counts fit into memory."""
        room = _PASS * self._most_bytes
        together: list[Columns] = []
        needed = 0.0
        for block in blocks:
            own = self._needed(block)
            if together and needed + own > room:
                yield together
                together, needed = [], 0.0
            together.append(block)
            needed += own
        if together:
            yield together

    def _needed(self, block: Columns) -> float:
        """Bytes that counting a block takes: in every thread, and all together."""
        cells = count_cells([self._counter.n_codes[column] for column in block])
        listed = min(cells, self._counter.table.n_rows) * _LISTED_BYTES
        dense = cells * _BYTES_PER_CELL * (1 + 3 * n_threads())
        return min(listed, dense)


def merge_sets(
    sets: Sequence[Columns], n_codes: Sequence[int], most_cells: int
) -> Iterator[tuple[Columns, list[Columns]]]:
    """Merge sets into blocks; yields each block, with the sets inside that no other one has.

    Sets are joined whose columns are of the same groups; then a block begins with the first set
    that is left and takes in those after it that fit.
    """
    if not sets:
        return
    joined: dict[Columns, list[Columns]] = {}
    for union, inside in _join_sets(sets, n_codes, most_cells):
        joined.setdefault(union, []).extend(inside)
    for block, unions in _merge_one_by_one(list(joined), n_codes, most_cells):
        yield block, [columns for union in unions for columns in joined[union]]


def _join_sets(
    sets: Sequence[Columns], n_codes: Sequence[int], most_cells: int
) -> Iterator[tuple[Columns, list[Columns]]]:
    """Join sets by the groups that their columns are in, so small that a group for each still fits.

    All pairs of columns, say, become all pairs of groups. Columns that all sets have are in none.
    """
    common = set(sets[0]).intersection(*sets)
    n_sets = Counter(column for columns in sets for column in columns)
    n_others = max(1, max(map(len, sets)) - len(common))
    room = (most_cells / count_cells([n_codes[column] for column in common])) ** (1 / n_others)
    group_of: dict[int, int] = dict.fromkeys(common, -1)
    number, cells = 0, 1
    for column in sorted(n_sets.keys() - common, key=lambda column: (-n_sets[column], column)):
        cells *= n_codes[column]
        if cells > room + 1e-6:
            number, cells = number + 1, n_codes[column]
        group_of[column] = number
    by_groups: dict[frozenset[int], list[Columns]] = {}
    for columns in dict.fromkeys(sets):
        by_groups.setdefault(frozenset(map(group_of.__getitem__, columns)), []).append(columns)
    for inside in by_groups.values():
        union = tuple(sorted(set().union(*inside)))
        if count_cells([n_codes[column] for column in union]) <= most_cells:
            yield union, inside
        else:
            yield from ((columns, [columns]) for columns in inside)


def _merge_one_by_one(
    sets: Sequence[Columns], n_codes: Sequence[int], most_cells: int
) -> Iterator[tuple[Columns, list[Columns]]]:
    """Merge sets into blocks, each with the sets inside that no other one has."""
    order, left = sorted(sets), set(sets)
    sizes = {len(columns) for columns in sets}
    while left:
        if len(order) > 2 * len(left):
            order = [columns for columns in order if columns in left]
        window = list(islice((columns for columns in order if columns in left), _WINDOW))
        block = set(window[0])
        cells = count_cells([n_codes[column] for column in block])
        for columns in window:
            more = [column for column in columns if column not in block]
            merged = cells * count_cells([n_codes[column] for column in more])
            if more and merged <= most_cells:
                block.update(more)
                cells = merged
        ordered = tuple(sorted(block))
        if sum(comb(len(ordered), size) for size in sizes) <= _WINDOW:
            subsets = (own for size in sizes for own in combinations(ordered, size))
            inside = [own for own in subsets if own in left]
        else:
            inside = [columns for columns in window if block.issuperset(columns)]
        left.difference_update(inside)
        yield ordered, inside


def _bits_of(columns: Columns) -> int:
    bits = 0
    for column in columns:
        bits |= 1 << column
    return bits
