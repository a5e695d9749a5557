"""An engine for tests of a user's own, which measure batches of counted tables or of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol

import numpy as np

from komb.engine import measurement
from komb.engine.engine import Engine, Power
from komb.engine.measurement import Measurement, check_measurement
from komb.engine.plain import PlainEngine
from komb.engine.questions import EMPTY, Candidates, Dependence, Outcome, Variables, WorkCounts
from komb.engine.test_sums import Counter, Table, TestSums, Wanted


class MeasuringTest(Protocol):
    """A test that turns sums into statistics."""

    @property
    def fallback(self) -> str | None:
        """What a measurement names where a fall-back for sparse tables decided."""
        ...

    def measure(self, sums: TestSums) -> Measurement:
        """Turn sums into a statistic for each test of the batch."""
        ...


class CountingEngine(Engine, Counter):
    """An engine that can be asked for counts as well."""


class MeasuredEngine(PlainEngine):
    """What a test measures of what another engine counts.

    Parameters
    ----------
    table : CountingEngine
        Counts, and knows what does not depend on the test.
    test : MeasuringTest
    alpha : float
    fixed : frozenset of int
    """

    def __init__(
        self, table: CountingEngine, test: MeasuringTest, alpha: float, fixed: Variables = EMPTY
    ) -> None:
        super().__init__(table.n_variables, fixed)
        self._table, self._test, self._alpha = table, test, alpha
        self._source = Table(table, np.array(table.n_levels, dtype=np.int64), Wanted())
        self._n_tables = self._n_fallbacks = self._n_unreliable = 0

    def weigh(self, target: int, questions: Sequence[Candidates]) -> list[list[float]]:
        """Bits by the measurements of the test."""
        tests = [(x, given) for candidates, given in questions for x in candidates]
        bits = np.zeros(len(tests))
        for places, measured in self._measure(target, tests):
            bits[places] = measurement.weigh(measured, self._alpha)
            deciders = np.broadcast_to(measured.decider, len(places)).tolist()
            self._n_fallbacks += deciders.count(self._test.fallback)
            self._n_unreliable += measured.is_reliable.tolist().count(False)
        self._n_tables += len(tests) + len(questions)
        answers = iter(bits.tolist())
        return [list(islice(answers, len(candidates))) for candidates, _ in questions]

    def examine(self, target: int, tests: Sequence[Dependence]) -> list[Outcome]:
        """Everything that each of some tests has to say."""
        found: dict[int, Outcome] = {}
        for places, measured in self._measure(target, tests):
            found |= zip(places, measurement.outcomes(measured, self._alpha), strict=True)
        return [found[place] for place in range(len(tests))]

    def _measure(
        self, target: int, tests: Sequence[Dependence]
    ) -> Iterator[tuple[list[int], Measurement]]:
        """Measure tests with equally many conditions together; yields their places with it."""
        by_size: dict[int, list[int]] = {}
        for place, (_, given) in enumerate(tests):
            by_size.setdefault(len(given), []).append(place)
        for places in by_size.values():
            some = [tests[place] for place in places]
            measured = self._test.measure(TestSums(self._source, target, some))
            check_measurement(measured, len(some))
            yield places, measured

    def can_detect(
        self, target: int, candidate: int, given: Variables, witness: Variables, power: Power
    ) -> bool:
        """Whether a test has the power to see a share of the dependence that a witness shows."""
        asked, shown = (
            TestSums(self._source, target, [(candidate, condition | self.fixed)])
            for condition in (given, witness)
        )
        if not asked.is_thick[0]:
            return False
        is_dense = asked.has_rows_per_cell(power.dense_rows_per_cell)[0]
        share = power.dense_share if is_dense else power.share
        excess = share * measurement.excess(self._test.measure(shown))
        return bool(measurement.has_power(self._test.measure(asked), excess, self._alpha)[0])

    def determines(self, given: Variables, variable: int, min_rows: float) -> bool:
        """Whether a set is known to determine a variable, from so many rows per combination."""
        return self._table.determines(given | self.fixed, variable, min_rows)

    def explained_shares(self, target: int, candidates: Sequence[int]) -> list[float]:
        """Share of the target's variation that each candidate explains, beyond chance."""
        return self._table.explained_shares(target, candidates)

    @property
    def n_rows(self) -> int | None:
        """Rows of the table."""
        return self._table.n_rows

    @property
    def n_levels(self) -> Sequence[int]:
        """Levels of each column."""
        return self._table.n_levels

    @property
    def alpha(self) -> float:
        """Level of the tests."""
        return self._alpha

    @property
    def work(self) -> WorkCounts:
        """Tests made so far, each counted once, and tables counted for them."""
        return WorkCounts(self._n_tests, self._n_tables, self._n_fallbacks, self._n_unreliable)
