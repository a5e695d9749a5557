"""What a batch of counted tests looks like before and after a statistic.

count -> statistic -> decision: :class:`TestSums` is what counting hands over, :class:`Measurement`
what a statistic makes of it, and ``decision`` alone compares that with a threshold. All three speak
of a batch of tests on one target, one array element a test.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from komb.counts.contingency import Contingency, Summaries
from komb.counts.fixedpoint import FloatArray, Int64Array
from komb.errors import ParameterError

BoolArray = npt.NDArray[np.bool_]

#: Rows per cell on average below which a likelihood-ratio or Pearson test is unreliable.
ROWS_PER_CELL = 5.0

#: Rows per cell on average below which even stochastic complexity is unreliable: with fewer
#: it calls independent variables dependent (measured; at a quarter of a row per cell, always).
CODED_ROWS_PER_CELL = 1.0

#: Differences of code lengths smaller than this, in bits, are rounding and count as zero.
ROUNDING = 1e-9

#: A distribution that is less skewed than this, or negatively, is as good as normal.
LEAST_SKEWNESS = 1e-3

#: That of a chi-square distribution with one degree of freedom.
MOST_SKEWNESS = math.sqrt(8.0)

NO_FREEDOM = -1  # stands for "this statistic has no degrees of freedom"


class Tests(NamedTuple):
    """The columns of a batch of tests."""

    contingency: Contingency
    candidates: Int64Array  # one per test
    sets: Int64Array  # [given set, column]
    set_of: Int64Array  # which of the given sets each test has


class TestSums:
    """Sums over the tables of a batch of tests of candidates ``X`` given sets ``Z``.

    A statistic needs a few of them only, so they are combined when they are asked for.

    Parameters
    ----------
    tests : Tests
        The columns that are tested.
    own, index
        The given set of each test is summarised at ``own[index]``.
    unions
        Summarises, test by test, the given set together with the candidate.

    Attributes
    ----------
    n_rows : int or int array
        All rows, or those of each test that are complete for its variables.
    """

    __test__ = False  # the name starts with Test, but pytest has no business here
    __slots__ = (
        "_contingency", "_index", "_own", "_scale", "_unions", "levels", "n_rows", "strata",
        "target_levels", "tests",
    )  # fmt: skip

    def __init__(self, tests: Tests, own: Summaries, index: Int64Array, unions: Summaries) -> None:
        self.tests = tests
        self._contingency = contingency = tests.contingency
        self._own = own
        self._index = index
        self._unions = unions
        self._scale = contingency.scale
        self.n_rows = unions.rows if contingency.has_missing else contingency.n_rows
        self.target_levels = contingency.target_levels
        self.levels: Int64Array = contingency.cardinalities[tests.candidates]  # |X|
        self.strata: Int64Array = own.strata[index]  # observed strata of Z

    def only(self, kept: Int64Array) -> TestSums:
        """Return the sums of some of the tests."""
        tests = self.tests._replace(
            candidates=self.tests.candidates[kept], set_of=self.tests.set_of[kept]
        )
        by_test = [
            "union_fit", "union_strata", "union_length", "freedom", "pearson", "pearson_mean",
            "pearson_variance", "pearson_third", "split",
        ]  # fmt: skip
        if self._contingency.has_missing:
            by_test.append("rows")
        unions = self._unions._replace(
            **{name: getattr(self._unions, name)[kept] for name in by_test}
        )
        own = unions if self._own is self._unions else self._own
        return TestSums(tests, own, self._index[kept], unions)

    def variables(self, test: int) -> tuple[int, int, tuple[int, ...]]:
        """Target, candidate and given set of one test."""
        given = self.tests.sets[self.tests.set_of[test]]
        return self._contingency.target, int(self.tests.candidates[test]), tuple(given.tolist())

    def rows(self, test: int) -> list[Int64Array]:
        """Codes of the target, the candidate and each condition, where none of them is missing.

        Beside the sums, which cost next to nothing, this is slow: for tests that cannot do without.
        """
        target, candidate, given = self.variables(test)
        columns = [target, candidate, *given]
        codes = self._contingency.codes[columns].astype(np.int64)
        if self._contingency.has_missing:
            levels = self._contingency.cardinalities[columns]
            codes = codes[:, (codes < levels[:, None]).all(axis=0)]
        return list(codes)

    def table(self, test: int) -> Int64Array:
        """Contingency table of one test: rows by stratum, level of the candidate, of the target.

        Only strata that occur are there, in no particular order. As slow as :meth:`rows`.

        Examples
        --------
        >>> from komb.citests import CITest
        >>> from komb.citests.contract import TestOptions
        >>> class Shown(CITest):
        ...     def measure(self, sums):
        ...         print(sums.table(0).tolist())
        ...         raise StopIteration
        >>> import komb
        >>> from komb.sessions.data import DataSession
        >>> table = komb.DiscreteTable.from_data({"x": [0, 0, 1, 1], "y": [0, 0, 0, 1]})
        >>> DataSession(table, Shown(TestOptions())).is_dependent(1, 0, frozenset())
        Traceback (most recent call last):
        StopIteration
        """
        y, x, *z = self.rows(test)
        strata = np.zeros(len(y), dtype=np.int64)
        if z:
            strata = np.unique(np.stack(z), axis=1, return_inverse=True)[1].reshape(-1)
        n_strata = int(strata.max(initial=-1)) + 1
        shape = (n_strata, int(self.levels[test]), self.target_levels)
        counts = np.zeros(shape, dtype=np.int64)
        np.add.at(counts, (strata, x, y), 1)
        return counts

    @property
    def gain(self) -> FloatArray:
        """``fit(Z u X) - fit(Z)``, in bits."""
        gain: FloatArray = (self._unions.union_fit - self._own.fit[self._index]) / self._scale
        return gain

    @property
    def target_saving(self) -> FloatArray:
        """``length(Z) - length(Z u X)``: code lengths of ``Y``, in bits."""
        lengths = self._own.length[self._index] - self._unions.union_length
        saving: FloatArray = lengths / self._scale
        return saving

    @property
    def candidate_saving(self) -> FloatArray:
        """The same for ``X``, with and without ``Y``."""
        lengths = self._unions.split
        if self._own is not self._unions:
            classes = self._contingency.length_class[self.tests.candidates]
            lengths = self._own.splits[self._index, classes]
        saving: FloatArray = lengths / self._scale
        return saving

    @property
    def adjusted_freedom(self) -> Int64Array:
        """Degrees of freedom of the levels that occur."""
        return self._unions.freedom

    @property
    def pearson(self) -> FloatArray:
        """Pearson's statistic."""
        pearson: FloatArray = self._unions.pearson / self._contingency.pearson_scale
        return pearson

    @property
    def pearson_mean(self) -> FloatArray:
        """Mean of Pearson's statistic over all orders of the rows of each stratum."""
        mean: FloatArray = self._unions.pearson_mean / self._contingency.pearson_scale
        return mean

    @property
    def pearson_variance(self) -> FloatArray:
        """Variance of Pearson's statistic over all orders of the rows of each stratum."""
        scales = self._contingency.variance_scales[self.tests.candidates]
        variance: FloatArray = self._unions.pearson_variance / scales
        return variance

    @property
    def pearson_third(self) -> FloatArray:
        """Third cumulant of Pearson's statistic over all orders of the rows of each stratum."""
        scales = self._contingency.third_scales[self.tests.candidates]
        third: FloatArray = self._unions.pearson_third / scales
        return third

    @property
    def cells(self) -> Int64Array:
        """Cells of each table over the observed strata."""
        return self.levels * self.strata * self.target_levels

    @property
    def is_thick(self) -> BoolArray:
        """Whether a table has enough rows per cell for a large-sample test."""
        return self.has_rows_per_cell(ROWS_PER_CELL)

    @property
    def is_codable(self) -> BoolArray:
        """Whether a table has enough rows per cell for its code lengths to be compared."""
        return self.has_rows_per_cell(CODED_ROWS_PER_CELL)

    def has_rows_per_cell(self, enough: float) -> BoolArray:
        """Whether a table has this many rows per cell."""
        has_enough: BoolArray = self.n_rows >= enough * self.cells
        if self._contingency.has_missing:
            has_enough &= self.strata > 0  # no complete row, no cell: never enough
        return has_enough


