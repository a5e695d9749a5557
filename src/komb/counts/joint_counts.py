"""Joint counts of sets of columns, counted part by part and added up.

Counts are additive: those of a table are the sums of those of its parts, whatever the parts are and
whoever counts them. So a table that lies in shards on a disk, or on several machines, is counted
where it is, and only counts travel:

* a *lot* is a list of sets of columns, to be counted in one pass over the rows;
* :func:`count_part` counts a lot in one part of the table (:class:`Part`);
* :func:`add_counts` adds the counts of two parts, in any order: they are whole numbers;
* a :class:`JointCounter` does both for all parts, with threads, workers or a cluster.

Sets are ascending tuples of columns. A missing value is one more code of its column here, above the
last level, so that counts of a set hold those of all its subsets: what is complete for some columns
only is there, too. See :mod:`komb.counts.added_contingency` for what is made of them.

>>> counts = JointCounts((0, 2), (2, 3), np.array([4, 0, 1, 0, 2, 0]))
>>> counts.margin((2,)).counts.tolist()
[4, 2, 1]
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from komb.counts.fixedpoint import Int64Array

Columns = tuple[int, ...]
"""A set of columns, ascending."""

MOST_DENSE_CELLS = 1 << 24
"""A set with more combinations of codes is counted as a list of those that occur."""

_KEYS_BELOW = 1 << 62  # combined codes of one word


class JointCounts(NamedTuple):
    """How many rows have each combination of codes of some columns."""

    columns: Columns  # ascending
    # how many codes each of them has: its levels, and one more if values are missing
    shape: tuple[int, ...]
    # of all combinations, the last column's codes next to each other; or of those in ``keys``
    counts: Int64Array
    # combinations that occur, in ascending order. A word combines the codes of as many columns as
    # fit (:func:`words_of`), as their place in an array of that shape
    keys: Int64Array | None = None

    @property
    def is_dense(self) -> bool:
        """Whether all combinations are there."""
        return self.keys is None

    @property
    def nbytes(self) -> int:
        """Bytes that the counts take."""
        return self.counts.nbytes + (0 if self.keys is None else self.keys.nbytes)

    def codes(self) -> Int64Array:
        """Codes of the combinations that occur, of shape (n_columns, n_combinations)."""
        if not self.shape:
            return np.empty((0, len(self.counts)), dtype=np.int64)
        if self.keys is None:
            return np.stack(np.unravel_index(np.arange(len(self.counts)), self.shape))
        parts = [
            np.stack(np.unravel_index(key, [self.shape[i] for i in places]))
            for key, places in zip(self.keys, words_of(self.shape), strict=True)
        ]
        return np.concatenate(parts)

    def margin(self, columns: Columns) -> JointCounts:
        """Return the counts of some of the columns."""
        if columns == self.columns:
            return self
        places = [self.columns.index(column) for column in columns]
        shape = tuple(self.shape[place] for place in places)
        if self.keys is None:
            others = tuple(i for i in range(len(self.columns)) if i not in places)
            summed = self.counts.reshape(self.shape).sum(axis=others)
            return JointCounts(columns, shape, np.ascontiguousarray(summed).reshape(-1))
        return gather(columns, shape, self.codes()[places], self.counts)


class Part(Protocol):
    """Some of the rows of a table."""

    @property
    def n_rows(self) -> int:
        """How many."""

    @property
    def data(self) -> npt.NDArray[np.uint8]:
        """The bytes of the codes of all columns."""

    @property
    def offsets(self) -> Int64Array:
        """Where in the bytes each column starts."""

    @property
    def widths(self) -> Int64Array:
        """How many bytes a code of each column takes, 1 or 2 (the lower one first)."""


OnCounted = Callable[[int, int], None]  # parts done, parts in all


class JointCounter(ABC):
    """Who counts lots of sets of columns in all rows of a table.

    Attributes
    ----------
    n_rows : int
    cardinalities : int array
        Levels of each column.
    missing : int array
        How many values of each column are missing.
    """

    def __init__(self, n_rows: int, cardinalities: Int64Array, missing: Int64Array) -> None:
        self.n_rows = n_rows
        self.cardinalities = cardinalities
        self.missing = missing
        self.n_codes: tuple[int, ...] = tuple((cardinalities + (missing > 0)).tolist())

    @abstractmethod
    def count(
        self, lot: Sequence[Columns], on_counted: OnCounted | None = None
    ) -> list[JointCounts]:
        """Count each set of a lot, in one pass over the rows."""

    @property
    @abstractmethod
    def memory_limit(self) -> int:
        """Bytes that counts may take here."""

    def is_dense(self, columns: Columns) -> bool:
        """Whether all combinations of a set are counted, not only those that occur."""
        return count_cells(self.shape_of(columns)) <= MOST_DENSE_CELLS

    def shape_of(self, columns: Columns) -> tuple[int, ...]:
        """How many codes each of some columns has."""
        return tuple(self.n_codes[column] for column in columns)


def count_cells(shape: Sequence[int]) -> int:
    """How many combinations of codes there are."""
    return math.prod(shape)


def words_of(shape: Sequence[int]) -> list[list[int]]:
    """Places of the columns that each word of a key combines."""
    words: list[list[int]] = [[]]
    cells = 1
    for place, width in enumerate(shape):
        if cells * width >= _KEYS_BELOW and words[-1]:
            words.append([])
            cells = 1
        words[-1].append(place)
        cells *= width
    return words


def gather(
    columns: Columns, shape: tuple[int, ...], codes: npt.NDArray[np.integer], counts: Int64Array
) -> JointCounts:
    """Add up the counts of equal combinations, given by their codes column by column."""
    keys = []
    for places in words_of(shape):
        key = np.zeros(codes.shape[1], dtype=np.int64)
        for place in places:
            key *= shape[place]
            key += codes[place]
        keys.append(key)
    return _collapse(columns, shape, np.stack(keys), counts)


def _collapse(
    columns: Columns, shape: tuple[int, ...], keys: Int64Array, counts: Int64Array
) -> JointCounts:
    """Sort keys, and add up the counts of equal ones."""
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    keys, counts = keys[:, order], counts[order]
    is_first = np.ones(keys.shape[1], dtype=np.bool_)
    is_first[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    starts = np.flatnonzero(is_first)
    added = np.add.reduceat(counts, starts) if len(starts) else counts
    return JointCounts(columns, shape, added, np.ascontiguousarray(keys[:, starts]))


def add_counts(left: Sequence[JointCounts], right: Sequence[JointCounts]) -> list[JointCounts]:
    """Add the counts of one lot in two parts of a table."""
    return [_add(one, other) for one, other in zip(left, right, strict=True)]


def _add(left: JointCounts, right: JointCounts) -> JointCounts:
    if left.keys is None or right.keys is None:
        return left._replace(counts=left.counts + right.counts)
    keys = np.concatenate((left.keys, right.keys), axis=1)
    counts = np.concatenate((left.counts, right.counts))
    return _collapse(left.columns, left.shape, keys, counts)


def count_part(part: Part, n_codes: Sequence[int], lot: Sequence[Columns]) -> list[JointCounts]:
    """Count each set of a lot in one part of a table."""
    shapes = [tuple(n_codes[column] for column in columns) for columns in lot]
    is_dense = [count_cells(shape) <= MOST_DENSE_CELLS for shape in shapes]
    dense = iter(_count_dense(part, n_codes, [c for c, d in zip(lot, is_dense, strict=True) if d]))
    return [
        JointCounts(columns, shape, next(dense)) if is_small else _list(part, columns, shape)
        for columns, shape, is_small in zip(lot, shapes, is_dense, strict=True)
    ]


def _count_dense(part: Part, n_codes: Sequence[int], lot: Sequence[Columns]) -> list[Int64Array]:
    """Count sets into tables of all combinations, all in one call of the kernel."""
    from komb.counts.joint_count_kernels import ROWS_PER_BLOCK, count_joint

    if not lot:
        return []
    sizes = np.array([len(columns) for columns in lot], dtype=np.int64)
    sets = np.zeros((len(lot), max(1, int(sizes.max()))), dtype=np.int64)
    for place, columns in enumerate(lot):
        sets[place, : len(columns)] = columns
    cells = [count_cells([n_codes[column] for column in columns]) for columns in lot]
    starts = np.concatenate(([0], np.cumsum(cells))).astype(np.int64)
    tables = np.zeros(int(starts[-1]), dtype=np.int32)
    keys = np.zeros((sets.shape[1] + 1, ROWS_PER_BLOCK), dtype=np.uint32)
    count_joint(
        part.data, part.n_rows, part.offsets, part.widths, np.array(n_codes, dtype=np.int64),
        sets, sizes, starts, keys, tables,
    )  # fmt: skip
    return [
        tables[lo:hi].astype(np.int64)
        for lo, hi in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]


def _list(part: Part, columns: Columns, shape: tuple[int, ...]) -> JointCounts:
    """Count the combinations that occur."""
    codes = [column_of(part, column) for column in columns]
    ones = np.ones(part.n_rows, dtype=np.int64)
    keys = np.zeros((len(words_of(shape)), part.n_rows), dtype=np.int64)
    for key, places in zip(keys, words_of(shape), strict=True):
        for place in places:
            key *= shape[place]
            key += codes[place]
    return _collapse(columns, shape, keys, ones)


def column_of(part: Part, column: int) -> npt.NDArray[np.uint8 | np.uint16]:
    """Codes of one column, as they lie in the part."""
    start, width = int(part.offsets[column]), int(part.widths[column])
    data = part.data[start : start + width * part.n_rows]
    return data if width == 1 else data.view("<u2")
