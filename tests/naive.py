"""Slow, obvious twins of everything fast: dictionaries, loops and the formulas as printed.

Nothing here imports komb. A table is a list of columns, a column a list of level numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

from scipy.stats import chi2 as chi2_distribution

Columns = Sequence[Sequence[int]]


# ---------------------------------------------------------------------------------------- counts


def joint_counts(columns: Columns, variables: Sequence[int]) -> Counter[tuple[int, ...]]:
    """How often each combination of levels of ``variables`` occurs."""
    n_rows = len(columns[0])
    return Counter(tuple(columns[v][row] for v in variables) for row in range(n_rows))


@dataclass(frozen=True)
class Tables:
    """Counts of x, y and the strata of given."""

    xyz: Counter[tuple[int, ...]]  # keys (x, y, *z)
    xz: Counter[tuple[int, ...]]
    yz: Counter[tuple[int, ...]]
    z: Counter[tuple[int, ...]]
    n_rows: int
    x_levels: int
    y_levels: int


def count(columns: Columns, y: int, x: int, given: Sequence[int]) -> Tables:
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


# ------------------------------------------------------------------------------------ statistics


def g(t: Tables) -> float:
    terms = [
        2 * n * math.log(n * t.z[key[2:]] / (t.xz[(key[0], *key[2:])] * t.yz[key[1:]]))
        for key, n in t.xyz.items()
    ]
    return max(0.0, math.fsum(terms))


def pearson(t: Tables) -> float:
    total = Fraction(0)
    for key, n_z in t.z.items():
        xs = {k[0]: n for k, n in t.xz.items() if k[1:] == key}
        ys = {k[0]: n for k, n in t.yz.items() if k[1:] == key}
        for x, n_x in xs.items():
            for y, n_y in ys.items():
                expected = Fraction(n_x * n_y, n_z)
                total += (t.xyz[(x, y, *key)] - expected) ** 2 / expected
    return float(total)


def degrees_of_freedom(t: Tables, rule: str) -> int:
    if rule == "observed":
        return (t.x_levels - 1) * (t.y_levels - 1) * len(t.z)
    total = 0
    for key in t.z:
        xs = sum(1 for k in t.xz if k[1:] == key)
        ys = sum(1 for k in t.yz if k[1:] == key)
        total += max(0, xs - 1) * max(0, ys - 1)
    return total


@lru_cache(maxsize=None)
def log2_normaliser(levels: int, n: int) -> float:
    """log2 C(levels, n), exactly as printed, in exact arithmetic."""
    if n == 0 or levels == 1:
        return 0.0
    before = Fraction(1)
    now = sum(
        (Fraction(math.perm(n, j), n**j) for j in range(n + 1)), start=Fraction(0)
    )
    for r in range(1, levels - 1):
        before, now = now, now + Fraction(n, r) * before
    return math.log2(now.numerator) - math.log2(now.denominator)


def sci(t: Tables) -> float:
    """max(S(X|Z) - S(X|Y,Z), S(Y|Z) - S(Y|X,Z))."""

    def complexity(counts: Counter[tuple[int, ...]], levels: int) -> list[float]:
        strata: Counter[tuple[int, ...]] = Counter()
        for key, n in counts.items():
            strata[key[1:]] += n
        terms = [-n * math.log2(n / strata[key[1:]]) for key, n in counts.items()]
        return terms + [log2_normaliser(levels, n) for n in strata.values()]

    def saved(before: list[float], after: list[float]) -> float:
        return math.fsum(before + [-term for term in after])

    x_given_yz = Counter({(k[0], k[1], *k[2:]): n for k, n in t.xyz.items()})
    y_given_xz = Counter({(k[1], k[0], *k[2:]): n for k, n in t.xyz.items()})
    best = max(
        saved(complexity(t.xz, t.x_levels), complexity(x_given_yz, t.x_levels)),
        saved(complexity(t.yz, t.y_levels), complexity(y_given_xz, t.y_levels)),
    )
    return 0.0 if abs(best) < 1e-9 else best


@dataclass(frozen=True)
class Answer:
    statistic: float
    df: int | None
    p_value: float | None
    test: str
    independent: bool


def run_test(
    columns: Columns, y: int, x: int, given: Sequence[int], test: str, alpha: float, df: str
) -> Answer:
    t = count(columns, y, x, given)
    is_thin = t.n_rows < 5 * t.x_levels * t.y_levels * len(t.z)
    if test == "sci" or (test == "g-sci" and is_thin):
        statistic = sci(t)
        return Answer(statistic, None, None, "sci", statistic <= 0)
    statistic = pearson(t) if test == "chi2" else g(t)
    freedom = degrees_of_freedom(t, df)
    p = 1.0 if freedom == 0 else float(chi2_distribution.sf(statistic, freedom))
    return Answer(statistic, freedom, p, "chi2" if test == "chi2" else "g", p > alpha)


# --------------------------------------------------------------------------------------- session


@dataclass
class Session:
    """Answers one question at a time and remembers which were asked."""

    columns: Columns
    test: str = "g-sci"
    alpha: float = 0.01
    df: str = "observed"
    memory: dict[tuple[int, int, frozenset[int]], bool] = field(default_factory=dict)

    def independent(self, y: int, x: int, given: frozenset[int]) -> bool:
        key = (y, x, given)
        if key not in self.memory:
            answer = run_test(self.columns, y, x, sorted(given), self.test, self.alpha, self.df)
            self.memory[key] = answer.independent
        return self.memory[key]


# ------------------------------------------------------------------------------------------ kOMB


def subsets(items: frozenset[int], most: int) -> Iterator[frozenset[int]]:
    for size in range(0, most + 1):
        for chosen in combinations(sorted(items), size):
            yield frozenset(chosen)


def no_seps(session, y, x, z, s, l) -> bool:  # type: ignore[no-untyped-def]  # noqa: E741
    for separator in subsets(s - z - {x}, l):
        if session.independent(y, x, z | separator):
            return False
    return True


def find_cond(session, y, x, g, s, k, l):  # type: ignore[no-untyped-def]  # noqa: E741
    for a in subsets(s, k - len(g)):
        z = g | a
        if not session.independent(y, x, z) and no_seps(session, y, x, z, s, l):
            return z
    return None


def make_strict(session, y, x, z, s, l):  # type: ignore[no-untyped-def]  # noqa: E741
    for w in sorted(z):
        if not no_seps(session, y, w, (z - {w}) | {x}, s, l):
            z = z - {w}
    return z | {x}


def find_inter_dep(session, variables, y, g, s, rest, k, l):  # type: ignore[no-untyped-def]  # noqa: E741
    if len(g) > k:
        return frozenset()
    for x in sorted(variables - {y} - s - g):
        z = find_cond(session, y, x, g, s, k, l)
        if z is not None:
            return make_strict(session, y, x, z, s, l)
    for x in sorted(rest - {y} - s - g):
        rest = rest - {x}
        found = find_inter_dep(session, variables, y, g | {x}, s, rest, k, l)
        if found:
            return found
    return frozenset()


def komb(  # type: ignore[no-untyped-def]
    session, variables, y, k, l, start=frozenset(), include=frozenset()  # noqa: E741
) -> dict[int, frozenset[int] | None]:
    """Algorithm 1: the blanket, each member with its witness."""
    variables = frozenset(variables)
    s = frozenset(start) | frozenset(include)
    while True:
        found = find_inter_dep(session, variables, y, frozenset(), s, variables - {y} - s, k, l)
        s = s | found
        if not found:
            break
    while True:
        witnesses = {x: find_cond(session, y, x, frozenset(), s - {x}, k, l) for x in sorted(s)}
        lonely = [x for x, z in witnesses.items() if z is None and x not in include]
        if not lonely:
            return witnesses
        s = s - {lonely[0]}
