"""Twins of the tests: count, measure and decide."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from scipy.stats import chi2 as chi2_distribution
from scipy.stats import gamma as gamma_distribution
from scipy.stats import pearson3 as type_three_distribution

from tests.naive.counts import Columns, Tables, count
from tests.naive.moments import g_moments, pearson_moments, pearson_third
from tests.naive.permutation import permute
from tests.naive.statistics import cressie_read, degrees_of_freedom, g, pearson, sci


@dataclass(frozen=True)
class Answer:
    """What one test says."""

    statistic: float
    df: float | None
    p_value: float | None
    test: str  # which one decided
    independent: bool
    reliable: bool


def run_test(
    columns: Columns,
    y: int,
    x: int,
    given: Collection[int],
    test: str,
    alpha: float,
    df: str,
    seed: int = 0,
) -> Answer:
    """Count, measure and decide, for each test that there is a twin of."""
    if test == "perm":
        found = permute(columns, y, x, given, seed)
        statistic = g(count(columns, y, x, given))
        is_independent = found.p_value > alpha
        return Answer(statistic, None, found.p_value, "perm", is_independent, found.varies)
    t = count(columns, y, x, given)
    cells = t.x_levels * t.y_levels * len(t.z)
    is_thin = t.n_rows < 5 * cells or t.n_rows == 0
    if test == "auto":
        return run_automatic_test(t, alpha)
    if test == "g-sci":
        test = "sci" if is_thin else "g"
    if test == "sci":
        statistic = sci(t)
        return Answer(statistic, None, None, "sci", statistic <= 0, reliable=t.n_rows >= cells > 0)
    own = {"g": g, "chi2": pearson, "cressie-read": cressie_read}
    statistic = own[test](t)  # a KeyError: this test has no twin yet
    freedom = degrees_of_freedom(t, df)
    p = 1.0 if freedom == 0 else float(chi2_distribution.sf(statistic, freedom))
    return Answer(statistic, freedom, p, test, p > alpha, reliable=not is_thin)


def type_three_p_value(statistic: float, mean: float, variance: float, skewness: float) -> float:
    """Of Pearson's type III; where it is very skewed not below that of a gamma distribution."""
    z, skewness = (statistic - mean) / math.sqrt(variance), max(skewness, 1e-3)
    p = float(type_three_distribution.sf(z, skewness))
    if skewness > math.sqrt(8):
        p = max(
            p, float(gamma_distribution.sf(statistic, mean**2 / variance, scale=variance / mean))
        )
    return p


def run_automatic_test(t: Tables, alpha: float) -> Answer:
    """Pearson's statistic and G, each against a shifted gamma distribution of its cumulants.

    G decides if the p-value of X2 is at most 0.1. No p-value is below that of G with one degree of
    freedom.
    """
    statistic = pearson(t)
    mean, variance = map(float, pearson_moments(t))
    if variance == 0:
        return Answer(statistic, 0, 1.0, "x2", independent=True, reliable=False)
    skewness = pearson_third(t) / variance**1.5
    p, decider = type_three_p_value(statistic, mean, variance, skewness), "x2"
    if p <= 0.1:
        g_mean, g_variance = g_moments(t)
        if g_variance > 0:
            own = math.sqrt(2 * math.sqrt(g_variance) / g_mean * max(skewness, 0.0))
            p = type_three_p_value(g(t), g_mean, g_variance, own)
            statistic, mean, decider = g(t), g_mean, "g"
    p = max(p, float(chi2_distribution.sf(g(t), 1)))
    return Answer(statistic, mean, p, decider, p > alpha, reliable=True)


def log2_p_value(statistic: float, freedom: int) -> float:
    """Logarithm of the chance of a larger chi-square, a sum of positive terms.

    With x = statistic / 2 the chance is, for an even freedom of 2a, the sum of e^-x x^i / i! over
    i < a; for an odd one of 2a + 1 it is erfc(sqrt(x)) and the sum of e^-x x^(i - 1/2) / (i - 1/2)!
    over 1 <= i <= a.
    """
    x = statistic / 2
    if x == 0:
        return 0.0
    half = freedom % 2 / 2
    logarithms = [
        i * math.log(x) - x - math.lgamma(i + 1)
        for i in (k - half for k in range(freedom % 2, (freedom + 1) // 2))
    ]
    if half:
        logarithms.append(log_erfc_of_root(x))
    largest = max(logarithms)
    total = math.fsum(math.exp(logarithm - largest) for logarithm in logarithms)
    return (largest + math.log(total)) / math.log(2)


def log_erfc_of_root(x: float) -> float:
    """ln erfc(sqrt(x)), by the asymptotic series where erfc itself is too small to be a number."""
    if x < 600:
        return math.log(math.erfc(math.sqrt(x)))
    series = 1 - 1 / (2 * x) + 3 / (4 * x**2) - 15 / (8 * x**3) + 105 / (16 * x**4)
    return -x - math.log(math.pi * x) / 2 + math.log(series)
