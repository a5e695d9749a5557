"""Random tables for the tests of the engine: the ordinary ones and the awkward ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from komb.data.parts import CodesHere
from komb.data.table import DiscreteTable
from tests import naive

Codes = npt.NDArray[np.int64]

#: Kinds of columns: so many levels, or
#: "id" all rows different, "rare" one odd row, "copy" of an earlier column, "parity" of all others.
ANY_KIND = (1, 2, 2, 3, 4, 7, 20, 200, "id", "rare", "copy", "parity")
LOW_KIND = (1, 2, 2, 2, 3, 3, 4, "rare", "copy", "parity", "parity")


def make_column(
    kind: int | str, before: Sequence[Codes], n: int, rng: np.random.Generator
) -> Codes:
    """Draw one column of ``n`` rows; ``before`` are the columns to its left."""
    if isinstance(kind, int):
        return rng.integers(0, kind, n)
    if kind == "id":
        return rng.permutation(n)
    if kind == "rare":
        column = np.zeros(n, dtype=np.int64)
        column[rng.integers(n)] = 1
        return column
    if not before:
        return rng.integers(0, 2, n)
    if kind == "copy":
        return before[int(rng.integers(len(before)))].copy()
    noise = rng.random(n) < 0.1
    parity: Codes = (np.sum(before, axis=0) + noise) % 2
    return parity


def make_table(kinds: Sequence[int | str], n_rows: int, seed: int) -> DiscreteTable:
    rng = np.random.default_rng(seed)
    columns: list[Codes] = []
    for kind in kinds:
        columns.append(make_column(kind, columns, n_rows, rng))
    return DiscreteTable.from_codes(np.column_stack(columns))


@st.composite
def tables(
    draw: Any,
    kinds: Sequence[int | str] = ANY_KIND,
    n_rows: tuple[int, int] = (1, 300),
    n_columns: tuple[int, int] = (2, 7),
) -> DiscreteTable:
    """Tables with a random mixture of kinds of columns."""
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=n_columns[0], max_size=n_columns[1]))
    return make_table(chosen, draw(st.integers(*n_rows)), draw(st.integers(0, 10**6)))


def with_missing(table: DiscreteTable, shares: Sequence[float], seed: int) -> DiscreteTable:
    """The table with a share of the values of each column missing; levels that are gone are gone.

    Made by the constructor from the codes themselves, so that any share will do, even all.
    """
    rng = np.random.default_rng(seed)
    columns, levels = [], []
    for codes, share in zip(table.codes.astype(np.int64), shares, strict=True):
        is_missing = rng.random(table.n_rows) < share
        found, compact = np.unique(codes[~is_missing], return_inverse=True)
        column = np.full(table.n_rows, len(found))
        column[~is_missing] = compact
        columns.append(column)
        levels.append(tuple(range(len(found))))
    most = max(len(found) for found in levels)
    dtype = np.uint8 if most < 256 else np.uint16
    parts = CodesHere(np.array(columns).astype(dtype))
    return DiscreteTable(table.names, parts, tuple(levels), has_missing=any(shares))


@st.composite
def tables_with_missing(draw: Any, /, **options: Any) -> DiscreteTable:
    """Tables in which some columns lack some of their values, or all."""
    table = draw(tables(**options))
    share = st.sampled_from((0.0, 0.0, 0.02, 0.1, 0.3, 0.7, 1.0))
    shares = draw(st.lists(share, min_size=table.n_columns, max_size=table.n_columns))
    return with_missing(table, shares, draw(st.integers(0, 10**6)))


def columns_of(table: DiscreteTable) -> list[list[int]]:
    """The table as its naive twins want it."""
    columns: list[list[int]] = table.codes.tolist()
    return [
        [naive.counts.MISSING if code == levels else code for code in column]
        for column, levels in zip(columns, table.cardinalities.tolist(), strict=True)
    ]
