"""Joint counts of blocks of columns, in some of the rows of a table.

Counts are additive: those of a table are the sums of those of its pieces, whatever the pieces are
and whoever counts them. A missing value is one more code of its column here, above the last level,
so that counts of a block hold those of all its subsets: what is complete for some columns only is
there, too.

>>> counts = JointCounts((0, 2), (2, 3), np.array([4, 0, 1, 0, 2, 0]))
>>> counts.margin((2,)).counts.tolist()
[4, 2, 1]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from komb.data.levels import CodeArray
from komb.engine.fixed_point import Int64Array

Columns = tuple[int, ...]
"""A set of columns, ascending."""

MOST_DENSE_CELLS = 1 << 24
"""A block with more combinations of codes is counted as a list of those that occur."""

_KEYS_BELOW = 1 << 62  # combined codes of one word
_SHORT_KEYS = 1 << 16  # combined codes of half a word


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
        """Codes of the combinations, of shape (n_columns, n_combinations)."""
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
        return _gather(columns, shape, self.codes()[places], self.counts)


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


def _gather(
    columns: Columns, shape: tuple[int, ...], codes: npt.NDArray[np.integer], counts: Int64Array
) -> JointCounts:
    """Add up the counts of equal combinations, given by their codes column by column."""
    words = words_of(shape)
    keys = np.zeros((len(words), codes.shape[1]), dtype=np.int64)
    for key, places in zip(keys, words, strict=True):
        for place in places:
            key *= shape[place]
            key += codes[place]
    return _collapse(columns, shape, keys, counts)


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
    """Add the counts of the same blocks in another piece of a table to those of one."""
    return [_add(one, other) for one, other in zip(left, right, strict=True)]


def _add(left: JointCounts, right: JointCounts) -> JointCounts:
    if left.keys is None or right.keys is None:
        return left._replace(counts=np.add(left.counts, right.counts, out=left.counts))
    keys = np.concatenate((left.keys, right.keys), axis=1)
    counts = np.concatenate((left.counts, right.counts))
    return _collapse(left.columns, left.shape, keys, counts)


class CodesBeyondLevels(ValueError):  # noqa: N818 - it says what there is
    """Rows have codes that no level belongs to."""

    def __init__(self, column: int) -> None:
        super().__init__(column)
        self.column = column


def count_in(
    codes: CodeArray, places: Sequence[int], n_codes: Sequence[int], blocks: Sequence[Columns]
) -> list[JointCounts]:
    """Count blocks in some rows, whose codes of column ``c`` are in line ``places[c]``.

    Codes are checked, for they may come from a file that anybody has written: kernels would write
    outside of their tables.
    """
    shapes = [tuple(n_codes[column] for column in columns) for columns in blocks]
    is_dense = [count_cells(shape) <= MOST_DENSE_CELLS for shape in shapes]
    dense = [columns for columns, is_small in zip(blocks, is_dense, strict=True) if is_small]
    counted = iter(_count_dense(codes, places, n_codes, dense))
    ones = np.ones(codes.shape[1], dtype=np.int64)
    return [
        JointCounts(columns, shape, next(counted))
        if is_small
        else _gather(columns, shape, _checked(codes, places, columns, shape), ones)
        for columns, shape, is_small in zip(blocks, shapes, is_dense, strict=True)
    ]


def _checked(
    codes: CodeArray, places: Sequence[int], columns: Columns, shape: Sequence[int]
) -> CodeArray:
    own = codes[[places[column] for column in columns]]
    for column, line, n_codes in zip(columns, own, shape, strict=True):
        if int(line.max()) >= n_codes:
            raise CodesBeyondLevels(column)
    return own


def _count_dense(
    codes: CodeArray, places: Sequence[int], n_codes: Sequence[int], blocks: Sequence[Columns]
) -> list[Int64Array]:
    """Count blocks into tables of all combinations, all in one call of the kernel."""
    from komb.engine.kernels.joint_count_kernels import ROWS_PER_STEP, count_blocks

    if not blocks:
        return []
    used = sorted({column for columns in blocks for column in columns})
    number = {column: place for place, column in enumerate(used)}
    lines = np.array([[places[column], n_codes[column]] for column in used]).reshape(-1, 2)
    sizes = np.array([len(columns) for columns in blocks], dtype=np.int64)
    inside = np.zeros((len(blocks), max(1, int(sizes.max()))), dtype=np.int64)
    for block, columns in zip(inside, blocks, strict=True):
        block[: len(columns)] = [number[column] for column in columns]
    cells = [count_cells([n_codes[column] for column in columns]) for columns in blocks]
    starts = np.concatenate(([0], np.cumsum(cells))).astype(np.int64)
    tables = np.zeros(int(starts[-1]), dtype=np.int32)
    keys = np.empty(ROWS_PER_STEP, dtype=np.uint16 if max(cells) <= _SHORT_KEYS else np.uint32)
    wrong = count_blocks(codes, lines.astype(np.int64), inside, sizes, starts, keys, tables)
    if wrong >= 0:
        raise CodesBeyondLevels(used[wrong])
    return [
        tables[lo:hi].astype(np.int64)
        for lo, hi in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]