class Resampled(NamedTuple):
    """The position of each test of a batch in a sample of its distribution under independence."""

    p_value: FloatArray
    smallest: float  # p-value that a sample of this size can give
    mean: FloatArray  # of the statistic, in the sample
    variance: FloatArray


class Tail(NamedTuple):
    """A statistic that is compared with a chi-square distribution."""

    statistic: FloatArray
    freedom: Int64Array | FloatArray  # any positive number; 0 where the statistic says nothing


class Moments(NamedTuple):
    """The first three cumulants that statistics have under independence."""

    mean: FloatArray
    variance: FloatArray  # 0 where the statistic does not vary, and so says nothing
    third: FloatArray

    def tails(self, statistic: FloatArray) -> tuple[Tail, ...]:
        """Compare with Pearson's type III, a shifted gamma distribution of these cumulants.

        With skewness ``g`` and ``z`` standard deviations above the mean, that is ``8 / g^2``
        degrees of freedom for ``8 / g^2 + 4 z / g``. A very skewed statistic is mostly one of a few
        values, and the gamma distribution of the same mean and variance counts as well.
        """
        from komb.counts.gamma_tail_kernels import shift_gammas

        by_three, by_two = np.empty((2, 2, len(statistic)))
        is_any_skewed = shift_gammas(
            statistic, *self, LEAST_SKEWNESS, MOST_SKEWNESS, by_three, by_two
        )
        tails = Tail(*by_three)
        return (Tail(*by_two), tails) if is_any_skewed else (tails,)


