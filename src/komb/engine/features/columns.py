"""Columns as features, and the rows in which they are known.

A numeric column is its ranks: whatever transforms it monotonically changes nothing. The ranks are
turned into normal scores, so that what is linear and Gaussian stays linear, and polynomials of them
add what is not. Ties share their mean rank. A nominal column is one contrast per level, less one.

As a target or a candidate a number is its score, the square of that, and Legendre polynomials of
degree 3 and 4 of its rank. As a condition it is smooth functions, each with a cost: the degree of a
polynomial, or what is like it. Kernels make them (:mod:`komb.engine.kernels.features`); here is
what they need for it. A number of few values is all polynomials of its score there are,
orthonormal, so that products of such columns are all functions of both:
``(a == 1) xor (b == 1)`` too.

Of long tables there are some rows, chosen by what is in them (:mod:`komb.data.row_sample`). Rows
are put into an order of their own, so that sums, and with them answers, do not depend on the order
in which they come. They are kept in blocks of equal length.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.levels import CodeArray
from komb.data.row_sample import codes_in, shuffle_rows
from komb.data.table import DiscreteTable
from komb.engine.fixed_point import FloatArray, Int64Array
from komb.engine.kernels import features as kernels
from komb.engine.questions import Variables
from komb.engine.records import Record

FEW_VALUES = 4
"""Numbers of so many values are taken level by level, trend first."""

RAREST_LEVEL = 10
"""Levels of fewer rows are put together with other rare ones."""

RAREST_CONDITION = 3
"""The same for a condition: what is put together there is no longer held fixed."""

MANY_ROWS = 2000
"""From here on variables have one degree more."""

LARGEST_DEGREE, LARGEST_DEGREE_OF_MANY = 3, 4
"""Of polynomials of the target and the candidate."""

SMOOTHEST, ROUGHEST = 1.0, 12.0
"""Costs of the functions of a condition."""

ROUGHEST_OF_MANY = 24.0
"""Costs go up to the third root of the rows, if that is above ``ROUGHEST``, but not beyond this."""

KINK = 4.0
"""Cost of a jump, or of a bend, at the median."""

MOST_JOINT_LEVELS = 5
"""Contrasts of a nominal column that are multiplied with others, those of the largest levels."""

BASE_SIZE = 0.8
"""Functions of conditions that are always in, in terms of the rows to the power of 0.4."""

CURVE_DEGREES = 1.1
"""Degrees of the curves of a fit, in terms of the rows to the power of 0.2."""

SELECTION_LEVEL = 0.12
"""Of the test whether a target depends on a function; shared by the features of the target."""

BEND_LEVEL, MOST_TESTS_OF_BENDS = 0.05, 1 << 14
"""Of the tests whether a target bends with the conditions, all together; and how many there are."""

BLOCK = 256
"""Rows of a block, at most: what is made of so many stays near the processor."""

FEW_ROWS = 2000
"""Rows that most dependences are plain in, where a table has twice as many or more."""

_ROUND = 8  # rows of a block are a multiple
_DIGITS = 9  # of moments that are compared: rounding errors are behind

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: numbers by their scores and ranks, categories by their codes."""

    rows: tuple[npt.NDArray[Any], ...]  # scores and ranks between -1 and 1, or codes
    degrees: tuple[int, ...]  # of its features; contrasts between categories have degree 1
    costs: tuple[float, ...]  # of its functions as a condition
    n_joint: int  # features that are multiplied with those of other columns
    contrasts: tuple[FloatArray, ...] = ()  # of features and functions, [contrast, level]

    @property
    def is_nominal(self) -> bool:
        """Whether it has categories, or few values, which are taken like them."""
        return len(self.rows) == 1

    @property
    def kind(self) -> tuple[int, int, bool]:
        """What features it has; of columns that are alike the same."""
        return len(self.degrees), self.n_joint, self.is_nominal

    def take(self, rows: Int64Array) -> Column:
        """Return the column in some rows."""
        taken = tuple(values[rows] for values in self.rows)
        return Column(taken, self.degrees, self.costs, self.n_joint, self.contrasts)


