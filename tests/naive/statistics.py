"""Twins of the statistics: from the counts of one test to a number."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

from tests.naive.counts import Counts, Tables, by_stratum, log2_normaliser


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
    xs, ys = by_stratum(t.xz), by_stratum(t.yz)
    for stratum, n_z in t.z.items():
        own = Fraction(0)
        for x, n_x in xs[stratum].items():
            for y, n_y in ys[stratum].items():
                # (n - e)^2 / e with e = n_x n_y / n_z, over the common denominator
                n = t.xyz[(x, y, *stratum)]
                own += Fraction((n * n_z - n_x * n_y) ** 2, n_x * n_y * n_z)
        total += own
    return float(total)


def cressie_read(t: Tables) -> float:
    """9 / 5 sum n_xyz ((n_xyz / expected)^(2/3) - 1), with expected = n_xz n_yz / n_z."""
    terms = [
        n * ((n * t.z[key[2:]] / (t.xz[(key[0], *key[2:])] * t.yz[key[1:]])) ** (2 / 3) - 1)
        for key, n in t.xyz.items()
        if n
    ]
    return max(0.0, 9 / 5 * math.fsum(terms))


def degrees_of_freedom(t: Tables, rule: str) -> int:
    if rule == "observed":
        return (t.x_levels - 1) * (t.y_levels - 1) * len(t.z)
    xs = Counter(key[1:] for key in t.xz)  # levels of x seen in each stratum
    ys = Counter(key[1:] for key in t.yz)
    return sum(max(0, xs[stratum] - 1) * max(0, ys[stratum] - 1) for stratum in t.z)


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
