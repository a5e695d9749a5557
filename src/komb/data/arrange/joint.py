"""Several columns as one: a level for each combination of their values that occurs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from komb.data.encode.codes import CodeArray, Levels, Name, code_dtype
from komb.data.table import DiscreteTable

Codes = npt.NDArray[np.int64]


class Joint(NamedTuple):
    """A column of combinations; the code above the last level marks rows that lack a value."""

    codes: Codes
    parts: tuple[tuple[int, ...], ...]  # of each level, the codes of the columns it is made of


def join(columns: Sequence[npt.NDArray[np.unsignedinteger]], n_levels: Sequence[int]) -> Joint:
    """Count off the combinations of values that occur, in the order of the levels."""
    is_known = np.ones(len(columns[0]), dtype=bool)
    for codes, count in zip(columns, n_levels, strict=True):
        is_known &= codes < count
    combined = np.zeros(int(is_known.sum()), dtype=np.int64)
    for codes, count in zip(columns, n_levels, strict=True):
        # renumbered at every step, so that products of many levels do not overflow
        _, combined = np.unique(combined * count + codes[is_known], return_inverse=True)
    _, first = np.unique(combined, return_index=True)
    parts = np.column_stack([codes[is_known][first] for codes in columns])
    joined = np.full(len(is_known), len(first), dtype=np.int64)
    joined[is_known] = combined
    return Joint(joined, tuple(map(tuple, parts.tolist())))


def replace_columns(
    table: DiscreteTable, old: Sequence[Name], name: Name, codes: Codes, levels: Levels
) -> DiscreteTable:
    """Put one column into the place of the first of some others, at the end if there are none."""
    gone = set(old)
    place = min((table.index(each) for each in old), default=table.n_columns)
    kept = [i for i in range(table.n_columns) if table.names[i] not in gone]
    before = sum(i < place for i in kept)
    dtype = max(table.codes.dtype, code_dtype(len(levels) + 1), key=lambda kind: kind.itemsize)
    joined: CodeArray = np.empty((len(kept) + 1, table.n_rows), dtype=dtype)
    for row, i in enumerate(kept):
        joined[row + (row >= before)] = table.codes[i]
    joined[before] = codes
    names, all_levels = [table.names[i] for i in kept], [table.levels[i] for i in kept]
    names.insert(before, name)
    all_levels.insert(before, levels)
    return table.derive(names, joined, all_levels, made=[name])
