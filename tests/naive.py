"""Slow, obvious twins of everything fast: dictionaries, loops and the formulas as printed.

Nothing here imports komb. A table is a list of columns, a column a list of level numbers; a
variable is the number of its column. ``y`` is the target, ``x`` a candidate, ``given`` (or ``z``)
the condition, ``s`` the blanket, ``k`` the order and ``most`` the bound on separators. Every
search has a twin of the same name, with an underscore for a hyphen.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2 as chi2_distribution
from scipy.stats import gamma as gamma_distribution
from scipy.stats import pearson3 as type_three_distribution

MISSING = -1  # stands for a value that is not there

Columns = Sequence[Sequence[int]]
Counts = Counter[tuple[int, ...]]
Set = frozenset[int]

# ---------------------------------------------------------------------------------------- counts


def joint_counts(columns: Columns, variables: Sequence[int]) -> Counts:
    """How often each combination of levels of ``variables`` occurs."""
    n_rows = len(columns[0])
    return Counter(tuple(columns[v][row] for v in variables) for row in range(n_rows))


def complete(columns: Columns, variables: Collection[int]) -> Columns:
    """The rows in which no value of ``variables`` is missing."""
    n_rows = len(columns[0])
    rows = [row for row in range(n_rows) if all(columns[v][row] != MISSING for v in variables)]
    return [[column[row] for row in rows] for column in columns]


def count_levels(column: Sequence[int]) -> int:
    return len(set(column) - {MISSING})


@dataclass(frozen=True)
class Tables:
    """Counts of x, y and the strata of given."""

    xyz: Counts  # keys (x, y, *z)
    xz: Counts
    yz: Counts
    z: Counts
    n_rows: int
    x_levels: int
    y_levels: int


def count(columns: Columns, y: int, x: int, given: Collection[int]) -> Tables:
    z = sorted(given)
    used = complete(columns, [x, y, *z])
    return Tables(
        joint_counts(used, [x, y, *z]),
        joint_counts(used, [x, *z]),
        joint_counts(used, [y, *z]),
        joint_counts(used, z),
        len(used[0]),
        count_levels(columns[x]),
        count_levels(columns[y]),
    )


# --------------------------------------------------------------------------- sums over one set


def fit(columns: Columns, y: int, members: Sequence[int]) -> float:
    """Sum of n_ay log2(n_ay / n_a): how well the set ``a`` of members predicts y, in bits."""
    n_a = joint_counts(columns, members)
    n_ya = joint_counts(columns, [y, *members])
    return math.fsum(n * math.log2(n / n_a[key[1:]]) for key, n in n_ya.items())


def strata(columns: Columns, members: Sequence[int]) -> int:
    """How many combinations of levels of the members occur."""
    return len(joint_counts(columns, members))


def length(columns: Columns, members: Sequence[int], levels: int) -> float:
    """Sum of log2 C(levels, n_a) over the combinations of levels of the members."""
    n_a = joint_counts(columns, members)
    return math.fsum(log2_normaliser(levels, n) for n in n_a.values())


# ------------------------------------------------------------------------------------ statistics


def g(t: Tables) -> float:
    """2 sum n_xyz ln(n_xyz n_z / (n_xz n_yz))."""
    terms = [
        2 * n * math.log(n * t.z[key[2:]] / (t.xz[(key[0], *key[2:])] * t.yz[key[1:]]))
        for key, n in t.xyz.items()
    ]
    return max(0.0, math.fsum(terms))


def pearson(t: Tables) -> float:
    """Sum of (n_xyz - expected)^2 / expected over the levels seen in each stratum."""
    total = Fraction(0)
    for stratum, n_z in t.z.items():
        xs = {key[0]: n for key, n in t.xz.items() if key[1:] == stratum}
        ys = {key[0]: n for key, n in t.yz.items() if key[1:] == stratum}
        for x, n_x in xs.items():
            for y, n_y in ys.items():
                # (n - e)^2 / e with e = n_x n_y / n_z, over the common denominator
                n = t.xyz[(x, y, *stratum)]
                total += Fraction((n * n_z - n_x * n_y) ** 2, n_x * n_y * n_z)
    return float(total)


def pearson_moments(t: Tables) -> tuple[Fraction, Fraction]:
    """Mean and variance of Pearson's statistic over all orders of the rows of each stratum."""
    mean = variance = Fraction(0)
    for stratum in t.z:
        xs = [n for key, n in t.xz.items() if key[1:] == stratum]
        ys = [n for key, n in t.yz.items() if key[1:] == stratum]
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
    margins = (
        [[n for key, n in side.items() if key[1:] == stratum] for side in (t.xz, t.yz)]
        for stratum in t.z
    )
    return math.fsum(third_of_stratum(xs, ys) for xs, ys in margins)


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
    by_stratum = [
        g_moments_of_stratum(
            tuple(sorted(n for key, n in t.xz.items() if key[1:] == stratum)),
            tuple(sorted(n for key, n in t.yz.items() if key[1:] == stratum)),
        )
        for stratum in t.z
    ]
    means, variances = zip(*by_stratum, strict=True)
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


def degrees_of_freedom(t: Tables, rule: str) -> int:
    if rule == "observed":
        return (t.x_levels - 1) * (t.y_levels - 1) * len(t.z)
    xs = Counter(key[1:] for key in t.xz)  # levels of x seen in each stratum
    ys = Counter(key[1:] for key in t.yz)
    return sum(max(0, xs[stratum] - 1) * max(0, ys[stratum] - 1) for stratum in t.z)


@cache
def normaliser_of_two(n: int) -> Fraction:
    """C(2, n) = sum_j n! / (n - j)! / n^j."""
    return Fraction(sum(math.perm(n, j) * n ** (n - j) for j in range(n + 1)), n**n)


@cache
def normaliser(levels: int, n: int) -> Fraction:
    """C(levels, n) by the recurrence, in exact arithmetic."""
    if n == 0 or levels == 1:
        return Fraction(1)
    before, now = Fraction(1), normaliser_of_two(n)
    for r in range(1, levels - 1):
        before, now = now, now + Fraction(n, r) * before
    return now


@cache
def log2_normaliser(levels: int, n: int) -> float:
    exact = normaliser(levels, n)
    return math.log2(exact.numerator) - math.log2(exact.denominator)


def complexity(counts: Counts, levels: int) -> list[float]:
    """S(X|Z) = sum_z [n_z H(X|z) + log2 C(|X|, n_z)], term by term; keys are (x, *z)."""
    n_z: Counts = Counter()
    for key, n in counts.items():
        n_z[key[1:]] += n
    entropy = [-n * math.log2(n / n_z[key[1:]]) for key, n in counts.items()]
    return entropy + [log2_normaliser(levels, n) for n in n_z.values()]


