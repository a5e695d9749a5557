"""Rows by what is in them: some of a long table, and how many are copies of others.

The rows with the smallest hashes: the same rows of the same data, whatever the order of rows and
columns, and however levels are coded. A number is hashed as it is, a level by how often it occurs,
and rows that are equal one after the other, so that each has the same chance.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from komb.data.levels import CodeArray

if TYPE_CHECKING:
    from komb.data.parts import Piece
    from komb.data.table import DiscreteTable

CHANCE_PATTERNS = 20
"""Different rows up to which all of them may be there equally often by chance."""

COPIED_SHARE = 0.05
"""Share of rows from which on copies are said to be there, where numbers tell rows apart."""

_Hashes = npt.NDArray[np.uint64]
_Int64Array = npt.NDArray[np.int64]

_ROWS_AT_ONCE = 1 << 20

_STEP = np.uint64(0x9E3779B97F4A7C15)  # those of splitmix64
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def sample_rows(table: DiscreteTable, most: int) -> _Int64Array:
    """Return at most so many rows of a table, in their order."""
    return np.sort(shuffle_rows(table)[:most]) if table.n_rows > most else np.arange(table.n_rows)


def shuffle_rows(table: DiscreteTable) -> _Int64Array:
    """Return all rows in an order that is random, but only depends on what is in them."""
    order, keys = _number_rows(table)
    return order[np.argsort(keys)]


def _number_rows(table: DiscreteTable) -> tuple[_Int64Array, _Hashes]:
    """Return the rows in some order, and a number of each, by what is in it and in those alike."""
    hashes, ties = _hash_rows(table)
    order = np.lexsort((ties, hashes))  # of levels that are equally frequent, by their codes
    sorted_hashes = hashes[order]
    is_first = np.r_[True, sorted_hashes[1:] != sorted_hashes[:-1]]
    places = np.arange(table.n_rows)
    n_before = (places - np.maximum.accumulate(np.where(is_first, places, 0))).astype(np.uint64)
    return order, _mix(sorted_hashes + n_before * _STEP)


def count_repeated_rows(table: DiscreteTable) -> int:
    """Return how many rows are copies of others, unless so few levels can come together by chance.

    That is no chance if each of many rows is there as often as the others, or a multiple of that,
    or if rows are alike in numbers that otherwise tell them apart.
    """
    hashes, ties = _hash_rows(table)
    _, counts = np.unique(_mix(hashes) + ties, return_counts=True)
    n_repeated = table.n_rows - len(counts)
    if len(counts) > CHANCE_PATTERNS and np.gcd.reduce(counts) > 1:
        return n_repeated
    is_many = n_repeated >= COPIED_SHARE * table.n_rows
    numbers = table.numbers.values() if is_many else ()
    is_told_apart = any(2 * len(np.unique(values)) > len(counts) for values in numbers)
    return n_repeated if is_told_apart else 0


def codes_in(table: DiscreteTable, rows: _Int64Array) -> CodeArray:
    """Return the codes of some rows, wherever they are."""
    parts = table.parts
    ends = np.cumsum([*parts.each(_count_rows)])
    own = np.split(rows, np.searchsorted(rows, ends[:-1]))
    local = [each - start for each, start in zip(own, [0, *ends[:-1]], strict=True)]
    pieces = [*parts.each(partial(_take_codes, parts.places), local)]
    return np.concatenate(pieces, axis=1).astype(table.dtype, copy=False)


def _count_rows(piece: Piece) -> int:
    return int(piece.codes().shape[1])


def _take_codes(places: Sequence[int], piece: Piece, rows: _Int64Array) -> CodeArray:
    taken: CodeArray = piece.codes()[np.array(places)[:, None], rows]
    return taken


def _hash_rows(table: DiscreteTable) -> tuple[_Hashes, _Hashes]:
    """Hash what is in each row, with a second hash for rows that are alike but for the codes."""
    named = np.array([zlib.crc32(repr(name).encode()) for name in table.names], np.uint64)
    salts = _mix(named * _STEP)
    by_level = {
        place: (
            salts[position],
            _mix(table.level_counts(position).astype(np.uint64) + salts[position]),
        )
        for position, (name, place) in enumerate(zip(table.names, table.parts.places, strict=True))
        if name not in table.numbers
    }
    hashes, ties = np.concatenate([*table.parts.each(partial(_hash_levels, by_level))], axis=1)
    for name, values in table.numbers.items():
        salt = salts[table.index(name)]
        for start in range(0, table.n_rows, _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            hashes[rows] += _mix(_bits(values[rows]) + salt)
    return hashes, ties


def _hash_levels(by_level: Mapping[int, tuple[np.uint64, _Hashes]], piece: Piece) -> _Hashes:
    """Hash the levels in some rows: how often they occur, and, as a second hash, their codes."""
    codes = piece.codes()
    hashes = np.zeros((2, codes.shape[1]), np.uint64)
    for place, (salt, of_codes) in by_level.items():
        hashes[0] += of_codes[codes[place]]
        hashes[1] += _mix(codes[place].astype(np.uint64) + salt)
    return hashes


def _bits(numbers: npt.NDArray[np.float64]) -> _Hashes:
    """Bits of numbers, those of equal ones alike."""
    values = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # no minus zero
    return values.view(np.uint64)


def _mix(values: Any) -> Any:
    """Spread numbers evenly over all of 64 bits (splitmix64)."""
    mixed = (values ^ (values >> np.uint64(30))) * _FACTORS[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _FACTORS[1]
    return mixed ^ (mixed >> np.uint64(31))
