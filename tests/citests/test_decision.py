"""Thresholds and p-values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from komb.citests.decision import is_dependent, p_value, thresholds
from komb.citests.measure import NO_FREEDOM, Measurement


def measured(statistic: list[float], freedom: list[int]) -> Measurement:
    reliable = np.ones(len(statistic), dtype=bool)
    return Measurement(np.array(statistic), np.array(freedom, dtype=np.int64), reliable, "g")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.floats(0, 1e5), st.integers(1, 20_000))
def test_p_values_agree_with_scipy(statistic: float, freedom: int) -> None:
    expected = float(chi2.sf(statistic, freedom))
    assert p_value(statistic, freedom) == pytest.approx(expected, rel=1e-10, abs=1e-300)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.floats(1e-6, 1400), st.integers(1, 30))
def test_p_values_in_closed_form(statistic: float, half: int) -> None:
    """With 2m degrees of freedom: exp(-x/2) (1 + x/2 + ... + (x/2)^(m-1) / (m-1)!)."""
    terms = [
        math.exp(-statistic / 2 + i * math.log(statistic / 2) - math.lgamma(i + 1))
        for i in range(half)
    ]
    assert p_value(statistic, 2 * half) == pytest.approx(math.fsum(terms), rel=1e-10, abs=1e-290)


@pytest.mark.parametrize("statistic", [1e-12, 0.1, 3.84, 50.0, 700.0, 1300.0])
def test_p_values_of_one_degree_of_freedom(statistic: float) -> None:
    expected = math.erfc(math.sqrt(statistic / 2))
    assert p_value(statistic, 1) == pytest.approx(expected, rel=1e-10)


def test_tiny_p_values_are_not_rounded_to_zero() -> None:
    tiny = p_value(1300.0, 1)
    assert tiny is not None
    assert 0 < tiny < 1e-280


@pytest.mark.parametrize("freedom", [1, 2, 7, 1023, 1024, 5000, 1_000_000])
def test_large_freedom(freedom: int) -> None:
    for statistic in (0.5 * freedom, freedom, 1.1 * freedom):
        expected = float(chi2.sf(statistic, freedom))
        assert p_value(statistic, freedom) == pytest.approx(expected, rel=1e-10, abs=1e-300)


def test_without_freedom() -> None:
    assert p_value(5.0, 0) == 1.0
    assert p_value(5.0, NO_FREEDOM) is None


@pytest.mark.parametrize("alpha", [1e-12, 0.001, 0.01, 0.05, 0.5, 0.999])
def test_the_threshold_is_where_the_p_value_reaches_alpha(alpha: float) -> None:
    """On both sides of 1024 degrees of freedom, where the table of thresholds ends."""
    freedom = np.array([1, 2, 3, 10, 1022, 1023, 1024, 1025, 3000, 100_000])
    critical = thresholds(freedom, alpha)
    for value, df in zip(critical.tolist(), freedom.tolist(), strict=True):
        assert p_value(value, df) == pytest.approx(alpha, rel=1e-9)
        decisions = is_dependent(
            measured([value * (1 - 1e-9), value * (1 + 1e-9)], [df] * 2), alpha
        )
        assert decisions.tolist() == [False, True]


def test_no_freedom_left_is_independence() -> None:
    assert not is_dependent(measured([0.0, 1e300], [0, 0]), 0.999).any()


def test_code_lengths_decide_by_their_sign() -> None:
    decided = measured([-3.0, -0.0, 0.0, 5e-324, 1e-9, 7.0], [NO_FREEDOM] * 6)
    assert is_dependent(decided, 0.01).tolist() == [False, False, False, True, True, True]


def test_a_batch_may_mix_all_kinds() -> None:
    decided = measured([3.85, 3.83, 9.0, 9.0, 2000.0], [1, 1, 0, NO_FREEDOM, 1500])
    assert is_dependent(decided, 0.05).tolist() == [True, False, False, True, True]
    assert is_dependent(measured([], []), 0.05).tolist() == []