def sci(t: Tables) -> float:
    """max(S(X|Z) - S(X|Y,Z), S(Y|Z) - S(Y|X,Z)); less than 1e-9 bits count as rounding."""
    y_given_xz = Counter({(y, x, *z): n for (x, y, *z), n in t.xyz.items()})

    def saved(before: list[float], after: list[float]) -> float:
        return math.fsum(before + [-term for term in after])

    best = max(
        saved(complexity(t.xz, t.x_levels), complexity(t.xyz, t.x_levels)),
        saved(complexity(t.yz, t.y_levels), complexity(y_given_xz, t.y_levels)),
    )
    return 0.0 if abs(best) < 1e-9 else best


# ----------------------------------------------------------------------------- permutation test

WORD = 2**64


class SplitMix64:
    """Steele, Lea & Flood (2014): a counter, and a function that mixes it."""

    STEP = 0x9E3779B97F4A7C15

    def __init__(self, state: int) -> None:
        self.state = state

    @staticmethod
    def mix(z: int) -> int:
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
        return z ^ (z >> 31)

    def word(self) -> int:
        self.state = (self.state + self.STEP) % WORD
        return self.mix(self.state)

    def below(self, bound: int) -> int:
        """The upper half of a word times the bound, over 2^32, without the bias that has."""
        while True:
            product = (self.word() >> 32) * bound
            if product % 2**32 >= 2**32 % bound:
                return product >> 32

    def coins(self, n: int, chance: int) -> int:
        """How many of n coins fall, each with a chance of so many 64ths; 64 coins are a word."""
        if chance == 0:
            return 0
        fell = 0
        binary = f"{chance:06b}".rstrip("0")
        for first in range(0, n, 64):
            coins = self.word()  # for the last digit that is one
            for digit in reversed(binary[:-1]):
                coins = coins | self.word() if digit == "1" else coins & self.word()
            fell += (coins % 2 ** min(64, n - first)).bit_count()
        return fell


def column_hash(column: Sequence[int]) -> int:
    mix, step = SplitMix64.mix, SplitMix64.STEP
    return sum(mix((step * (row + 1)) % WORD ^ code) for row, code in enumerate(column)) % WORD


def random_stream(
    columns: Columns, y: int, x: int, given: Collection[int], seed: int
) -> SplitMix64:
    """Where the random numbers of a test start: symmetric in x and y, and in the given set."""
    mix, step = SplitMix64.mix, SplitMix64.STEP
    pair = (mix(column_hash(columns[x])) + mix(column_hash(columns[y]))) % WORD
    condition = sum(mix(column_hash(columns[z]) ^ step) for z in given) % WORD
    return SplitMix64(mix(mix((seed + step) % WORD) ^ mix(pair) ^ condition))


@dataclass(frozen=True)
class StratumMargins:
    """What is shuffled in one stratum: values, over groups of these sizes, the largest last."""

    values: list[int]
    sizes: list[int]
    groups: list[list[int]]  # the values as they are in the data


def in_order(items: Iterable[int]) -> list[int]:
    """Each item once, by first occurrence."""
    return list(dict.fromkeys(items))


def stratum_margins(
    pairs: list[tuple[int, int]], x_hash: int, y_hash: int
) -> StratumMargins | None:
    """The variable whose largest level is larger makes the groups; None if nothing can vary."""
    xs, ys = Counter(x for x, _ in pairs), Counter(y for _, y in pairs)
    if len(xs) < 2 or len(ys) < 2:
        return None
    most_x, most_y = max(xs.values()), max(ys.values())
    if most_x > most_y or (most_x == most_y and x_hash < y_hash):
        pairs = [(y, x) for x, y in pairs]
    levels = in_order(value for value, _ in pairs)
    names = in_order(group for _, group in pairs)
    groups = [[levels.index(value) for value, name in pairs if name == group] for group in names]
    largest = max(range(len(groups)), key=lambda g: (len(groups[g]), -g))
    groups[largest], groups[-1] = groups[-1], groups[largest]
    return StratumMargins(
        [value for group in groups for value in group], [len(group) for group in groups], groups
    )


def shuffle_by_rows(margins: StratumMargins, rng: SplitMix64) -> list[Counter[int]]:
    """Fisher and Yates: draw the groups one after the other; the last gets what is left.

    The values stay in the order that the shuffle leaves them in, for the next one.
    """
    values, left, drawn = margins.values, len(margins.values), []
    for size in margins.sizes[:-1]:
        for _ in range(size):
            here = rng.below(left)
            left -= 1
            values[here], values[left] = values[left], values[here]
        drawn.append(Counter(values[left : left + size]))
    return [*drawn, Counter(values[:left])]


def shuffle_by_coins(margins: StratumMargins, rng: SplitMix64) -> list[Counter[int]]:
    """Give values to each group by coins, then mend its size by single draws."""
    levels = range(max(margins.values) + 1)
    rest = Counter(margins.values)
    drawn = []
    for size in margins.sizes[:-1]:
        left = rest.total()
        chance = math.floor(Fraction(64 * size, left) + Fraction(1, 2))
        chosen = Counter({level: rng.coins(rest[level], chance) for level in levels})
        while chosen.total() > size:
            chosen[draw_from([chosen[level] for level in levels], rng)] -= 1
        while chosen.total() < size:
            chosen[draw_from([rest[level] - chosen[level] for level in levels], rng)] += 1
        drawn.append(chosen)
        rest = rest - chosen
    return [*drawn, rest]


def draw_from(urn: list[int], rng: SplitMix64) -> int:
    ball = rng.below(sum(urn))
    return [level for level, count in enumerate(urn) for _ in range(count)][ball]


def bits_of_dependence(groups: Sequence[Counter[int]]) -> float:
    """Sum of n log2(n n_all / (n_value n_group)): half of G in one stratum, in bits."""
    values = sum(groups, Counter[int]())
    return math.fsum(
        n * math.log2(n * values.total() / (values[value] * group.total()))
        for group in groups
        for value, n in group.items()
        if n
    )


@dataclass(frozen=True)
class Permuted:
    """What a permutation test finds."""

    p_value: float
    varies: bool
    statistics: list[float]  # of the shuffles: half of G, in bits


