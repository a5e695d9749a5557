"""Which columns tell a target of two levels by having a value or none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from komb.data.parts import Piece
    from komb.data.table import DiscreteTable

FEWEST_ROWS = 5
"""Of each level, with a value and without one: a few rows agree by chance."""

_Counts = npt.NDArray[np.int64]


def shares_of_gaps(table: DiscreteTable, target: int, columns: Iterable[int]) -> dict[int, float]:
    """Return the share of the target's variation that having a value explains, beyond chance.

    Only of columns that may explain most of it: as many rows have no value as one level of the
    target has, give or take a tenth of the rows. A target of more levels is not told by two.
    """
    if not table.has_missing or len(table.levels[target]) != 2:
        return {}
    missing = table.missing_counts
    frequencies = table.parts.count_levels(target, 2 + 1)[:2]
    slack = 0.1 * table.n_rows + missing[target]
    asked = [x for x in columns if missing[x] and np.any(abs(frequencies - missing[x]) <= slack)]
    if not asked:
        return {}
    n_levels, places = table.cardinalities, table.parts.places
    count = partial(_count, places[target], [(places[x], n_levels[x]) for x in asked])
    counts = table.parts.add_up(count)
    return dict(zip(asked, map(_share, counts), strict=True))


def _count(target: int, columns: list[tuple[int, int]], piece: Piece) -> _Counts:
    """Count the rows of a piece by whether a column has a value, and by the target's level."""
    codes = piece.codes()
    y = codes[target]
    tables = [np.bincount(3 * (codes[x] == missing) + y, minlength=6) for x, missing in columns]
    return np.array(tables, np.int64).reshape(-1, 2, 3)[:, :, :2]


def _share(counts: _Counts) -> float:
    """Return Pearson's statistic per row, less what chance gives, of all that it can be."""
    n_rows = int(counts.sum())
    margins = [*counts.sum(axis=0), *counts.sum(axis=1)]
    if min(margins) < FEWEST_ROWS:
        return 0.0
    product = float(np.prod(margins, dtype=float))
    (a, b), (c, d) = counts.tolist()
    explained, chance = float((a * d - b * c) ** 2) / product, 1.0 / (n_rows - 1)
    return (explained - chance) / (1.0 - chance)
