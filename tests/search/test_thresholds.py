"""Thresholds for many tests, and the level of single ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from komb.search._thresholds import (
    COLUMNS_OF_ALPHA,
    FALSE_SHARE,
    LARGEST_ALPHA,
    LEVEL,
    bits_of,
    choose_alpha,
    false_discovery_bits,
    family_bits,
    share_of_level,
)
from komb.search.task import GroundedChoice, Kind, fact
from tests import naive

bits_of_tests = st.lists(st.floats(0.1, 60), max_size=15)


def test_the_orders_share_the_level() -> None:
    shares = [share_of_level(order) for order in range(40)]
    assert math.fsum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares, reverse=True)
    assert all(share > 0 for share in shares)


@pytest.mark.parametrize("n_tests", [1, 7, 10**6])
@pytest.mark.parametrize("chance", [0.3, 0.05, 1e-4])
def test_a_family_has_its_chance(n_tests: int, chance: float) -> None:
    assert n_tests * 2 ** -family_bits(n_tests, chance) == pytest.approx(chance)


def test_a_family_of_none_is_one_of_one() -> None:
    assert family_bits(0, 0.05) == family_bits(1, 0.05)


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-3, 1e-9])
def test_bits_of_a_p_value_that_is_equal_to_the_level(alpha: float) -> None:
    """Rounding must not stand in its way."""
    assert -math.log2(alpha) * (1 - 1e-12) >= bits_of(alpha)
    assert -math.log2(1.0001 * alpha) < bits_of(alpha)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(bits_of_tests, st.integers(0, 5000), st.sampled_from([0.01, 0.03, 0.1, 0.5]))
def test_what_is_believed(bits: list[float], others: int, share: float) -> None:
    n = len(bits) + others or 1
    needed = false_discovery_bits(bits, n, share)
    assert needed == naive.auto.false_discovery_bits(bits, n, share)
    p_values = sorted(2.0**-own for own in bits)
    accepted = [rank for rank, p in enumerate(p_values, 1) if p <= rank * share / n * (1 - 1e-12)]
    doubtful = [rank for rank, p in enumerate(p_values, 1) if p <= rank * share / n * (1 + 1e-12)]
    n_believed = sum(own >= needed for own in bits)
    assert len(doubtful) == 0 or n_believed <= max(doubtful)
    assert n_believed >= max(accepted, default=0)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(bits_of_tests, st.integers(0, 500))
def test_more_tests_or_less_tolerance_never_make_it_easier(bits: list[float], others: int) -> None:
    n = len(bits) + others or 1
    needed = false_discovery_bits(bits, n)
    assert false_discovery_bits(bits, n + 10) >= needed
    assert false_discovery_bits(bits, n, FALSE_SHARE / 2) >= needed
    assert false_discovery_bits([*bits, math.inf], n + 1) < math.inf


def test_uniform_p_values_pass_as_often_as_they_may() -> None:
    """Simes: exactly in a share of the cases if the tests are independent."""
    rng = np.random.default_rng(0)
    n_passed = sum(
        false_discovery_bits((-np.log2(rng.random(20))).tolist(), 20, 0.05) < math.inf
        for _ in range(2000)
    )
    low, high = binom.interval(0.999, 2000, 0.05)
    assert low <= n_passed <= high


def test_of_no_tests_none_is_strong() -> None:
    assert false_discovery_bits([], 100) == math.inf


# -------------------------------------------------------------------------------------------- alpha


def test_levels_of_single_tests_fall_with_rows_and_columns() -> None:
    by_rows = [choose_alpha(n, 30).value for n in (1, 2, 10, 100, 10**4, 10**6, 10**8)]
    by_columns = [choose_alpha(1000, n).value for n in (1, 2, 20, 100, 10**4, 10**6)]
    for levels in (by_rows, by_columns):
        numbers = [float(level) for level in levels if isinstance(level, float)]
        assert len(numbers) == len(levels)
        assert numbers == sorted(numbers, reverse=True)
        assert all(0 < level <= LARGEST_ALPHA for level in numbers)
    assert by_rows[0] == LARGEST_ALPHA


@pytest.mark.parametrize("n_rows", [500, 20_000])
def test_a_parameter_that_pays_by_the_bayesian_information_criterion(n_rows: int) -> None:
    expected = float(chi2.sf(math.log(n_rows), 1))
    choice = choose_alpha(n_rows, COLUMNS_OF_ALPHA)
    assert choice.value == pytest.approx(expected, rel=0.05)  # two digits
    assert choice == GroundedChoice(
        choice.value, facts=(fact(Kind.FALLS_WITH, n_rows, COLUMNS_OF_ALPHA),)
    )


def test_the_promise_is_one_in_twenty() -> None:
    assert LEVEL == 0.05
