"""Twins of the moments of Pearson's statistic and of G, over all orders of a stratum's rows."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tests.naive.counts import Tables, by_stratum


def margins(t: Tables) -> list[tuple[list[int], list[int]]]:
    """Numbers of rows of each level of x, and of y, for each stratum."""
    xs, ys = by_stratum(t.xz), by_stratum(t.yz)
    return [(list(xs[stratum].values()), list(ys[stratum].values())) for stratum in t.z]


def pearson_moments(t: Tables) -> tuple[Fraction, Fraction]:
    """Mean and variance of Pearson's statistic over all orders of the rows of each stratum."""
    mean = variance = Fraction(0)
    for xs, ys in margins(t):
        own_mean, own_variance = moments_of_stratum(xs, ys)
        mean += own_mean
        variance += own_variance
    return mean, variance


def moments_of_stratum(xs: Sequence[int], ys: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Mean and variance of a stratum with these numbers of rows of each level (Haldane 1940)."""
    n, r, s = sum(xs), len(xs), len(ys)
    if n == 1:
        return Fraction(0), Fraction(0)
    mean = Fraction((r - 1) * (s - 1) * n, n - 1)
    if n == 2:
        return mean, Fraction(0)
    v_x, v_y = (Fraction((n - levels) * (levels - 1), n - 1) for levels in (r, s))
    inverse_x, inverse_y = (
        sum((Fraction(1, count) for count in counts), Fraction(0)) for counts in (xs, ys)
    )
    w_x, w_y = (n * inverse_x - r**2) / (n - 2), (n * inverse_y - s**2) / (n - 2)
    variance = Fraction(n * n, n - 1) * w_x * w_y
    if n > 3:
        variance += Fraction(2 * n, n - 3) * (v_x - w_x) * (v_y - w_y)
    return mean, variance


def pearson_third(t: Tables) -> float:
    """Third cumulant of Pearson's statistic over all orders of the rows of each stratum."""
    return math.fsum(third_of_stratum(xs, ys) for xs, ys in margins(t))


def third_of_stratum(xs: Sequence[int], ys: Sequence[int]) -> float:
    """Third cumulant of a stratum: the sums of module ``contingency``, taken over all levels."""
    n = float(sum(xs))
    if n < 3 or len(xs) == 1 or len(ys) == 1:
        return 0.0
    (a, b, c, e, trace), others = sums_of_third_degree(xs), sums_of_third_degree(ys)
    third = n**7 / ((n - 1) * (n - 2) ** 4) * a * others[0]
    p = n**3 - 9 * n**2 + 26 * n - 22
    if n > 3:
        third += 6 * n**4 / ((n - 2) ** 2 * (n - 3)) * b * others[1]
        third += 4 * n**2 * (n - 1) * (n - 2) ** 2 / ((n - 3) * p) * e * others[3]
    if n > 4:
        third += 12 * n**4 / ((n - 1) * (n - 3) * (n - 4)) * c * others[2]
    if n > 5:
        f, f_other = (
            trace_ - (3 * n**2 - 15 * n + 16) / p * e_
            for trace_, e_ in ((trace, e), (others[4], others[3]))
        )
        third += (
            8 * n**2 * p / ((n - 1) * (n - 2) * (n - 3) * (n - 4) * (n - 5)) * f * f_other
        )  # fmt: skip
    return third


def sums_of_third_degree(counts: Sequence[int]) -> tuple[float, float, float, float, float]:
    """Sum d^3, d O d, d O^2, O^3 and O O O over rows that differ, level by level."""
    n_i = np.array(counts, dtype=np.float64)
    n, r = n_i.sum(), len(counts)
    d = 1 / n_i - r / n
    o = (d[:, None] + d) / (n - 2) - (n - r) / (n * (n - 1)) + np.diag(1 / n_i)
    pairs = n_i[:, None] * (n_i - np.eye(r))
    own = o.diagonal()  # of two rows of one level; a row with itself has none
    paths = (o * n_i) @ o - own[:, None] * o - o * own  # by a third row
    return (
        float((n_i * d**3).sum()),
        float((d[:, None] * o * d * pairs).sum()),
        float((d[:, None] * o**2 * pairs).sum()),
        float((o**3 * pairs).sum()),
        float((paths * o * pairs).sum()),
    )


def g_moments(t: Tables) -> tuple[float, float]:
    """Mean and variance of G over all orders of the rows of each stratum."""
    moments = [g_moments_of_stratum(tuple(sorted(xs)), tuple(sorted(ys))) for xs, ys in margins(t)]
    means, variances = zip(*moments, strict=True)
    return math.fsum(means), math.fsum(variances)


@functools.lru_cache(maxsize=100_000)
def g_moments_of_stratum(xs: tuple[int, ...], ys: tuple[int, ...]) -> tuple[float, float]:
    """Mean and variance of a stratum with these numbers of rows of each level.

    The covariance of every two cells, degree by degree; what is left of a cell's variance after
    degree 2 is taken to be uncorrelated with all else.
    """
    n = sum(xs)
    if len(xs) < 2 or len(ys) < 2:
        return 0.0, 0.0
    cells = [[g_of_cell(n, a, b) for b in ys] for a in xs]
    mean = math.fsum(mean for row in cells for mean, _, _ in row)
    rest = math.fsum(rest for row in cells for _, _, rest in row)
    variance = gross = rest
    for k in (1, 2):
        alpha = np.array([[alphas[k] for _, alphas, _ in row] for row in cells])
        rows, columns = (level_correlations(n, k, counts) for counts in (xs, ys))
        variance += float((alpha * (rows @ alpha @ columns)).sum())
        gross += float((alpha**2).sum())
    return 2 * mean, 4 * variance if variance > 1e-9 * gross else 0.0


def level_correlations(n: int, k: int, counts: Sequence[int]) -> npt.NDArray[np.float64]:
    """Of the parts of degree k of cells that differ in their row only, for every two rows."""
    ratios = [math.comb(m, k) / math.comb(n - m, k) if n - m >= k else 0.0 for m in counts]
    roots = np.sqrt(ratios)
    correlations = np.asarray((-1.0) ** k * roots[:, None] * roots)
    np.fill_diagonal(correlations, 1.0)
    return correlations


@functools.lru_cache(maxsize=200_000)
def g_of_cell(n: int, a: int, b: int) -> tuple[float, list[float], float]:
    """Mean, coefficients of degree 1 and 2, and what is left of the variance, of n ln(n/e) - n + e.

    By Taylor series if the variance of the count is above 8.
    """
    is_large = Fraction(a * b * (n - a) * (n - b), n * n * (n - 1)) > 8
    return g_by_series(n, a, b) if is_large else g_by_sum(n, a, b)


def g_by_sum(n: int, a: int, b: int) -> tuple[float, list[float], float]:
    """Over the hypergeometric distribution, as far as that is at least 1e-6 of the mode."""
    e = a * b / n
    counts = range(max(0, a + b - n), min(a, b) + 1)
    ways = {m: math.comb(b, m) * math.comb(n - b, a - m) for m in counts}
    most = max(ways.values())
    kept = {m: way / most for m, way in ways.items() if way * 10**6 >= most}
    total = math.fsum(kept.values())
    chances = {m: way / total for m, way in kept.items()}
    values = {m: (m * math.log(m / e) if m else 0.0) - m + e for m in chances}
    mean = math.fsum(p * values[m] for m, p in chances.items())
    left = math.fsum(p * (values[m] - mean) ** 2 for m, p in chances.items())
    alpha = [0.0, 0.0, 0.0]
    highest = min(a, b, n - a, n - b)
    for k in range(1, min(2, highest) + 1):
        by_polynomial = math.fsum(p * values[m] * hahn(k, m, n, a, b) for m, p in chances.items())
        alpha[k] = by_polynomial / math.sqrt(hahn_norm(k, n, a, b))
        left -= alpha[k] ** 2
    return mean, alpha, max(left, 0.0) if highest > 2 else 0.0


def hahn_norm(k: int, n: int, a: int, b: int) -> Fraction:
    """Mean of the square of the polynomial of degree k."""
    return math.prod(
        Fraction(
            (a - i + 1) * (b - i + 1) * (n - a - i + 1) * (n - b - i + 1) * i * (n + 2 - i),
            (n + 3 - 2 * i) * (n + 2 - 2 * i) ** 2 * (n + 1 - 2 * i),
        )
        for i in range(1, k + 1)
    )  # type: ignore[return-value]


def hahn(k: int, m: int, n: int, a: int, b: int) -> float:
    """Polynomial of degree 1 or 2 with leading coefficient 1, orthogonal to those below."""
    e = Fraction(a * b, n)
    if k == 1:
        return float(m - e)
    variance = e * Fraction((n - a) * (n - b), n * (n - 1))
    third = variance * Fraction((n - 2 * a) * (n - 2 * b), n * (n - 2))
    return float((m - e) ** 2 - third / variance * (m - e) - variance)


def g_by_series(n: int, a: int, b: int) -> tuple[float, list[float], float]:
    """The same by Taylor series, moments of the count exact to the fourth, then as of a normal."""
    e, variance, third, fourth = hypergeometric_moments(n, a, b)
    moments = {2: variance, 3: third, 4: fourth, 5: 10 * variance * third, 6: 15 * variance**3}
    mean = math.fsum((-1) ** k * m / (k * (k - 1) * e ** (k - 1)) for k, m in moments.items())
    alpha = [0.0]
    for k in (1, 2):
        mean_k, variance_k, third_k, _ = hypergeometric_moments(n - 2 * k, a - k, b - k)
        y = mean_k + k / 2
        # derivatives of n ln(n/e) at y, of order k and up: those of order j >= 2 are these
        f = [(-1) ** j * math.factorial(j - 2) / y ** (j - 1) if j > 1 else 0.0 for j in range(7)]
        start = math.log(y / e) if k == 1 else f[2]
        series = (k / 24 + variance_k / 2) * f[k + 2] + third_k / 6 * f[k + 3]
        difference = start + series + 3 * variance_k**2 / 24 * f[k + 4]
        alpha.append(math.sqrt(hahn_norm(k, n, a, b)) / k * difference)
    return mean, alpha, 0.0


def hypergeometric_moments(n: int, a: int, b: int) -> tuple[float, float, float, float]:
    """Mean and central moments, in closed form."""
    mean = Fraction(a * b, n)
    variance = mean * Fraction((n - a) * (n - b), n * (n - 1))
    third = variance * Fraction((n - 2 * a) * (n - 2 * b), n * (n - 2))
    u, v = a * (n - a), b * (n - b)
    excess = Fraction(
        (n - 1) * n**2 * (n * (n + 1) - 6 * u - 6 * v) + 6 * u * v * (5 * n - 6),
        u * v * (n - 2) * (n - 3),
    )
    return float(mean), float(variance), float(third), float(variance**2 * (3 + excess))
