"""The columns of a table as a test for mixed columns sees them.

Rows are put into an order of their own first, so that sums, and with them answers, do not depend on
the order in which they come.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from komb.citests.measure import BoolArray
from komb.citests.mixed.features import Features, nominal_features, numeric_features
from komb.counts.fixedpoint import FloatArray, Int64Array
from komb.data.table import DiscreteTable
from komb.sessions.questions import Variables


class MixedColumns:
    """The columns of a table as features, each made when it is asked for.

    Parameters
    ----------
    table, numbers, ordered
        As in :class:`MixedSession`.

    Attributes
    ----------
    n_rows, n_columns : int
    numeric : frozenset of int
        Columns that are numbers.
    """

    def __init__(
        self, table: DiscreteTable, numbers: Mapping[int, FloatArray], ordered: Collection[int]
    ) -> None:
        self.n_rows, self.n_columns = table.n_rows, table.n_columns
        self.numeric = frozenset(numbers)
        self._table = table
        self._numbers = {x: np.asarray(values, np.float64) for x, values in numbers.items()}
        self._ordered = frozenset(ordered)
        self._order = self._sort_rows()
        self._features: dict[int, Features] = {}
        self._known: dict[int, BoolArray | None] = {}

    def _sort_rows(self) -> Int64Array:
        """Return an order of rows that only depends on what is in them."""
        columns = [self._numbers.get(x, self._table.codes[x]) for x in range(self.n_columns)]
        return np.lexsort(columns[::-1])

    def levels(self, column: int) -> tuple[Int64Array, int]:
        """Codes of a column in the order of rows, and how many there are; missing ones beyond."""
        if column in self.numeric:
            values = self._numbers[column][self._order]
            distinct, codes = np.unique(values, return_inverse=True, equal_nan=True)
            return codes, len(distinct) - int(np.isnan(distinct[-1:]).any())
        codes = self._table.codes[column][self._order].astype(np.int64)
        return codes, len(self._table.levels[column])

    def features(self, column: int) -> Features:
        """Features of a column, for all rows."""
        if column not in self._features:
            self._features[column] = self._make_features(column)
        return self._features[column]

    def _make_features(self, column: int) -> Features:
        if column in self.numeric:
            return numeric_features(self._numbers[column][self._order])
        codes, n_levels = self.levels(column)
        if column in self._ordered:
            return numeric_features(np.where(codes < n_levels, codes, np.nan))
        return nominal_features(codes, n_levels)

    def incomplete(self, columns: Collection[int]) -> Variables:
        """Those of some columns that have missing values."""
        return frozenset(x for x in columns if self._is_known(x) is not None)

    def complete_rows(self, columns: Collection[int]) -> Int64Array | None:
        """Rows in which none of some columns is missing; None if those are all rows."""
        is_known = self.are_known(columns)
        return None if is_known is None else np.flatnonzero(is_known)

    def are_known(self, columns: Collection[int]) -> BoolArray | None:
        """Whether none of some columns is missing, row by row; None if that is so in all rows."""
        masks = [mask for x in sorted(columns) if (mask := self._is_known(x)) is not None]
        return np.asarray(np.logical_and.reduce(masks)) if masks else None

    def _is_known(self, column: int) -> BoolArray | None:
        if column not in self._known:
            codes, n_levels = self.levels(column)
            is_known = codes < n_levels
            self._known[column] = None if is_known.all() else is_known
        return self._known[column]