def permute(
    columns: Columns,
    y: int,
    x: int,
    given: Collection[int],
    seed: int,
    most: int = 999,
    levels: Sequence[int] | None = None,
    enough: int = 10,
) -> Permuted:
    """Shuffle within strata, at most so often or until enough shuffles are as large as the data.

    A code that is not below its column's number of levels is missing.
    """
    tested = [x, y, *given]
    strata: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for row in range(len(columns[0])):
        is_missing = {v: levels is not None and columns[v][row] >= levels[v] for v in tested}
        if any(is_missing[v] for v in given):
            continue
        stratum = strata.setdefault(tuple(columns[v][row] for v in sorted(given)), [])
        if not is_missing[x] and not is_missing[y]:
            stratum.append((columns[x][row], columns[y][row]))
    hashes = column_hash(columns[x]), column_hash(columns[y])
    found = [stratum_margins(pairs, *hashes) for pairs in strata.values()]
    varying = [margins for margins in found if margins is not None]
    if not varying:
        return Permuted(1.0, varies=False, statistics=[])
    data = math.fsum(bits_of_dependence(list(map(Counter, m.groups))) for m in varying)
    rng = random_stream(columns, y, x, given, seed)
    statistics: list[float] = []
    exceedances = 0
    while len(statistics) < most:
        strengths = []
        for margins in varying:
            cells = len(set(margins.values)) * len(margins.sizes)
            is_thick = len(margins.values) > 6 * cells
            shuffle = shuffle_by_coins if is_thick else shuffle_by_rows
            strengths.append(bits_of_dependence(shuffle(margins, rng)))
        statistics.append(math.fsum(strengths))
        exceedances += statistics[-1] > data - 1e-9
        if exceedances == enough:
            return Permuted(enough / len(statistics), True, statistics)
    return Permuted((1 + exceedances) / (1 + most), True, statistics)


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
    statistic = {"g": g, "chi2": pearson}[test](t)  # a KeyError: this test has no twin yet
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


# -------------------------------------------------------------------------------------- sessions


class Session(Protocol):
    """Answers one question at a time."""

    def independent(self, y: int, x: int, given: Set) -> bool: ...


class WeighingSession(Session, Protocol):
    """Says also how clearly x depends on y: bits of evidence, 0 if it does not."""

    def strength(self, y: int, x: int, given: Set) -> float: ...


class DoubtingSession(WeighingSession, Protocol):
    """Says also which tests see little."""

    def can_detect(self, y: int, x: int, given: Set, witness: Set, share: float) -> bool: ...

    def confirmed(self, y: int, x: int, given: Set) -> float: ...

    def is_large(self, y: int, x: int, given: Set) -> bool: ...


@dataclass
class DataSession:
    """Answers from a table and remembers which questions were asked."""

    columns: Columns
    test: str = "g-sci"
    alpha: float = 0.01
    df: str = "observed"
    memory: dict[tuple[int, int, Set], Answer] = field(default_factory=dict)

    def answer(self, y: int, x: int, given: Set) -> Answer:
        key = (y, x, given)
        if key not in self.memory:
            self.memory[key] = run_test(self.columns, y, x, given, self.test, self.alpha, self.df)
        return self.memory[key]

    def independent(self, y: int, x: int, given: Set) -> bool:
        return self.answer(y, x, given).independent

    def strength(self, y: int, x: int, given: Set) -> float:
        answer = self.answer(y, x, given)
        if answer.independent:
            return 0.0
        if answer.df is None:
            return answer.statistic  # bits saved
        if isinstance(answer.df, int):
            return -log2_p_value(answer.statistic, answer.df)
        return math.inf if answer.p_value is None else -math.log2(answer.p_value)


