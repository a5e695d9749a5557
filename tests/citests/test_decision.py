"""Thresholds and p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, gamma, ncx2, norm, pearson3

from komb.citests.decision import (
    excess,
    has_power,
    is_dependent,
    log2_p_values,
    p_value,
    p_values,
    strengths,
    thresholds,
)
from komb.citests.measure import (
    LEAST_SKEWNESS,
    MOST_SKEWNESS,
    NO_FREEDOM,
    Measurement,
    Moments,
    Tail,
)
from komb.counts.chi_square_kernels import functions
from komb.counts.fixedpoint import FloatArray
from komb.counts.gamma_tail_kernels import judge_by_x2
from tests import naive


def largest(tails: Sequence[Tail]) -> FloatArray:
    """Logarithms of the largest p-values of some tails; 0 where there is no freedom."""
    found = []
    for statistic, freedom in tails:
        logarithms = np.zeros(len(statistic))
        has_freedom = freedom > 0
        logarithms[has_freedom] = log2_p_values(statistic[has_freedom], freedom[has_freedom])
        found.append(logarithms)
    together: FloatArray = np.max(found, axis=0)
    return together


def by_tails(*tails: tuple[list[float], list[float]]) -> Measurement:
    """A measurement whose p-value is the largest of several; integers stay integers."""
    n = len(tails[0][0])
    made = [Tail(np.array(values), np.array(freedom)) for values, freedom in tails]
    logarithms = largest(made)
    reliable = np.ones(n, dtype=np.bool_)
    return Measurement(np.zeros(n), np.zeros(n), reliable, "x2", log2_p_value=logarithms)


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


# ---------------------------------------------------------------------------------------- strengths

FREEDOMS = [1, 2, 3, 4, 7, 10, 99, 100, 500, 1023, 1024, 1999, 2000]


def log2_p(statistic: float, freedom: int) -> float:
    return float(log2_p_values(np.array([statistic]), np.array([freedom]))[0])


def exact_log2_p(statistic: float, half: int) -> float:
    """With 2m degrees of freedom, in sixty digits: e^-x (1 + x + ... + x^(m-1) / (m-1)!)."""
    with localcontext() as context:
        context.prec = 60
        x = Decimal(statistic) / 2
        term = total = Decimal(1)
        for i in range(1, half):
            term *= x / i
            total += term
        return float((total.ln() - x) / Decimal(2).ln())


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.integers(1, 1000), st.floats(0.01, 6))
def test_logarithms_of_p_values_in_closed_form(half: int, magnitude: float) -> None:
    """From statistics nobody would look at twice to those whose p-values are no numbers."""
    statistic = 2 * half * 10**magnitude
    expected = exact_log2_p(statistic, half)
    assert log2_p(statistic, 2 * half) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert naive.decision.log2_p_value(statistic, 2 * half) == pytest.approx(
        expected, rel=1e-12, abs=1e-12
    )


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.integers(0, 1000), st.floats(0.01, 6))
def test_logarithms_of_p_values_with_odd_freedom(half: int, magnitude: float) -> None:
    freedom = 2 * half + 1
    statistic = freedom * 10**magnitude
    computed = log2_p(statistic, freedom)
    expected = naive.decision.log2_p_value(statistic, freedom)
    assert computed == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert computed < exact_log2_p(statistic, half + 1)  # more freedom makes it less surprising
    if half:
        assert computed > exact_log2_p(statistic, half)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_logarithms_of_ordinary_p_values(freedom: int) -> None:
    for p in (0.9, 0.05, 1e-5, 1e-100, 1e-280):
        statistic = float(chi2.isf(p, freedom))
        assert log2_p(statistic, freedom) == pytest.approx(math.log2(p), rel=1e-11)


@pytest.mark.parametrize("freedom", [*FREEDOMS, 20_000, 1_000_000])
def test_there_is_no_seam_where_p_values_are_no_longer_numbers(freedom: int) -> None:
    """Right and strictly falling around 1e-290, where the way of computing changes."""
    around = float(chi2.isf(1e-290, freedom)) * np.array([0.99, 0.9999, 1.0001, 1.01])
    values = log2_p_values(around, np.full(4, freedom))
    expected = [naive.decision.log2_p_value(statistic, freedom) for statistic in around.tolist()]
    assert values.tolist() == pytest.approx(expected, rel=1e-11)
    assert values[1] > math.log2(1e-290) > values[2]
    assert (np.diff(values) < 0).all()


def test_two_degrees_of_freedom_are_exponential() -> None:
    for statistic in (0.0, 1.0, 1e3, 1e6, 1e9, 1e12):
        assert log2_p(statistic, 2) == pytest.approx(-statistic / 2 / math.log(2), rel=1e-12)


def test_no_statistic_is_too_large() -> None:
    values = log2_p_values(np.array([1e5, 1e8, 1e11, 1e14]), np.array([3, 3, 3, 3]))
    assert np.isfinite(values).all()
    assert (np.diff(values) < 0).all()
    assert log2_p_values(np.array([]), np.array([], dtype=np.int64)).tolist() == []


def test_strengths_of_a_batch_of_all_kinds() -> None:
    batch = measured(
        [3.85, 3.83, 9.0, 9.0, -2.0, 0.0, 1e5, 1e5],
        [1, 1, 0, NO_FREEDOM, NO_FREEDOM, NO_FREEDOM, 4, NO_FREEDOM],
    )
    bits = strengths(batch, 0.05).tolist()
    assert bits[0] == pytest.approx(-math.log2(float(chi2.sf(3.85, 1))))
    assert bits[1:6] == [0, 0, 9.0, 0, 0]
    assert bits[6] == pytest.approx(-exact_log2_p(1e5, 2))
    assert bits[7] == 1e5
    assert [bool(b) for b in bits] == is_dependent(batch, 0.05).tolist()
    assert batch.statistic[0] == 3.85  # what was measured is left alone


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.floats(0, 1e4), st.integers(-1, 2000)), max_size=20),
    st.sampled_from([1e-9, 0.01, 0.2, 0.999]),
)
def test_a_strength_is_positive_where_there_is_dependence(
    tests: list[tuple[float, int]], alpha: float
) -> None:
    batch = measured([statistic for statistic, _ in tests], [freedom for _, freedom in tests])
    bits = strengths(batch, alpha)
    assert ((bits > 0) == is_dependent(batch, alpha)).all()
    assert (bits[~is_dependent(batch, alpha)] == 0).all()


# ------------------------------------------------------------------- several statistics for a test


@pytest.mark.parametrize("alpha", [0.9, 0.5, 0.29, 0.05, 1e-6])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(
            st.floats(0, 300), st.one_of(st.just(0.0), st.floats(1e-3, 200)), st.floats(0, 100)
        ),
        min_size=1,
    )
)
def test_the_largest_p_value_decides(alpha: float, tests: list[tuple[float, float, float]]) -> None:
    statistics, freedoms, others = map(list, zip(*tests, strict=True))
    batch = by_tails((others, [1] * len(tests)), (statistics, freedoms))
    expected = [
        max(float(chi2.sf(other, 1)), float(chi2.sf(statistic, freedom)) if freedom else 1.0)
        for statistic, freedom, other in tests
    ]
    assert p_values(batch) == pytest.approx(expected, rel=1e-9, abs=1e-300)
    bits = strengths(batch, alpha)
    for index, p in enumerate(expected):
        if abs(p - alpha) > 1e-9 * alpha:
            assert is_dependent(batch, alpha)[index] == (p <= alpha)
            assert bits[index] == pytest.approx(-math.log2(p) if 0 < p <= alpha else 0.0, rel=1e-9)


@pytest.mark.parametrize("freedom", [0.01, 0.3, 1.7, 8.25, 333.3])
@pytest.mark.parametrize("statistic", [2000.0, 1e4, 1e6])
def test_tiny_p_values_with_any_freedom(freedom: float, statistic: float) -> None:
    """Two more degrees of freedom add one term: Q(a + 1, x) = Q(a, x) + x^a e^-x / Gamma(a + 1)."""
    less, more = log2_p_values(np.full(2, statistic), np.array([freedom, freedom + 2]))
    x, a = statistic / 2, freedom / 2
    term = (a * math.log(x) - x - math.lgamma(a + 1)) / math.log(2)
    assert more == pytest.approx(term + math.log2(1 + 2 ** (less - term)), rel=1e-9)
    assert strengths(by_tails(([statistic], [freedom])), 0.01)[0] == -less


# --------------------------------------------------------------------------------- three cumulants


def by_moments(statistic: list[float], *moments: list[float]) -> Measurement:
    made, values = Moments(*map(np.array, moments)), np.array(statistic)
    reliable = made.variance > 0
    skewness, no_floor = np.array([LEAST_SKEWNESS, MOST_SKEWNESS]), np.full(len(values), np.inf)
    logarithms, judged = np.empty((2, len(values)))
    asked = np.empty(len(values), dtype=np.int64)
    judge_by_x2(values, no_floor, *made, skewness, functions(), -1.0, logarithms, judged, asked)
    assert logarithms.tolist() == largest(made.tails(values)).tolist()
    return Measurement(
        values,
        np.where(reliable, made.mean, 0.0),
        reliable,
        "x2",
        log2_p_value=logarithms,
        moments=made,
    )


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.floats(0.1, 1e6), st.floats(0.01, 3), st.floats(-3, 30), st.floats(-2, 12)
)  # fmt: skip
def test_p_values_of_three_cumulants(
    mean: float, spread: float, skewness: float, deviations: float
) -> None:
    deviation = mean * spread
    statistic = max(mean + deviations * deviation, 0.0)
    z = (statistic - mean) / deviation
    expected = float(pearson3.sf(z, max(skewness, LEAST_SKEWNESS)))
    if skewness > math.sqrt(8):
        shape = 1 / spread**2
        expected = max(expected, float(gamma.sf(statistic, shape, scale=mean / shape)))
    made = by_moments([statistic], [mean], [deviation**2], [skewness * deviation**3])
    [found] = p_values(made)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("skewness", [0.0, -5.0, 1e-9])
def test_without_skewness_it_is_a_normal_distribution(skewness: float) -> None:
    for z in (-3.0, 0.0, 1.0, 3.0, 5.0):
        [found] = p_values(by_moments([100 + 10 * z], [100.0], [100.0], [skewness * 1000]))
        assert found == pytest.approx(float(norm.sf(z)), rel=0.03)


def test_what_does_not_vary_has_p_value_one() -> None:
    made = by_moments([7.0, 0.0], [7.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    assert p_values(made) == [1.0, 1.0]
    assert not is_dependent(made, 0.9).any()
    assert strengths(made, 0.9).tolist() == [0.0, 0.0]
    assert not has_power(made, np.array([1e9, 1e9]), 0.9).any()


def test_an_answer_does_not_depend_on_its_batch() -> None:
    """A very skewed test adds a tail to all of them, which changes none of the others."""
    alone = by_moments([9.0], [1.0], [2.0], [8.0])
    among = by_moments([9.0, 9.0], [1.0, 1.0], [2.0, 2.0], [8.0, 80.0])
    assert p_values(among)[0] == p_values(alone)[0]
    assert strengths(among, 0.05)[0] == strengths(alone, 0.05)[0]


@pytest.mark.parametrize("freedom", [1, 4, 50])
def test_power_with_the_moments_of_chi_square_is_that_of_chi_square(freedom: int) -> None:
    made = by_moments([0.0], [1.0 * freedom], [2.0 * freedom], [8.0 * freedom])
    for noncentrality in np.linspace(0, 100, 60):
        c = np.array([noncentrality])
        assert has_power(made, c, 0.01) == has_power(measured([0.0], [freedom]), c, 0.01)


def test_power_falls_with_variance_and_skewness() -> None:
    """The statistic would have to be larger than 24 or so."""
    usual, wide, skewed = (
        by_moments([0.0], [10.0], [variance], [third])
        for variance, third in ((20.0, 80.0), (200.0, 80.0), (20.0, 300.0))
    )
    least = []
    for made in (usual, wide, skewed):
        reached = [c for c in range(200) if has_power(made, np.array([float(c)]), 0.001)[0]]
        least.append(reached[0])
    assert least[0] < least[1]
    assert least[0] < least[2]


@pytest.mark.parametrize(
    ("freedom", "logarithms"),
    [
        (1e3, (-0.000872410105, -3.684526069, -9.527344272, -28.98213122, -329.8199412)),
        (1e5, (-0.001298377229, -3.772650479, -10.26687664, -34.27063211, -590.3966841)),
        (8e6, (-0.001344898968, -3.781998726, -10.34955345, -34.92841799, -644.8307281)),
        (1e8, (-0.00134913684, -3.78284879, -10.35711481, -34.98933839, -650.3122106)),
        (1e10, (-0.001350642608, -3.783150772, -10.3598027, -35.01102544, -652.2833734)),
    ],
)
def test_p_values_with_very_much_freedom(freedom: float, logarithms: tuple[float, ...]) -> None:
    """Natural logarithms, by integration in forty digits."""
    statistics = freedom + np.array([-3.0, 2.0, 4.0, 8.0, 36.0]) * math.sqrt(2 * freedom)
    bits = log2_p_values(statistics, np.full(5, freedom))
    assert (bits * math.log(2)).tolist() == pytest.approx(logarithms, rel=1e-8)


@pytest.mark.parametrize("freedom", [1e3, 8e6, 1e8, 1e10])
def test_strengths_with_very_much_freedom_never_fall(freedom: float) -> None:
    z = np.concatenate([np.linspace(0, 60, 400), np.logspace(2, 3, 20)])
    statistics = freedom + z * math.sqrt(2 * freedom)
    bits = -log2_p_values(statistics, np.full(len(z), freedom))
    assert np.isfinite(bits).all()
    assert (np.diff(bits) > 0).all()


# ------------------------------------------------------------------------------------------- power


def test_the_excess_is_what_is_above_the_mean() -> None:
    batch = measured([10.0, 2.0, 7.0, 3.0], [4, 4, 0, NO_FREEDOM])
    assert excess(batch).tolist() == [6.0, 0.0, 0.0, 0.0]


def test_the_excess_estimates_the_noncentrality() -> None:
    rng = np.random.default_rng(0)
    drawn = rng.noncentral_chisquare(6, 25.0, 20_000).tolist()
    assert excess(measured(drawn, [6] * 20_000)).mean() == pytest.approx(25.0, rel=0.02)


@pytest.mark.parametrize("freedom", [1, 4, 30, 200])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_power_is_that_of_a_noncentral_chi_square(freedom: int, alpha: float) -> None:
    """The least noncentrality that is called detectable is so in about four cases of five."""
    grid = np.geomspace(1, 2000, 4000)
    n = len(grid)
    is_seen = has_power(measured([0.0] * n, [freedom] * n), grid, alpha)
    assert is_seen.tolist() == sorted(is_seen.tolist())
    least = float(grid[is_seen.argmax()])
    power = float(ncx2.sf(chi2.isf(alpha, freedom), freedom, least))
    assert 0.75 <= power <= 0.85


def test_without_freedom_there_is_no_power() -> None:
    batch = measured([100.0, 100.0], [0, NO_FREEDOM])
    assert has_power(batch, np.array([1e6, 1e6]), 0.05).tolist() == [False, False]