def numeric_column(values: FloatArray) -> Column:
    """Return a column of numbers; missing ones (NaN) have zeros, for no test looks at them."""
    is_known = ~np.isnan(values)
    ranks, codes, n_distinct = _mean_ranks(values[is_known])
    n_rows = max(1, len(ranks))
    score, rank = np.zeros((2, len(values)))
    score[is_known] = _normal_scores(ranks / n_rows)
    if 1 < n_distinct <= FEW_VALUES:
        code = np.zeros(len(values), dtype=np.int64)
        code[is_known] = codes
        return _column_of_few(code, _trends(score[is_known], codes))
    rank[is_known] = 2.0 * ranks / n_rows - 1.0
    largest = LARGEST_DEGREE if n_rows < MANY_ROWS else LARGEST_DEGREE_OF_MANY
    degrees = tuple(range(1, min(largest, n_distinct - 1) + 1))
    costs = _costs_of_functions(n_distinct, roughest(n_rows))
    return Column((score, rank), degrees, costs, 2 if n_distinct > 2 else max(0, n_distinct - 1))


def roughest(n_rows: int) -> float:
    """Largest cost of a function of one condition.

    What a basis cannot follow is taken for a dependence as soon as there are rows enough to see it.
    """
    return float(max(ROUGHEST, min(ROUGHEST_OF_MANY, np.floor(np.cbrt(n_rows)))))


def _column_of_few(code: Int64Array, trends: FloatArray) -> Column:
    """Return a column of few values, whose features are polynomials of growing degree."""
    degrees = tuple(range(1, len(trends) + 1))
    costs = tuple(float(degree) for degree in degrees)
    return Column((code,), degrees, costs, len(trends), (trends, trends))


def _trends(score: FloatArray, codes: Int64Array) -> FloatArray:
    """Orthonormal polynomials of the score of each value, the line first."""
    counts = np.bincount(codes)
    weights = np.sqrt(counts / len(codes))
    at = np.bincount(codes, weights=score) / counts
    powers = weights[:, None] * np.vander(at, increasing=True)
    orthonormal, triangle = np.linalg.qr(powers)
    trends: FloatArray = (orthonormal * np.sign(triangle.diagonal())).T[1:] / weights
    return trends


def _mean_ranks(values: FloatArray) -> tuple[FloatArray, Int64Array, int]:
    """Ranks from 1/2 on, ties with their mean; codes, and the number of distinct values."""
    _, code, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - 0.5 * counts)[code], code, len(counts)


def _normal_scores(shares: FloatArray) -> FloatArray:
    """Quantiles of the normal distribution at some shares, standardised."""
    from scipy.special import ndtri

    score: FloatArray = ndtri(shares)
    score -= score.mean() if len(score) else 0.0
    scale = np.sqrt(np.mean(score**2)) if len(score) else 0.0
    return score / scale if scale > 0 else score


@lru_cache(maxsize=64)
def _costs_of_functions(n_distinct: int, largest_cost: float) -> tuple[float, ...]:
    """Costs of the functions of a condition, as many as its values can tell apart.

    Up to degree 3 they are polynomials of the score, then Legendre polynomials of the rank, of a
    degree that is less by 2. After the first of these come a jump and a bend at the median.
    """
    costs = [1.0, 2.0, 3.0, KINK, KINK, KINK, *np.arange(KINK + 1, largest_cost + 1).tolist()]
    if n_distinct <= len(costs):  # polynomials alone give every function of so few values
        costs = [cost for cost in costs if cost <= n_distinct - 1][: max(0, n_distinct - 1)]
    return tuple(costs)


def nominal_column(codes: Int64Array, n_levels: int) -> Column:
    """Return a column of categories; codes that are no level are missing.

    The contrasts are orthonormal, so that together they weigh levels as Pearson's statistic does.
    """
    is_known = codes < n_levels
    counts = np.bincount(codes[is_known], minlength=n_levels)
    contrasts, fine = (_contrasts(counts, rarest) for rarest in (RAREST_LEVEL, RAREST_CONDITION))
    return Column(
        (np.where(is_known, codes, 0),),
        (1,) * len(contrasts),
        (SMOOTHEST,) * len(fine),
        min(MOST_JOINT_LEVELS, len(contrasts)),
        (contrasts, fine),
    )


def _contrasts(counts: Int64Array, rarest: int) -> FloatArray:
    """Orthonormal contrasts between each level and the more frequent ones (Helmert).

    Levels are sorted by their frequency; the rare ones count as one.
    """
    order = np.argsort(-counts, kind="stable")
    n_frequent = int(np.count_nonzero(counts >= rarest))
    n_rare_rows = int(counts[order[n_frequent:]].sum())
    last = n_frequent if n_rare_rows >= rarest else max(0, n_frequent - 1)
    numbers = np.empty(len(counts), dtype=np.int64)
    numbers[order] = np.minimum(np.arange(len(counts)), last)
    merged = np.bincount(numbers, weights=counts) if len(counts) else np.zeros(0)
    n_rows, before = merged.sum(), np.cumsum(merged)
    contrasts = np.zeros((max(0, len(merged) - 1), len(counts)))
    for level in range(1, len(merged)):
        below, own = before[level - 1], merged[level]
        scale = np.sqrt(n_rows / (below * own * (below + own)))
        contrasts[level - 1, numbers < level] = -own * scale
        contrasts[level - 1, numbers == level] = below * scale
    return contrasts