def check_measurement(measured: object, n_tests: int) -> None:
    """Raise unless a test measured as it should: it may come from outside."""
    remedy = "Correct the method 'measure' of the test: it returns a Measurement of arrays."
    if not isinstance(measured, Measurement):
        raise ParameterError.because("test", "return a Measurement", measured, remedy)
    for name in ("statistic", "freedom", "is_reliable", "log2_p_value"):
        values = getattr(measured, name)
        if values is None:
            continue
        shape = np.shape(values)
        if shape != (n_tests,):
            rule, got = f"measure {n_tests} statistics, one per test", shape[0] if shape else name
            raise ParameterError.because("test", rule, got, remedy)
        if np.isnan(np.asarray(values, dtype=np.float64)).any():
            raise ParameterError.because("test", f"measure numbers, in {name!r}", math.nan, remedy)
    wrong = measured.freedom[(measured.freedom < 0) & (measured.freedom != NO_FREEDOM)]
    if wrong.size:
        rule = f"have degrees of freedom of 0 or more, or NO_FREEDOM ({NO_FREEDOM})"
        raise ParameterError.because("test", rule, float(wrong[0]), remedy)


@dataclass(frozen=True, slots=True)
class Measurement:
    """A statistic for each test of a batch."""

    statistic: FloatArray
    freedom: Int64Array | FloatArray  # NO_FREEDOM where the statistic decides by its sign
    is_reliable: BoolArray
    decider: npt.NDArray[np.str_] | str  # which test decided, one name for all or one each
    resampled: Resampled | None = None  # if p-values come from a sample, not from a chi-square
    log2_p_value: FloatArray | None = None  # if the test has p-values of its own, their logarithms
    second_log2_p_value: FloatArray | None = None  # of another statistic of the same tables
    moments: Moments | None = None  # of the statistic, if they are not those of a chi-square
