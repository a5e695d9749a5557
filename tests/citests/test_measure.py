"""Sums over the tables of a batch, and of some of its tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from komb.citests.measure import LEAST_SKEWNESS, MOST_SKEWNESS, Moments, TestSums
from komb.data.table import DiscreteTable
from komb.sessions.data import DataSession
from tests.counts.tables import (
    make_table,
    with_missing,
)

MIXED: list[int | str] = [2, 3, "parity", 2, 4, "copy", "parity", "rare"]
PROPERTIES = (
    "gain", "target_saving", "candidate_saving", "adjusted_freedom", "pearson",
    "pearson_mean", "pearson_variance", "pearson_third", "cells", "is_thick",
    "is_codable", "levels", "strata",
)  # fmt: skip


def sums_of(table: DiscreteTable) -> TestSums:
    session = DataSession(table, "chi2", df="adjusted")
    return session.source._sums(2, [[0, 3, 4], [1], [3, 7]], [[1, 5], [3, 7], [0, 4]])


@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize("kept", [[], [0], [1, 3, 5], [5, 2], list(range(6))])
def test_only_some_of_the_sums(share: float, kept: list[int]) -> None:
    table = make_table(MIXED, 150, seed=0)
    sums = sums_of(with_missing(table, [share] * 8, seed=0) if share else table)
    some = sums.only(np.array(kept, dtype=np.int64))
    for name in PROPERTIES:
        expected: Any = getattr(sums, name)[kept]
        np.testing.assert_array_equal(getattr(some, name), expected)
    np.testing.assert_array_equal(
        np.broadcast_to(some.n_rows, len(kept)), np.broadcast_to(sums.n_rows, 6)[kept]
    )
    assert some.tests.candidates.tolist() == [sums.tests.candidates[place] for place in kept]
    assert some.tests.set_of.tolist() == [sums.tests.set_of[place] for place in kept]
    again = some.only(np.arange(len(kept))[::-1])
    np.testing.assert_array_equal(again.gain, some.gain[::-1])


@pytest.mark.parametrize("is_skewed", [False, True])
def test_tails_are_those_of_the_formula(is_skewed: bool) -> None:
    """One by one, in Python: the same to the last bit."""
    rng = np.random.default_rng(0)
    statistic, mean = rng.gamma(1.0, 20.0, (2, 200))
    variance = np.where(rng.random(200) < 0.1, 0.0, rng.gamma(1.0, 40.0, 200))
    skewness = rng.normal(1.0, 1.0, 200) + 4.0 * (is_skewed & (rng.random(200) < 0.5))
    moments = Moments(mean, variance, skewness * variance**1.5)
    if not is_skewed:
        moments = Moments(mean, variance, np.minimum(moments.third, 2.0 * variance**1.5))
    *by_two, by_three = moments.tails(statistic)
    assert len(by_two) == is_skewed
    for i, (value, m, v, third) in enumerate(zip(statistic, *moments, strict=True)):
        assert by_three.freedom[i] == (_slope(v, third) ** 2 / 2 if v else 0.0)
        shifted = by_three.freedom[i] + _slope(v, third) * (value - m) / math.sqrt(v or 1.0)
        assert by_three.statistic[i] == max(shifted, 0.0)
        for tail in by_two:
            is_own = v > 0 and _slope(v, third) < 4 / MOST_SKEWNESS
            expected = (value * (2 * m / v), m * (2 * m / v)) if is_own else None
            found = tail.statistic[i], tail.freedom[i]
            assert found == (expected or (by_three.statistic[i], by_three.freedom[i]))


def _slope(variance: float, third: float) -> float:
    own = variance or 1.0
    return 4.0 / max(third / (own * math.sqrt(own)), LEAST_SKEWNESS)