@dataclass(frozen=True)
class Rows:
    """Columns in the rows of a block each, as kernels see them."""

    columns: Mapping[int, Column]
    n_rows: int
    record: Record

    @classmethod
    def of(cls, columns: Mapping[int, Column], n_rows: int, length: int) -> Rows:
        """Put columns into blocks of some length."""
        n_blocks = max(1, -(-n_rows // length))
        facts = np.zeros((max(columns, default=-1) + 1, kernels.N_FACTS), np.int64)
        numeric: list[Column] = []
        nominal: list[Column] = []
        contrasts: list[FloatArray] = [np.zeros(0)]
        n_contrasts = 0
        for number, column in columns.items():
            own = facts[number]
            alike = nominal if column.is_nominal else numeric
            own[kernels.IS_NOMINAL], own[kernels.PLACE] = column.is_nominal, len(alike)
            own[kernels.N_OWN], own[kernels.N_JOINT] = len(column.degrees), column.n_joint
            own[kernels.N_SMOOTH] = len(column.costs)
            alike.append(column)
            for field, table in zip((kernels.OWN, kernels.SMOOTH), column.contrasts, strict=False):
                own[field], own[kernels.N_LEVELS] = n_contrasts, table.shape[1]
                contrasts.append(table.ravel())
                n_contrasts += table.size

        def in_blocks(values: list[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
            result = np.zeros((n_blocks, len(values), length), dtype)
            for place, own in enumerate(values):
                filled = np.zeros(n_blocks * length, dtype)
                filled[:n_rows] = own
                result[:, place] = filled.reshape(n_blocks, length)
            return result

        most = max((len(column.degrees) for column in columns.values()), default=0)
        record = Record(
            n_rows=n_rows,
            n_blocks=n_blocks,
            columns=facts,
            score=in_blocks([column.rows[0] for column in numeric], np.float64),
            rank=in_blocks([column.rows[1] for column in numeric], np.float64),
            codes=in_blocks([column.rows[0] for column in nominal], np.int64),
            contrasts=np.concatenate(contrasts),
            room=BASE_SIZE * n_rows**0.4,
            n_curves=int(CURVE_DEGREES * n_rows**0.2),
            root=np.sqrt(2.0 * np.arange(64) + 1.0),
            least_evidence=_least_evidence(SELECTION_LEVEL, most),
            sure_evidence=_least_evidence(BEND_LEVEL, MOST_TESTS_OF_BENDS),
        )
        return cls(columns, n_rows, record)


@lru_cache(maxsize=64)
def _least_evidence(level: float, most: int) -> FloatArray:
    """Squares, in variances, that are beyond chance at a level that so many tests share."""
    from scipy.special import chdtri

    least: FloatArray = chdtri(1.0, level / np.maximum(1, np.arange(most + 1)))
    return least


class FeatureColumns:
    """The columns of a table, each made when it is asked for.

    Parameters
    ----------
    numbers : mapping of int to array
        Values of the columns that are numbers.
    codes : array, [column, row]
        Of all columns; those that are no level are missing.
    levels : sequence of int
        How many each column has.
    ordered : collection of int
        Columns of levels that are taken by their ranks.
    few : array
        Rows that stand for all of them; empty where there are few anyway.

    Attributes
    ----------
    n_rows, n_columns : int
    n_blocks, length : int
        Blocks of rows, and how long they are.
    numeric : frozenset of int
        Columns that are numbers.
    """

    def __init__(
        self,
        numbers: Mapping[int, FloatArray],
        codes: CodeArray,
        levels: Sequence[int],
        ordered: Collection[int],
        few: Int64Array,
    ) -> None:
        shape: tuple[int, int] = codes.shape
        self.n_columns, self.n_rows = shape
        self.n_blocks = max(1, -(-self.n_rows // BLOCK))
        self.length = max(_ROUND, -(-self.n_rows // (self.n_blocks * _ROUND)) * _ROUND)
        self.numeric = frozenset(numbers)
        self._numbers, self._codes, self._levels, self._few = numbers, codes, levels, few
        self._ordered = frozenset(ordered)
        self._columns: dict[int, Column] = {}
        self._known: dict[int, BoolArray | None] = {}
        self._bends: dict[tuple[int, int], float] = {}

    @classmethod
    def of(
        cls, table: DiscreteTable, numbers: Mapping[int, FloatArray], ordered: Collection[int]
    ) -> FeatureColumns:
        """Take the rows of a table that tests look at."""
        is_long = table.n_rows >= 2 * FEW_ROWS
        shuffled = shuffle_rows(table) if is_long else np.arange(table.n_rows)
        places = np.argsort(shuffled[: table.n_ranked_rows])
        rows = shuffled[places]
        codes = codes_in(table, rows)
        values = {x: np.asarray(own, np.float64)[rows] for x, own in numbers.items()}
        # an order that only depends on what is in the rows
        order = np.lexsort([values.get(x, codes[x]) for x in reversed(range(table.n_columns))])
        few = np.flatnonzero(places[order] < FEW_ROWS) if is_long else order[:0]
        values = {x: own[order] for x, own in values.items()}
        return cls(values, codes[:, order], [*map(len, table.levels)], ordered, few)

    @property
    def few(self) -> FeatureColumns | None:
        """The same columns in a few rows that stand for all, if there are many more."""
        if not len(self._few):
            return None
        numbers = {x: own[self._few] for x, own in self._numbers.items()}
        codes = self._codes[:, self._few]
        return FeatureColumns(numbers, codes, self._levels, self._ordered, self._few[:0])

    @property
    def n_levels(self) -> list[int]:
        """Levels of each column; a number counts as two."""
        return [2 if x in self.numeric else own for x, own in enumerate(self._levels)]

    def levels(self, column: int) -> tuple[Int64Array, int]:
        """Codes of a column in the order of rows, and how many there are; missing ones beyond."""
        if column in self.numeric:
            distinct, codes = np.unique(self._numbers[column], return_inverse=True, equal_nan=True)
            return codes, len(distinct) - int(np.isnan(distinct[-1:]).any())
        return self._codes[column].astype(np.int64), self._levels[column]

    def column(self, column: int) -> Column:
        """Return a column in all rows."""
        if column not in self._columns:
            self._columns[column] = self._make(column)
        return self._columns[column]

    def _make(self, column: int) -> Column:
        if column in self.numeric:
            return numeric_column(self._numbers[column])
        codes, n_levels = self.levels(column)
        if column in self._ordered:
            return numeric_column(np.where(codes < n_levels, codes, np.nan))
        return nominal_column(codes, n_levels)

    def rows(self, columns: Collection[int], incomplete: Variables) -> Rows:
        """Return columns in the rows in which some that have missing values are known."""
        if incomplete:
            rows = self.complete_rows(incomplete)
            taken = {x: self.column(x).take(rows) for x in sorted(columns)}
            return Rows.of(taken, len(rows), self.length)
        return self.all_rows

    @cached_property
    def all_rows(self) -> Rows:
        """All columns in all rows."""
        every = {x: self.column(x) for x in range(self.n_columns)}
        return Rows.of(every, self.n_rows, self.length)

    def in_order(self, columns: Collection[int]) -> list[int]:
        """Put columns into an order that depends on what is in them, not on their places.

        Functions of conditions are made orthogonal one after the other, so the order is part of a
        test. First comes the one whose square goes with the others most.
        """

        def rank(x: int) -> tuple[float, int]:
            total = sum(self._bend(x, z) for z in columns if z != x)
            return -round(total, _DIGITS), x

        return sorted(columns, key=rank)

    def _bend(self, x: int, z: int) -> float:
        """How much the square of a column goes with another one, whichever way that is up."""
        if (x, z) not in self._bends:
            own, other = self._first_feature(x), self._first_feature(z)
            self._bends[x, z] = float(own**2 @ other / max(1, self.n_rows)) ** 2
        return self._bends[x, z]

    def _first_feature(self, x: int) -> FloatArray:
        """Return the first feature of a column, row by row; 0 where it is missing."""
        column, is_known = self.column(x), self._is_known(x)
        first: FloatArray = column.rows[0]
        if column.is_nominal:
            first = column.contrasts[0][:1].sum(axis=0)[column.rows[0]]
        return first if is_known is None else np.where(is_known, first, 0.0)

    def incomplete(self, columns: Collection[int]) -> Variables:
        """Those of some columns that have missing values."""
        return frozenset(x for x in columns if self._is_known(x) is not None)

    def complete_rows(self, columns: Collection[int]) -> Int64Array:
        """Rows in which none of some columns is missing."""
        is_known = self.are_known(columns)
        return np.arange(self.n_rows) if is_known is None else np.flatnonzero(is_known)

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
