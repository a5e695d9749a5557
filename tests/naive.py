"""Slow, obvious twins of everything fast: dictionaries, loops and the formulas as printed.

Nothing here imports komb. A table is a list of columns, a column a list of level numbers; a
variable is the number of its column. ``y`` is the target, ``x`` a candidate, ``given`` (or ``z``)
the condition, ``s`` the blanket, ``k`` the order and ``most`` the bound on separators.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Protocol

from scipy.stats import chi2 as chi2_distribution

Columns = Sequence[Sequence[int]]
Counts = Counter[tuple[int, ...]]
Set = frozenset[int]

# ---------------------------------------------------------------------------------------- counts


def joint_counts(columns: Columns, variables: Sequence[int]) -> Counts:
    """How often each combination of levels of ``variables`` occurs."""
    n_rows = len(columns[0])
    return Counter(tuple(columns[v][row] for v in variables) for row in range(n_rows))


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
    return Tables(
        joint_counts(columns, [x, y, *z]),
        joint_counts(columns, [x, *z]),
        joint_counts(columns, [y, *z]),
        joint_counts(columns, z),
        len(columns[0]),
        len(set(columns[x])),
        len(set(columns[y])),
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


@dataclass(frozen=True)
class Answer:
    """What one test says."""

    statistic: float
    df: int | None
    p_value: float | None
    test: str  # which one decided
    independent: bool
    reliable: bool


def run_test(
    columns: Columns, y: int, x: int, given: Collection[int], test: str, alpha: float, df: str
) -> Answer:
    """Count, measure and decide, for each test that there is a twin of."""
    t = count(columns, y, x, given)
    cells = t.x_levels * t.y_levels * len(t.z)
    is_thin = t.n_rows < 5 * cells
    if test == "g-sci":
        test = "sci" if is_thin else "g"
    if test == "sci":
        statistic = sci(t)
        return Answer(statistic, None, None, "sci", statistic <= 0, reliable=t.n_rows >= cells)
    statistic = {"g": g, "chi2": pearson}[test](t)  # a KeyError: this test has no twin yet
    freedom = degrees_of_freedom(t, df)
    p = 1.0 if freedom == 0 else float(chi2_distribution.sf(statistic, freedom))
    return Answer(statistic, freedom, p, test, p > alpha, reliable=not is_thin)


# -------------------------------------------------------------------------------------- sessions


class Session(Protocol):
    """Answers one question at a time."""

    def independent(self, y: int, x: int, given: Set) -> bool: ...


@dataclass
class DataSession:
    """Answers from a table and remembers which questions were asked."""

    columns: Columns
    test: str = "g-sci"
    alpha: float = 0.01
    df: str = "observed"
    memory: dict[tuple[int, int, Set], bool] = field(default_factory=dict)

    def independent(self, y: int, x: int, given: Set) -> bool:
        key = (y, x, given)
        if key not in self.memory:
            answer = run_test(self.columns, y, x, given, self.test, self.alpha, self.df)
            self.memory[key] = answer.independent
        return self.memory[key]


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