@dataclass
class ExactSession:
    """Answers from an exact distribution: the probability of each combination of levels."""

    joint: Mapping[tuple[int, ...], Fraction]

    @staticmethod
    def of_sample(columns: Columns) -> ExactSession:
        """The empirical distribution of a table."""
        n_rows = len(columns[0])
        counts = joint_counts(columns, range(len(columns)))
        return ExactSession({row: Fraction(n, n_rows) for row, n in counts.items()})

    def marginal(self, variables: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
        sums: dict[tuple[int, ...], Fraction] = {}
        for row, probability in self.joint.items():
            key = tuple(row[v] for v in variables)
            sums[key] = sums.get(key, Fraction(0)) + probability
        return sums

    def independent(self, y: int, x: int, given: Set) -> bool:
        z = sorted(given)
        p_xyz, p_z = self.marginal([x, y, *z]), self.marginal(z)
        p_xz, p_yz = self.marginal([x, *z]), self.marginal([y, *z])
        return all(
            p_xyz.get((x_key[0], *y_key), Fraction(0)) * p_z[y_key[1:]] == p_x * p_y
            for x_key, p_x in p_xz.items()
            for y_key, p_y in p_yz.items()
            if x_key[1:] == y_key[1:]
        )

    def strength(self, y: int, x: int, given: Set) -> float:
        return 0.0 if self.independent(y, x, given) else 1.0


# -------------------------------------------------------------------------------------- cut points


def entropy(classes: Sequence[int]) -> float:
    counts = Counter(classes).values()
    return -math.fsum(n / len(classes) * math.log2(n / len(classes)) for n in counts)


def mdl_cuts(values: Sequence[float], classes: Sequence[int]) -> list[float]:
    """Fayyad & Irani (1993): split where classes are purest, while that pays; then the halves."""
    rows = sorted(zip(values, classes, strict=True))
    whole = [label for _, label in rows]
    n, best = len(rows), None
    for i in range(1, n):
        if rows[i - 1][0] == rows[i][0]:
            continue
        lower, upper = whole[:i], whole[i:]
        mean = (len(lower) * entropy(lower) + len(upper) * entropy(upper)) / n
        if best is None or mean < best[0] - 1e-9:  # of equals, the lowest
            best = mean, i
    if best is None:
        return []
    mean, i = best
    lower, upper = whole[:i], whole[i:]
    k, e = len(set(whole)), entropy(whole)
    halves = len(set(lower)) * entropy(lower) + len(set(upper)) * entropy(upper)
    delta = math.log2(3**k - 2) - (k * e - halves)
    if e - mean <= (math.log2(n - 1) + delta) / n:
        return []
    cut = (rows[i - 1][0] + rows[i][0]) / 2
    below, above = rows[:i], rows[i:]
    return [
        *mdl_cuts([value for value, _ in below], lower),
        cut,
        *mdl_cuts([value for value, _ in above], upper),
    ]


def bin_of(value: float, cuts: Sequence[float]) -> int:
    """Number of the bin that a value is in; one on a cut point is in the bin above."""
    return sum(value >= cut for cut in cuts)


# ------------------------------------------------------------------------------------------ kOMB


def subsets(items: Set, most: int) -> Iterator[Set]:
    """By size, then lexicographically."""
    for size in range(most + 1):
        for chosen in combinations(sorted(items), size):
            yield frozenset(chosen)


def no_seps(session: Session, y: int, x: int, z: Set, s: Set, most: int) -> bool:
    """Algorithm 3: no small part of the blanket makes y and x independent."""
    return not any(
        session.independent(y, x, z | separator) for separator in subsets(s - z - {x}, most)
    )


def find_cond(session: Session, y: int, x: int, g: Set, s: Set, k: int, most: int) -> Set | None:
    """Algorithm 3: the first witness of x; None is bottom."""
    for a in subsets(s, k - len(g)):
        z = g | a
        if not session.independent(y, x, z) and no_seps(session, y, x, z, s, most):
            return z
    return None


def make_strict(session: Session, y: int, x: int, z: Set, s: Set, most: int) -> Set:
    """Algorithm 2: x with those of its witness that depend in turn."""
    for w in sorted(z):
        if not no_seps(session, y, w, (z - {w}) | {x}, s, most):
            z = z - {w}
    return z | {x}


def find_inter_dep(
    session: Session, variables: Set, y: int, g: Set, s: Set, rest: Set, k: int, most: int
) -> Set:
    """Algorithm 2: a group of variables that depends on y; empty when there is none."""
    if len(g) > k:
        return frozenset()
    for x in sorted(variables - {y} - s - g):
        z = find_cond(session, y, x, g, s, k, most)
        if z is not None:
            return make_strict(session, y, x, z, s, most)
    for x in sorted(rest - {y} - s - g):
        rest = rest - {x}
        found = find_inter_dep(session, variables, y, g | {x}, s, rest, k, most)
        if found:
            return found
    return frozenset()


def komb(
    session: Session,
    variables: Iterable[int],
    y: int,
    k: int,
    most: int,
    start: Set = frozenset(),
    include: Set = frozenset(),
) -> dict[int, Set | None]:
    """Algorithm 1: the blanket, each member with its witness.

    ``variables`` may be conditioned on and found; members by ``include`` stay without a witness.
    """
    everything = frozenset(variables)
    s = start | include
    while found := find_inter_dep(
        session, everything, y, frozenset(), s, everything - {y} - s, k, most
    ):
        s = s | found
    while True:
        witnesses = {x: find_cond(session, y, x, frozenset(), s - {x}, k, most) for x in sorted(s)}
        lonely = [x for x, z in witnesses.items() if z is None and x not in include]
        if not lonely:
            return witnesses
        s = s - {lonely[0]}


# ------------------------------------------------------------- classic searches: growing, shrinking

Witnesses = dict[int, Set | None]
Strong = tuple[float, int, Set]  # bits, variable, given


def shrink(session: Session, y: int, b: Set, include: Set) -> Set:
    """Pass over the blanket, dropping at once what the rest makes independent, until all stay."""
    while True:
        before = b
        for x in sorted(before - include):
            if session.independent(y, x, b - {x}):
                b = b - {x}
        if b == before:
            return b


def kept_by_the_others(session: Session, y: int, b: Set) -> Witnesses:
    """Each member with all others; None for one that they make independent (by request only)."""
    return {x: None if session.independent(y, x, b - {x}) else b - {x} for x in sorted(b)}


def first_strongest(strengths: Mapping[int, float]) -> int:
    return min(strengths, key=lambda x: (-strengths[x], x))


def gs(
    session: Session,
    variables: Iterable[int],
    y: int,
    most: int | None = None,
    start: Set = frozenset(),
    include: Set = frozenset(),
) -> Witnesses:
    """Add whatever depends given the set so far; ``most`` is the largest set to condition on."""
    v = frozenset(variables) - {y}
    b = start | include
    has_grown = True
    while has_grown:
        has_grown = False
        for x in sorted(v - b):
            if most is not None and len(b) > most:
                break
            if not session.independent(y, x, b):
                b = b | {x}
                has_grown = True
    return kept_by_the_others(session, y, shrink(session, y, b, include))


def iamb(
    session: WeighingSession,
    variables: Iterable[int],
    y: int,
    most: int | None = None,
    start: Set = frozenset(),
    include: Set = frozenset(),
) -> Witnesses:
    """Add what depends most clearly given the set so far."""
    v = frozenset(variables) - {y}
    b = start | include
    while most is None or len(b) <= most:
        dependent = {
            x: session.strength(y, x, b) for x in v - b if not session.independent(y, x, b)
        }
        if not dependent:
            break
        b = b | {first_strongest(dependent)}
    return kept_by_the_others(session, y, shrink(session, y, b, include))


def lrh(
    session: WeighingSession,
    variables: Iterable[int],
    y: int,
    most: int,
    start: Set = frozenset(),
    include: Set = frozenset(),
) -> Witnesses:
    """Add the strongest of those that no few others make redundant."""
    v = frozenset(variables) - {y}
    b = start | include
    while m1 := frozenset(x for x in v - b if not session.independent(y, x, b)):
        m2 = {x for x in m1 if separable(session, y, x, m1, most, b, least=1) is None}
        b = b | {first_strongest({x: session.strength(y, x, b) for x in m2 or m1})}
    return kept_by_the_others(session, y, shrink(session, y, b, include))


# --------------------------------------------------------- classic searches: neighbours and spouses


@dataclass(frozen=True)
class Near:
    """Likely neighbours, and for every other variable a set that separates it."""

    members: Set
    separators: dict[int, Set]


def separable(
    session: Session,
    y: int,
    x: int,
    pool: Set,
    most: int,
    core: Set = frozenset(),
    least: int = 0,
) -> Set | None:
    """The first set of ``core`` and ``least`` to ``most`` others out of the pool that separates."""
    for z in subsets(pool - core - {x}, most):
        if len(z) >= least and session.independent(y, x, core | z):
            return core | z
    return None


def prune(
    session: Session,
    y: int,
    members: Set,
    pool: Set,
    most: int,
    core: Set = frozenset(),
    least: int = 0,
) -> dict[int, Set]:
    """Drop the members that can be separated; what is dropped leaves the pool at once."""
    dropped: dict[int, Set] = {}
    for x in sorted(members):
        separator = separable(session, y, x, pool.difference(dropped), most, core, least)
        if separator is not None:
            dropped[x] = separator
    return dropped


def with_spouses(
    session: Session, y: int, own: Near, near_of: Callable[[int], Near], include: Set
) -> Witnesses:
    """Neighbours, and neighbours of neighbours that depend once the child is given as well."""
    found: Witnesses = {}
    for x in own.members:
        is_alone = x in include and session.independent(y, x, frozenset())
        found[x] = None if is_alone else frozenset()
    for child in sorted(own.members):
        for x in sorted(near_of(child).members - own.members - {y}):
            z = own.separators[x] | {child}
            if x not in found and not session.independent(y, x, z):
                found[x] = z
    return found


def hiton_pc(session: WeighingSession, v: Set, y: int, most: int, first: Set, fixed: Set) -> Near:
    """By decreasing strength: enters unless separated, then the members are looked at again."""
    strengths = {x: session.strength(y, x, frozenset()) for x in v}
    separators: dict[int, Set] = {x: frozenset() for x in v - fixed if strengths[x] == 0}
    members = fixed
    for x in sorted(
        (v - fixed).difference(separators), key=lambda x: (x not in first, -strengths[x], x)
    ):
        separator = separable(session, y, x, members, most, least=1)
        if separator is not None:
            separators[x] = separator
            continue
        dropped = prune(session, y, members - fixed, members, most - 1, frozenset({x}))
        separators |= dropped
        members = members.difference(dropped) | {x}
    return Near(members, separators)


def hiton_mb(
    session: WeighingSession,
    variables: Iterable[int],
    y: int,
    most: int,
    start: Set = frozenset(),
    include: Set = frozenset(),
) -> Witnesses:
    everything = frozenset(variables) | {y}
    own = hiton_pc(session, everything - {y}, y, most, start, include)
    return with_spouses(
        session,
        y,
        own,
        lambda x: hiton_pc(session, everything - {x}, x, most, frozenset(), frozenset()),
        include,
    )


def weakest(
    session: WeighingSession, y: int, x: int, pool: Set, most: int, core: Set = frozenset()
) -> float:
    """Least strength over the sets that :func:`separable` tries; infinite if there is none."""
    sets = subsets(pool - core - {x}, most)
    return min((session.strength(y, x, core | z) for z in sets), default=math.inf)


def mmpc(session: WeighingSession, v: Set, y: int, most: int, first: Set, fixed: Set) -> Near:
    """The candidate whose least strength is largest enters; what a set separates is out."""
    dependent = frozenset(x for x in v if session.strength(y, x, frozenset()) > 0)
    separators: dict[int, Set] = {x: frozenset() for x in v - fixed - dependent}
    members = fixed | (first & dependent)
    waiting: dict[int, float] = {}

    def look(x: int, before: float, bound: int, core: Set) -> None:
        separator = separable(session, y, x, members, bound, core)
        if separator is None:
            waiting[x] = min(before, weakest(session, y, x, members, bound, core))
        else:
            separators[x] = separator
            waiting.pop(x, None)

    for x in sorted(dependent - members):
        look(x, math.inf, most, frozenset())
    while waiting:
        newcomer = first_strongest(waiting)
        del waiting[newcomer]
        for x in sorted(waiting):
            look(x, waiting[x], most - 1, frozenset({newcomer}))
        members = members | {newcomer}
    dropped = prune(session, y, members - fixed, members, most)
    return Near(members.difference(dropped), separators | dropped)


def mmmb(
    session: WeighingSession,
    variables: Iterable[int],
    y: int,
    most: int,
    start: Set = frozenset(),
    include: Set = frozenset(),
) -> Witnesses:
    everything = frozenset(variables) | {y}
    own = mmpc(session, everything - {y}, y, most, start, include)
    return with_spouses(
        session,
        y,
        own,
        lambda x: mmpc(session, everything - {x}, x, most, frozenset(), frozenset()),
        include,
    )


def get_pcd(session: WeighingSession, v: Set, y: int, most: int, first: Set, fixed: Set) -> Near:
    """As MMPC, but members are looked at again with every newcomer, before the candidates are."""
    dependent = frozenset(x for x in v if session.strength(y, x, frozenset()) > 0)
    separators: dict[int, Set] = {x: frozenset() for x in v - fixed - dependent}
    members = fixed | (first & dependent)
    waiting = dependent - members
    dropped = prune(session, y, members - fixed, members, most)
    while True:
        separators |= dropped
        members = members.difference(dropped)
        for x in sorted(waiting):
            separator = separable(session, y, x, members, most)
            if separator is not None:
                separators[x] = separator
                waiting = waiting - {x}
        if not waiting:
            return Near(members, separators)
        newcomer = first_strongest({x: weakest(session, y, x, members, most) for x in waiting})
        waiting = waiting - {newcomer}
        members = members | {newcomer}
        dropped = prune(
            session, y, members - fixed - {newcomer}, members, most - 1, frozenset({newcomer})
        )


def pcmb(
    session: WeighingSession,
    variables: Iterable[int],
    y: int,
    most: int,
    start: Set = frozenset(),
    include: Set = frozenset(),
) -> Witnesses:
    everything = frozenset(variables) | {y}
    known: dict[int, Near] = {}

    def pcd(x: int) -> Near:
        if x not in known:
            first, fixed = (start, include) if x == y else (frozenset(), frozenset())
            known[x] = get_pcd(session, everything - {x}, x, most, first, fixed)
        return known[x]

    def pc(x: int) -> Near:
        """Neighbours by the word of both sides."""
        fixed = include if x == y else frozenset()
        denied = [z for z in pcd(x).members - fixed if x not in pcd(z).members]
        separators = {z: pcd(z).separators[x] for z in denied}
        return Near(pcd(x).members.difference(separators), pcd(x).separators | separators)

    return with_spouses(session, y, pc(y), pc, include)


def stmb(
    session: Session,
    variables: Iterable[int],
    y: int,
    most: int,
    start: Set = frozenset(),
    include: Set = frozenset(),
) -> Witnesses:
    """Everybody is a neighbour until separated; a spouse that separates its child unmasks it."""
    del start  # it starts from all
    members = frozenset(variables) - {y}
    separators: dict[int, Set] = {}
    for size in range(most + 1):
        dropped = prune(session, y, members - include, members, size, least=size)
        separators |= dropped
        members = members.difference(dropped)
        if len(members) <= size + 1:
            break
    spouses: dict[int, Set] = {}
    candidates = frozenset(separators)
    while candidates:
        false: dict[int, Set] = {}
        for child in sorted(members):
            for x in sorted(candidates):
                if session.independent(y, x, separators[x] | {child}):
                    continue
                if child not in include:
                    separator = separable(
                        session, y, child, members - {child}, most - 1, frozenset({x})
                    )
                    if separator is not None:
                        false[child] = separator
                        break
                spouses[child] = spouses.get(child, frozenset()) | {x}
        members = members.difference(false)
        separators |= false
        for child in false:
            spouses.pop(child, None)
        candidates = frozenset(false)
    b = (members | include).union(*spouses.values())
    for x in sorted(b - members - include):
        if session.independent(y, x, b - {x}):
            b = b - {x}
    return kept_by_the_others(session, y, shrink(session, y, b, include))


# ------------------------------------------------------------------------------------------- BAMB


@dataclass
class Bamb:
    """Two sets that grow together: neighbours, and for each the spouses it brings."""

    session: WeighingSession
    y: int
    most: int
    include: Set
    neighbours: Set
    separators: dict[int, Set]  # of all that was looked at and is no neighbour
    spouses: dict[int, Set] = field(default_factory=dict)

    def blanket(self) -> Set:
        return self.neighbours.union(*self.spouses.values())

    def look_for_spouses(self, child: int, among: Collection[int]) -> None:
        """Those that depend given separator and child, unless the child and others separate."""
        doubtful = [
            x
            for x in sorted(among)
            if not self.session.independent(self.y, x, self.separators[x] | {child})
        ]
        own = self.spouses.get(child, frozenset()) | frozenset(doubtful)
        self.spouses[child] = own
        self.drop_spouses(child, frozenset(doubtful), self.neighbours | own)

    def drop_spouses(self, child: int, doubtful: Set, pool: Set) -> bool:
        core = frozenset({child})
        dropped = prune(self.session, self.y, doubtful, pool, self.most - 1, core)
        self.spouses[child] = self.spouses[child].difference(dropped)
        return len(dropped) > 0

    def drop_neighbours(self, doubtful: Set, pool: Set, most: int, core: Set) -> bool:
        """What is separated now may be the spouse of another neighbour."""
        dropped = prune(self.session, self.y, doubtful - self.include, pool, most, core)
        self.neighbours = self.neighbours.difference(dropped)
        for x, separator in dropped.items():
            self.separators[x] = separator
            self.spouses.pop(x, None)
        if dropped:
            for child in sorted(self.neighbours):
                self.look_for_spouses(child, dropped)
        return len(dropped) > 0

    def examine(self, x: int) -> None:
        separator = separable(self.session, self.y, x, self.neighbours, self.most, least=1)
        if separator is not None:
            self.separators[x] = separator
            for child in sorted(self.neighbours):
                self.look_for_spouses(child, {x})
            return
        before = self.neighbours
        self.neighbours = before | {x}
        self.look_for_spouses(x, self.separators.keys())
        pool = self.neighbours | self.spouses[x]
        self.drop_neighbours(before, pool, self.most - 1, frozenset({x}))

    def weed_out(self) -> None:
        while True:
            has_changed = self.drop_neighbours(
                self.neighbours, self.blanket(), self.most, frozenset()
            )
            for child in sorted(self.spouses):
                if self.drop_spouses(child, self.spouses[child], self.blanket()):
                    has_changed = True
            if not has_changed:
                return


def bamb(
    session: WeighingSession,
    variables: Iterable[int],
    y: int,
    most: int,
    start: Set = frozenset(),
    include: Set = frozenset(),
) -> Witnesses:
    v = frozenset(variables) - {y}
    strengths = {x: session.strength(y, x, frozenset()) for x in v}
    irrelevant = [x for x in sorted(v - include) if strengths[x] == 0]
    search = Bamb(session, y, most, include, include, {x: frozenset() for x in irrelevant})
    for child in sorted(include):
        search.look_for_spouses(child, irrelevant)
    waiting = v - include - set(irrelevant)
    for x in sorted(waiting, key=lambda x: (x not in start, -strengths[x], x)):
        search.examine(x)
    search.weed_out()
    found: Witnesses = {}
    for x in search.neighbours:
        found[x] = None if strengths[x] == 0 else frozenset()
    for child in sorted(search.spouses):
        for x in sorted(search.spouses[child]):
            if x not in found:
                found[x] = search.separators[x] | {child}
    return found


# ------------------------------------------------------------------------------ automatic search


@dataclass(frozen=True)
class Rules:
    """The numbers that the automatic search goes by."""

    level: float  # chance of a blanket where there is none
    first_share: float  # of the level for order 0; of what is left the same share for order 1, ...
    false_share: float  # of what is believed
    partner_chance: float
    share_to_detect: float
    largest_pool: int  # members that separators are made of
    clearly_closer: float
    largest_witness: int
    most_tests: Mapping[int, int]  # by order

    def share_of_level(self, order: int) -> float:
        left = 1.0
        for _ in range(order):
            left *= 1 - self.first_share
        return self.level * self.first_share * left


def family_bits(n: int, chance: float) -> float:
    """Bonferroni: n p-values of 2^-b are below it with this chance in all."""
    return math.log2(max(n, 1) / chance)


def false_discovery_bits(bits: Iterable[float], n: int, share: float) -> float:
    """Benjamini & Hochberg: the largest rank whose p-value is at most rank * share / n."""
    needed = math.inf
    for rank, own in enumerate(sorted(bits, reverse=True), start=1):
        if own >= math.log2(n / (rank * share)):
            needed = math.log2(n / (rank * share))
    return needed


@dataclass
class Automatic:
    """All that the automatic search knows, found before it is needed."""

    session: DoubtingSession
    y: int
    v: Set  # without y
    single: float  # bits that any test needs
    most: int
    rules: Rules
    start: Set = frozenset()
    include: Set = frozenset()
    alone: dict[int, dict[int, float]] = field(default_factory=dict)
    members: dict[int, dict[int, float]] = field(default_factory=dict)  # with their least bits
    separated: dict[int, dict[int, Set]] = field(default_factory=dict)
    needed: float = 0.0
    blanket: dict[int, Set] = field(default_factory=dict)  # with what each is seen given
    separators: dict[int, Set] = field(default_factory=dict)
    reached: int = 0

    def __post_init__(self) -> None:
        everything = self.v | {self.y}
        for a in sorted(everything):
            bits = {b: self.session.strength(a, b, frozenset()) for b in sorted(everything - {a})}
            self.alone[a] = {b: own for b, own in bits.items() if own > 0}
        for a in sorted(everything):
            self.members[a], self.separated[a] = self.look_around(a)
        bits_of_y, n = self.alone[self.y].values(), len(self.v)
        chance = self.rules.share_of_level(0)
        sure = [self.session.confirmed(self.y, x, frozenset()) for x in self.alone[self.y]]
        if false_discovery_bits(sure, n, chance) == math.inf:
            self.needed = math.inf
        else:
            by_share = false_discovery_bits(bits_of_y, n, self.rules.false_share)
            self.needed = max(self.single, by_share)
        self.blanket = {x: frozenset() for x in sorted(self.include)}

    def nearest(self, a: int, pool: Set, most: int | None = None) -> Set:
        """Those that depend on a most, of equals the first ones."""
        by_strength = sorted(pool, key=lambda z: (-self.alone[a].get(z, 0.0), z))
        return frozenset(by_strength[: self.rules.largest_pool if most is None else most])

    def look_around(self, a: int) -> tuple[dict[int, float], dict[int, Set]]:
        """MMPC of one variable, whose separators are made of few members."""
        waiting = dict(self.alone[a])
        first, fixed = frozenset[int](), frozenset[int]()
        if a == self.y:
            first, fixed = self.start | self.include, self.include
            for x in fixed:
                waiting.setdefault(x, 0.0)
        separators = {b: frozenset[int]() for b in (self.v | {self.y}) - {a} - waiting.keys()}
        members: dict[int, float] = {}
        while waiting:
            b = min(first & waiting.keys(), default=first_strongest(waiting))
            members[b] = waiting.pop(b)
            for x in sorted(waiting.keys() - fixed):
                near = self.nearest(x, frozenset(members))
                if b in near:
                    core = frozenset({b})
                    self.confront(a, x, core, near - core, self.most - 1, waiting, separators)
        for b in sorted(members):
            before = members[b]
            near = self.nearest(b, frozenset(members) - {b})
            self.confront(a, b, frozenset(), near, self.most, members, separators)
            if b in fixed:  # it stays to separate others, whatever separates it
                members.setdefault(b, before)
        return members, separators

    def confront(
        self,
        a: int,
        x: int,
        core: Set,
        pool: Set,
        bound: int,
        strengths: dict[int, float],
        separators: dict[int, Set],
    ) -> None:
        """Lower the strength of x to its least given any set; a separator takes it out."""
        for z in subsets(pool, bound):
            bits = self.session.strength(a, x, core | z)
            if bits == 0:
                separators[x] = core | z
                del strengths[x]
                return
            strengths[x] = min(strengths[x], bits)

    def sees(self, a: int, b: int) -> float:
        """Least bits of a neighbour; 0 for anybody else."""
        return 0.0 if b in self.separated[a] else self.members[a].get(b, 0.0)

    def joined(self, a: int, b: int, bits: float = 0.0) -> float:
        """Least bits on the side of a or b that sees the other, if they are enough."""
        if self.alone[a].get(b, 0.0) < bits:
            return 0.0
        found = self.sees(a, b)
        if found == 0:
            separator = self.separated[a].get(b, frozenset())
            if not separator:
                return 0.0
            if len(separator) == 1:
                middle, own = self.alone[b].get(min(separator), 0.0), self.alone[b].get(a, 0.0)
                if own < math.inf and middle >= self.rules.clearly_closer * own:
                    return 0.0
            found = self.sees(b, a)
        return found if found >= bits else 0.0

    def outside(self) -> list[int]:
        return sorted(self.v - self.blanket.keys())

    def depends(self, x: int, z: Set) -> bool:
        return not self.session.independent(self.y, x, z)

    def separator(self, x: int, witness: Set) -> Set | None:
        """Members that undo the dependence of x given its witness."""
        pool = self.nearest(x, frozenset(self.blanket) - witness - {x})
        found = separable(self.session, self.y, x, pool, self.most, witness)
        return None if found is None else found - witness

    def find_neighbours(self) -> None:
        self.separators = dict.fromkeys(sorted(self.v), frozenset())
        if self.needed == math.inf:
            return
        found = {x: self.joined(self.y, x, self.needed) for x in self.alone[self.y]}
        found = {x: bits for x, bits in found.items() if bits > 0}
        least = false_discovery_bits(found.values(), len(self.v), self.rules.false_share)
        for x in sorted(found):
            if found[x] >= least:
                self.blanket.setdefault(x, frozenset())
        for x in self.alone[self.y].keys() - self.blanket.keys():
            nearest = self.nearest(x, frozenset(self.blanket), self.most)
            self.separators[x] = self.separated[self.y].get(x, nearest)

    def find_spouses(self) -> None:
        best: dict[int, tuple[float, Set]] = {}
        family = set()
        for child in sorted(self.blanket):
            for x in self.outside():
                if x not in self.alone[child]:
                    continue
                family.add(x)
                z = self.separators[x] | {child}
                bits = self.session.strength(self.y, x, z)
                if bits < self.single or bits <= best.get(x, (0.0, z))[0]:
                    continue
                if self.joined(child, x):
                    best[x] = bits, z
        found = [bits for bits, _ in best.values()]
        needed = false_discovery_bits(found, len(family), self.rules.false_share)
        for x in sorted(best):
            bits, z = best[x]
            if bits >= needed:
                self.blanket.setdefault(x, z)

    def add_inseparable(self) -> None:
        """One at a time; separators that are found on the way are kept."""
        while True:
            has_grown = False
            doubtful = [
                x
                for x in self.outside()
                if x in self.alone[self.y]
                and self.alone[self.y][x] >= self.needed
                and not self.separators[x] <= self.blanket.keys()
            ]
            for x in doubtful:
                separator = self.separator(x, frozenset())
                if separator is None:
                    self.blanket[x] = frozenset()
                    has_grown = True
                    break
                self.separators[x] = separator
            if not has_grown:
                return

    def strong(self, xs: Iterable[int], sets: Collection[Set], bits: float) -> list[Strong]:
        """Dependences given a set and what separates a variable, the strongest first."""
        found = []
        for x in xs:
            for z in sets:
                if x in z or z & self.separators[x]:
                    continue
                given = z | self.separators[x]
                own = self.session.strength(self.y, x, given)
                if 0 < own >= bits:
                    found.append((own, x, given))
        return sorted(found, key=lambda each: (-each[0], each[1], sorted(each[2])))

    def add_partners(self) -> None:
        fresh = sorted(self.blanket)
        strong: list[Strong] = []
        while fresh:
            n_tests = len(self.outside()) * len(self.blanket)
            needed = max(self.single, family_bits(n_tests, self.rules.partner_chance))
            strong += self.strong(self.outside(), [frozenset({w}) for w in fresh], needed)
            fresh = self.add_strong(strong)

    def add_groups(self, size: int) -> None:
        n_tests = len(self.v) * math.comb(len(self.v) - 1, size)
        needed = max(self.single, family_bits(n_tests, self.rules.share_of_level(size)))
        sets = [frozenset(chosen) for chosen in combinations(sorted(self.v), size)]
        strong = [
            (bits, x, given)
            for bits, x, given in self.strong(self.outside(), sets, needed)
            if self.separators[x] or not self.session.is_large(self.y, x, given)
            if self.session.confirmed(self.y, x, given) >= needed
        ]
        self.add_strong(strong)

    def add_strong(self, strong: Iterable[Strong]) -> list[int]:
        """Those that nothing in the blanket separates, and their witnesses if they depend too.

        The strongest first, then all that are left are looked at again.
        """
        left = [(bits, x, given - self.separators[x]) for bits, x, given in strong]
        added: list[int] = []
        while True:
            standing: dict[int, Strong] = {}
            for bits, x, witness in left:
                if x in self.blanket or x in standing:
                    continue
                if self.separator(x, witness) is None:
                    standing[x] = bits, x, witness
            if not standing:
                return added
            _, x, witness = max(standing.values(), key=lambda one: (one[0], -one[1]))
            left = [one for one in left if one[1] in standing and one[1] != x]
            self.blanket[x] = witness
            added.append(x)
            for ally in sorted(witness - self.blanket.keys()):
                rest = (witness - {ally}) | {x}
                if self.depends(ally, rest) and self.separator(ally, rest) is None:
                    self.blanket[ally] = rest
                    added.append(ally)

    def grow(self, order: int | None) -> None:
        if order == 0:
            return
        self.add_inseparable()
        self.add_partners()
        for size in range(1, (max(self.rules.most_tests) if order is None else order) + 1):
            outside = self.outside()
            n_tests = len(outside) * math.comb(len(self.v) - 1, size) if outside else 0
            if n_tests == 0 or (order is None and n_tests > self.rules.most_tests[size]):
                return
            self.add_groups(size)
            self.reached = size

    def shrink(self, bound: int | None) -> None:
        """The least strong member that the others make independent goes; then all over again."""
        while bound is None or len(self.blanket) <= bound + 1:
            alone = self.alone[self.y]
            for x in sorted(self.blanket.keys() - self.include, key=lambda x: (alone.get(x, 0), x)):
                others = frozenset(self.blanket) - {x}
                share, seen = self.rules.share_to_detect, self.blanket[x]
                if self.depends(x, others):
                    continue
                if self.session.can_detect(self.y, x, others, seen, share):
                    del self.blanket[x]
                    self.separators[x] = others
                    break
            else:
                return

    def witness(self, x: int) -> Set | None:
        others = frozenset(self.blanket) - {x}
        if self.blanket[x] <= others and self.depends(x, self.blanket[x]):
            return self.blanket[x]
        bound = max(self.reached, self.rules.largest_witness)
        for z in subsets(self.nearest(x, others), bound):
            if self.depends(x, z):
                return z
        return None

    def find_witnesses(self) -> Witnesses:
        while True:
            found = {x: self.witness(x) for x in sorted(self.blanket)}
            for x in self.include:
                z = found[x]
                if z is not None and self.separator(x, z) is not None:
                    found[x] = None  # only by request
            hidden = [x for x, z in found.items() if z is None and x not in self.include]
            if not hidden:
                return found
            del self.blanket[hidden[0]]


def automatic(
    session: DoubtingSession,
    variables: Iterable[int],
    y: int,
    alpha: float | None,
    rules: Rules,
    order: int | None = None,
    bound: int | None = None,
    start: Set = frozenset(),
    include: Set = frozenset(),
) -> tuple[Witnesses, dict[int, Set]]:
    """The members with their witnesses, and what separates the others."""
    single = 0.0 if alpha is None else -math.log2(alpha) * (1 - 1e-9)
    most = 3 if bound is None else bound
    search = Automatic(session, y, frozenset(variables) - {y}, single, most, rules, start, include)
    search.find_neighbours()
    search.find_spouses()
    search.grow(order)
    search.shrink(bound)
    return search.find_witnesses(), search.separators


# ------------------------------------------------------------------------------------ explaining


@dataclass(frozen=True)
class Told:
    """What is to be told about one variable."""

    shown: Set | None  # the condition in which it depends on y
    separator: Set | None  # shown and more: where that is undone, or else least clear
    alone_separator: Set | None = None


def hardest(session: DataSession, y: int, x: int, z: Set, s: Set, most: int) -> Set | None:
    """z with as few members as undo a dependence; else with those it is weakest with."""
    weakest: list[tuple[float, Set]] = []
    for size in range(1, most + 1):
        larger = [z | frozenset(c) for c in combinations(sorted(s - z - {x}), size)]
        larger.sort(key=sorted)
        undone = [given for given in larger if session.independent(y, x, given)]
        if undone:
            return min(undone[:10], key=lambda given: doubt(session.answer(y, x, given)))
        weakest += [(round(session.strength(y, x, given), 6), given) for given in larger]
    return min(weakest, key=lambda entry: entry[0])[1] if weakest else None


def doubt(answer: Answer) -> tuple[bool, float]:
    """How little convincing it is that a test says independent."""
    bits = answer.statistic if answer.p_value is None else -math.log2(answer.p_value)
    return not answer.reliable, round(bits, 6)


def explain(
    session: DataSession, variables: Set, y: int, witnesses: Witnesses, k: int, most: int
) -> dict[int, Told]:
    """What to tell about the members of a blanket, and about what depends on y outside of it."""
    s = frozenset(witnesses)
    told: dict[int, Told] = {}
    for x in sorted(variables):
        z = witnesses.get(x)
        if z is not None:
            alone = None
            if z and not session.independent(y, x, frozenset()):
                alone = hardest(session, y, x, frozenset(), s, most)
            told[x] = Told(z, hardest(session, y, x, z, s, most), alone)
            continue
        dependent = [a for a in subsets(s - {x}, k) if not session.independent(y, x, a)]
        if not dependent:
            if x in witnesses:
                told[x] = Told(None, None)
            continue
        standing = [a for a in dependent if no_seps(session, y, x, a, s, most)]
        fewest = [a for a in dependent if len(a) == len(dependent[0])]
        shown = (
            standing[0]
            if standing
            else max(fewest, key=lambda a: round(session.strength(y, x, a), 6))
        )
        separator = hardest(session, y, x, shown, s, most)
        if standing and separator is not None and session.independent(y, x, s - {x}):
            separator = s - {x}
        told[x] = Told(shown, separator)
    return told
