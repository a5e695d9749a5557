"""What a test of a user's own is given: sums over the tables of a batch of tests.

Sums are counted when they are asked for, for the whole batch. What the batch before was asked for
is counted at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from komb.engine.fixed_point import FloatArray, Int64Array
from komb.engine.questions import Dependence

BoolArray = npt.NDArray[np.bool_]

ROWS_PER_CELL = 5.0
"""Rows per cell on average below which a likelihood-ratio or Pearson test is unreliable."""


class Counted(NamedTuple):
    """Sums over the tables of tests, one array element a test."""

    rows: Int64Array  # complete for the variables of the test
    strata: Int64Array  # of the given set, in these rows
    gain: FloatArray  # bits of log-likelihood that the candidate adds
    target_saving: FloatArray  # bits by which the candidate shortens what coding the target costs
    candidate_saving: FloatArray  # and the other way round
    freedom: Int64Array  # degrees of freedom of the levels that occur
    pearson: FloatArray  # Pearson's statistic, and its cumulants under independence
    mean: FloatArray
    variance: FloatArray
    third: FloatArray


class Counter(Protocol):
    """Counts the tables of tests."""

    @property
    def codes(self) -> npt.NDArray[Any]:
        """Codes [column, row]: the number of levels stands for a missing value."""
        ...

    def count(
        self, target: int, tests: Sequence[Dependence], *, wants_pearson: bool, wants_lengths: bool
    ) -> Counted:
        """Count the tables of some tests; what is not wanted may be anything."""
        ...


@dataclass
class Wanted:
    """What batches of one test were asked for."""

    pearson: bool = False
    lengths: bool = False


class Table(NamedTuple):
    """What the batches of one test are counted from."""

    counter: Counter
    levels: Int64Array  # of each column
    wanted: Wanted


class TestSums:
    """Sums over the tables of a batch of tests of candidates ``X`` given sets ``Z``.

    Attributes
    ----------
    levels : int array
        Levels of the candidate of each test.
    target_levels : int
        Levels of the target.
    target : int
    source : Table
        Has the codes and the levels of all columns.
    """

    __test__ = False  # the name starts with Test, but pytest has no business here

    def __init__(self, source: Table, target: int, tests: Sequence[Dependence]) -> None:
        self.source, self.target = source, target
        self.levels: Int64Array = source.levels[[x for x, _ in tests]]
        self.target_levels = int(source.levels[target])
        self._tests = tests
        self._found: Counted | None = None
        self._has = Wanted()

    def __len__(self) -> int:
        return len(self._tests)

    def _counted(self, *, pearson: bool = False, lengths: bool = False) -> Counted:
        """Count what is wanted, unless that has been done."""
        is_there = self._has.pearson >= pearson and self._has.lengths >= lengths
        if self._found is None or not is_there:
            wanted = self.source.wanted
            wanted.pearson |= pearson
            wanted.lengths |= lengths
            self._has = replace(wanted)
            self._found = self.source.counter.count(
                self.target, self._tests, wants_pearson=wanted.pearson,
                wants_lengths=wanted.lengths,
            )  # fmt: skip
        return self._found

    def variables(self, test: int) -> tuple[int, int, tuple[int, ...]]:
        """Target, candidate and given set of one test."""
        candidate, given = self._tests[test]
        return self.target, candidate, tuple(sorted(given))

    def rows(self, test: int) -> list[Int64Array]:
        """Codes of the target, the candidate and each condition, where none of them is missing.

        Beside the sums, which cost next to nothing, this is slow: for tests that cannot do without.
        """
        target, candidate, given = self.variables(test)
        columns = [target, candidate, *given]
        codes = self.source.counter.codes[columns].astype(np.int64)
        is_complete = (codes < self.source.levels[columns][:, None]).all(axis=0)
        return list(codes if is_complete.all() else codes[:, is_complete])

    def table(self, test: int) -> Int64Array:
        """Contingency table of one test: rows by stratum, level of the candidate, of the target.

        Only strata that occur are there, in no particular order. As slow as :meth:`rows`.
        """
        y, x, *z = self.rows(test)
        strata = np.zeros(len(y), dtype=np.int64)
        if z:
            strata = np.unique(np.stack(z), axis=1, return_inverse=True)[1].reshape(-1)
        n_strata = int(strata.max(initial=-1)) + 1
        counts = np.zeros((n_strata, int(self.levels[test]), self.target_levels), dtype=np.int64)
        np.add.at(counts, (strata, x, y), 1)
        return counts

    @property
    def n_rows(self) -> Int64Array:
        """Rows that are complete for the variables of each test."""
        return self._counted().rows

    @property
    def strata(self) -> Int64Array:
        """Strata of the given set that occur."""
        return self._counted().strata

    @property
    def gain(self) -> FloatArray:
        """Log-likelihood that the candidate adds to the prediction of the target, in bits."""
        return self._counted().gain

    @property
    def target_saving(self) -> FloatArray:
        """What the cost of coding the target loses by the candidate, beyond the gain, in bits."""
        return self._counted(lengths=True).target_saving

    @property
    def candidate_saving(self) -> FloatArray:
        """What the cost of coding the candidate loses by the target, beyond the gain, in bits."""
        return self._counted(lengths=True).candidate_saving

    @property
    def adjusted_freedom(self) -> Int64Array:
        """Degrees of freedom of the levels that occur."""
        return self._counted(pearson=True).freedom

    @property
    def pearson(self) -> FloatArray:
        """Pearson's statistic."""
        return self._counted(pearson=True).pearson

    @property
    def pearson_mean(self) -> FloatArray:
        """Mean of Pearson's statistic over all orders of the rows of each stratum."""
        return self._counted(pearson=True).mean

    @property
    def pearson_variance(self) -> FloatArray:
        """Variance of Pearson's statistic over all orders of the rows of each stratum."""
        return self._counted(pearson=True).variance

    @property
    def pearson_third(self) -> FloatArray:
        """Third cumulant of Pearson's statistic over all orders of the rows of each stratum."""
        return self._counted(pearson=True).third

    @property
    def cells(self) -> Int64Array:
        """Cells of each table over the observed strata."""
        return self.levels * self.strata * self.target_levels

    @property
    def is_thick(self) -> BoolArray:
        """Whether a table has enough rows per cell for a large-sample test."""
        return self.has_rows_per_cell(ROWS_PER_CELL)

    def has_rows_per_cell(self, enough: float) -> BoolArray:
        """Whether a table has this many rows per cell; one without any complete row never has."""
        return (self.strata > 0) & (self.n_rows >= enough * self.cells)
