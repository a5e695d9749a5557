"""Some rows of a long table, chosen by what is in them.

The rows with the smallest hashes: the same rows of the same data, whatever the order of rows and
columns, and however levels are coded. A number is hashed as it is, a level by how often it occurs,
and rows that are equal one after the other, so that each has the same chance.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from komb.data.levels import CodeArray

if TYPE_CHECKING:
    from komb.data.table import DiscreteTable

_Hashes = npt.NDArray[np.uint64]
_Int64Array = npt.NDArray[np.int64]

_STEP = np.uint64(0x9E3779B97F4A7C15)  # those of splitmix64
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def sample_rows(table: DiscreteTable, most: int) -> _Int64Array:
    """Return at most so many rows of a table, in their order."""
    if table.n_rows <= most:
        return np.arange(table.n_rows)
    hashes, ties = _hash_rows(table)
    order = np.lexsort((ties, hashes))  # of levels that are equally frequent, by their codes
    sorted_hashes = hashes[order]
    is_first = np.r_[True, sorted_hashes[1:] != sorted_hashes[:-1]]
    places = np.arange(table.n_rows)
    n_before = (places - np.maximum.accumulate(np.where(is_first, places, 0))).astype(np.uint64)
    keys = _mix(sorted_hashes + n_before * _STEP)
    return np.sort(order[np.argpartition(keys, most - 1)[:most]])


def codes_in(table: DiscreteTable, rows: _Int64Array) -> CodeArray:
    """Return the codes of some rows, wherever they are."""
    found = np.empty((table.n_columns, len(rows)), table.dtype)
    places = np.array(table.parts.places)
    for start, end, codes in _pieces(table):
        is_here = (start <= rows) & (rows < end)
        found[:, is_here] = codes[places[:, None], rows[is_here] - start]
    return found


def _hash_rows(table: DiscreteTable) -> tuple[_Hashes, _Hashes]:
    """Hash what is in each row, with a second hash for rows that are alike but for the codes."""
    hashes, ties = np.zeros((2, table.n_rows), np.uint64)
    named = np.array([zlib.crc32(repr(name).encode()) for name in table.names], np.uint64)
    salts = _mix(named * _STEP)
    by_level = {
        position: _mix(table.level_counts(position).astype(np.uint64) + salts[position])
        for position, name in enumerate(table.names)
        if name not in table.numbers
    }
    for start, end, codes in _pieces(table):
        own, tied = hashes[start:end], ties[start:end]
        for position, name in enumerate(table.names):
            if position in by_level:
                column = codes[table.parts.places[position]]
                own += by_level[position][column]
                tied += _mix(column.astype(np.uint64) + salts[position])
            else:
                own += _mix(_bits(table.numbers[name][start:end]) + salts[position])
    return hashes, ties


def _pieces(table: DiscreteTable) -> Iterator[tuple[int, int, CodeArray]]:
    start = 0
    for piece in table.parts.pieces():
        codes = piece.codes()
        yield start, start + codes.shape[1], codes
        start += codes.shape[1]


def _bits(numbers: npt.NDArray[np.float64]) -> _Hashes:
    """Bits of numbers, those of equal ones alike."""
    values = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # no minus zero
    return values.view(np.uint64)


def _mix(values: Any) -> Any:
    """Spread numbers evenly over all of 64 bits (splitmix64)."""
    mixed = (values ^ (values >> np.uint64(30))) * _FACTORS[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _FACTORS[1]
    return mixed ^ (mixed >> np.uint64(31))
