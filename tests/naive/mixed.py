"""Twin of the test for mixed columns: vectors one by one, all covariances in full."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.special import eval_legendre
from scipy.stats import chi2, norm, rankdata

Vector = Any
WEIGHTS = {"linear": 0.76, "quadratic": 0.09, "higher": 0.07, "interaction": 0.08}
HIGHER = {(2, 2): 1.0, (1, 3): 0.8, (3, 1): 0.3, (1, 4): 0.5, (2, 3): 0.5, (3, 2): 0.3, (4, 1): 0.2}


@dataclass
class NaiveColumn:
    """Values of a column, None where missing, and how they are to be taken."""

    values: Sequence[Any]
    is_nominal: bool

    @property
    def by_level(self) -> bool:
        return self.is_nominal or len({self.values[row] for row in self.known()}) <= 4

    def known(self) -> list[int]:
        return [row for row, value in enumerate(self.values) if value is not None]

    def vectors(self, rows: Sequence[int]) -> dict[str, list[tuple[float, Vector]]]:
        """Features of some rows: own (with degrees), joint, smooth (with costs)."""
        known = self.known()
        values = [self.values[row] for row in known]
        made = nominal(values) if self.is_nominal else numeric(values)
        place = {row: i for i, row in enumerate(known)}
        chosen = [place[row] for row in rows]
        return {
            kind: [(grade, np.array(vector)[chosen]) for grade, vector in vectors]
            for kind, vectors in made.items()
        }


def numeric(values: Sequence[float]) -> dict[str, list[tuple[float, Vector]]]:
    n, n_distinct = len(values), len(set(values))
    shares = (rankdata(values) - 0.5) / n
    score = norm.ppf(shares)
    score = score - score.mean()
    if n_distinct > 1:
        score = score / score.std()
    u = 2 * shares - 1

    def legendre(degree: int) -> Vector:
        return math.sqrt(2 * degree + 1) * eval_legendre(degree, u)

    if 1 < n_distinct <= 4:
        few = gram_schmidt([score**k for k in range(n_distinct)], [0.0] * n_distinct)
        every = [(float(k), math.sqrt(n) * q) for k, q in enumerate(few) if k and q is not None]
        return {"own": every, "joint": every, "sharp": every, "first": every, "smooth": every}
    own: list[tuple[float, Vector]] = [
        (1, score),
        (2, score**2 - 1),
        (3, legendre(3)),
        (4, legendre(4)),
    ]
    own = own[: min(3 if n < 2000 else 4, n_distinct - 1)]
    smooth: list[tuple[float, Vector]] = [
        (1, score),
        (2, score**2 - 1),
        (3, score**3 - 3 * score),
        (4, legendre(2)),
    ]
    smooth += [(4, np.sign(u)), (4, np.sign(u) * score)]
    smooth += [(k, legendre(k - 2)) for k in range(5, roughest(n) + 1)]
    if n_distinct <= len(smooth):
        smooth = [(k, f) for k, f in smooth if k <= n_distinct - 1][: n_distinct - 1]
    joint: list[tuple[float, Vector]] = [(1, score), (1, np.sign(u))]
    joint = joint if n_distinct > 2 else joint[: n_distinct - 1]
    first = joint[:1]
    return {"own": own, "joint": joint, "sharp": joint[-1:], "first": first, "smooth": smooth}


def roughest(n: int) -> int:
    return max(12, min(24, int(np.cbrt(n))))


def nominal(values: Sequence[Any]) -> dict[str, list[tuple[float, Vector]]]:
    own, smooth = contrasts(values, 10), contrasts(values, 3)
    joint = own[:5]
    return {"own": own, "joint": joint, "sharp": joint, "first": joint, "smooth": smooth}


def contrasts(values: Sequence[Any], rarest: int) -> list[tuple[float, Vector]]:
    counts = {level: list(values).count(level) for level in sorted(set(values))}
    order = sorted(counts, key=lambda level: (-counts[level], level))
    frequent = [level for level in order if counts[level] >= rarest]
    rare = [level for level in order if counts[level] < rarest]
    groups = [[level] for level in frequent]
    if sum(counts[level] for level in rare) >= rarest or not groups:
        groups.append(rare)
    else:
        groups[-1] += rare
    vectors: list[Vector] = []
    for number, group in enumerate(groups[1:], start=1):
        more_frequent = [level for other in groups[:number] for level in other]
        n_own = sum(counts[level] for level in group)
        n_before = sum(counts[level] for level in more_frequent)
        of_level = dict.fromkeys(counts, 0.0) | dict.fromkeys(group, 1 / n_own)
        of_level |= dict.fromkeys(more_frequent, -1 / n_before)
        vector = np.array([of_level[value] for value in values])
        vectors.append(vector * math.sqrt(len(values) / (vector @ vector)))
    return [(1.0, vector) for vector in vectors]


def gram_schmidt(vectors: Sequence[Vector], least: Sequence[float]) -> list[Vector | None]:
    """Make vectors orthonormal in their order; None where nothing is left."""
    found: list[Vector | None] = []
    for vector, enough in zip(vectors, least, strict=True):
        left = np.array(vector, dtype=float)
        for _ in range(2):
            for before in found:
                if before is not None:
                    left = left - before * (before @ left)
        found.append(left / math.sqrt(left @ left) if left @ left > enough else None)
    return found


def basis(conditions: Sequence[Mapping[str, Any]], n: int) -> list[tuple[float, Vector]]:
    """All functions of the conditions that may be in, orthonormal, with their costs."""
    groups: dict[tuple[float, int], list[Vector]] = {}
    for size in range(1, min(3, len(conditions)) + 1):
        for chosen in combinations(conditions, size):
            for factors in product(*(each["smooth"] for each in chosen)):
                cost = sum(cost for cost, _ in factors) + 2.0 * (size - 1)
                if cost <= (roughest(n) if size == 1 else 12):
                    vector = np.prod([f for _, f in factors], axis=0)
                    groups.setdefault((cost, size), []).append(vector)
    terms: list[tuple[float, Vector]] = [(0.0, np.ones(n))]
    is_full = False
    for (cost, size), group in sorted(groups.items()):
        if len(terms) + len(group) > min(200, 3.5 * n**0.5) and cost > 1:
            is_full = True
        if not is_full or (size == 1 and cost <= np.cbrt(n)):
            terms += [(cost, vector) for vector in group]
    vectors = [vector for _, vector in terms]
    made = gram_schmidt(vectors, [1e-6 * (v @ v) for v in vectors])
    return [(cost, q) for (cost, _), q in zip(terms, made, strict=True) if q is not None]


def n_base(functions: list[tuple[float, Vector]], n: int) -> int:
    """Count the functions that are always in: the cheapest."""
    costs = [cost for cost, _ in functions]
    largest = 1.0
    for cost in sorted({cost for cost in costs if cost > 1}):
        if sum(each <= cost for each in costs) > 0.8 * n**0.4:
            break
        largest = cost
    return sum(cost <= largest for cost in costs)


def squares_of(functions: list[tuple[float, Vector]], y: Vector, n: int) -> list[float]:
    """Squared coefficients, in terms of the variance that is left."""
    in_base = n_base(functions, n)
    parts = [(q @ y) ** 2 for _, q in functions]
    from_base = y @ y - sum(parts[:in_base])
    from_all = max(y @ y - sum(parts), 0.0)
    variance = min(from_base / (n - in_base), from_all / max(n - len(functions), 0.2 * n))
    return [part / max(variance, 1e-300) for part in parts]


def choose(
    functions: list[tuple[float, Vector]], own: Sequence[Vector], n: int
) -> list[tuple[float, Vector]]:
    """Choose the base, and the functions that the target depends on."""
    threshold = chi2.isf(0.12 / len(own), 1)
    most = [max(each) for each in zip(*(squares_of(functions, y, n) for y in own), strict=True)]
    in_base = n_base(functions, n)
    return [
        function
        for place, function in enumerate(functions)
        if place < in_base or most[place] > threshold
    ]


def is_bent(functions: list[tuple[float, Vector]], own: Sequence[Vector], n: int) -> bool:
    """Whether a function that is not linear matters for sure."""
    bent = [place for place, (cost, _) in enumerate(functions) if cost > 1]
    squares = [squares_of(functions, y, n)[place] for y in own for place in bent]
    return bool(squares) and max(squares) > chi2.isf(0.05 / len(squares), 1)


def curves(functions: list[tuple[float, Vector]], own: Sequence[Vector], n: int) -> list[Vector]:
    """Polynomials of what the functions predict, as far as the target depends on them."""
    made = []
    for y in own:
        fit = sum((q * (q @ y) for _, q in functions[1:]), start=np.zeros(n))
        if fit @ fit > 1e-3 * (y @ y):
            u = 2 * norm.cdf(fit / math.sqrt(fit @ fit / n)) - 1
            degrees = range(1, int(1.1 * n**0.2) + 1)
            made += [math.sqrt(2 * k + 1) * eval_legendre(k, u) for k in degrees]
    if len(functions) + len(made) > 0.25 * n:
        return []
    before = [q for _, q in functions]
    least = [0.0] * len(before) + [1e-3 * n] * len(made)
    left = gram_schmidt(before + made, least)[len(before) :]
    chosen = []
    for curve in (q for q in left if q is not None):
        for y in own:
            residual = y @ y - sum((q @ y) ** 2 for q in before)
            if (curve @ y) ** 2 > chi2.isf(0.12 / len(own), 1) * residual / (n - len(before)):
                chosen.append(curve)
                break
    return chosen


def products(x: Mapping[str, Any], conditions: Sequence[Mapping[str, Any]]) -> list[Vector]:
    """Products of a candidate with its conditions."""
    if len(conditions) > 3:
        return [a * b for z in conditions for _, b in z["first"] for _, a in x["joint"][:1]]
    made = [a * b for z in conditions for _, b in z["joint"] for _, a in x["joint"]]
    for size in range(2, len(conditions) + 1):
        for chosen in combinations(conditions, size):
            for factors in product(*(z["sharp"] for z in chosen)):
                made += [a * np.prod([f for _, f in factors], axis=0) for _, a in x["sharp"]]
    return made


def component_of(y_degree: float, x_degree: float) -> tuple[str, float] | None:
    if x_degree == 0:
        return ("interaction", 1.0) if y_degree == 1 else None
    if y_degree == x_degree == 1:
        return "linear", 1.0
    if y_degree + x_degree == 3:
        return "quadratic", 1.0
    weight = HIGHER.get((int(y_degree), int(x_degree)))
    return None if weight is None else ("higher", weight)


def adjust(
    of_y: Any, pool: list[tuple[float, Vector]], n: int, is_conditional: bool, by_level: bool
) -> tuple[list[Vector], list[tuple[float, Vector]]]:
    """The functions of a target, its spread among them, and those of the conditions it needs."""
    for functions in ([(cost, q) for cost, q in pool if cost <= 6], pool):
        made = dict(enumerate(v for _, v in of_y["own"]))
        if is_conditional and len(made) > 1 and not by_level:
            first = made[0]
            left = first - sum(q * (q @ first) for _, q in choose(functions, [first], n))
            if left @ left > 1e-3 * (first @ first):
                made[1] = left**2 / (left @ left / n) - 1
        own = list(made.values())
        chosen = choose(functions, own, n)
        if not is_bent(functions, own if by_level else own[:2], n):
            break
    return own, chosen


def in_order(columns: Sequence[NaiveColumn], given: Collection[int]) -> list[int]:
    """The conditions, first the one whose square goes with the others most."""
    first = {}
    for z in given:
        known = columns[z].known()
        first[z] = np.zeros(len(columns[z].values))
        own = columns[z].vectors(known)["own"]
        first[z][known] = own[0][1] if own else 0.0

    def rank(x: int) -> tuple[float, int]:
        bends = [float(np.mean(first[x] ** 2 * first[z])) ** 2 for z in given if z != x]
        return -round(sum(bends), 9), x

    return sorted(given, key=rank)


def mixed_test(
    columns: Sequence[NaiveColumn], y: int, x: int, given: Collection[int]
) -> tuple[float, str | None]:
    """P-value, and the component that decided."""
    involved = [y, x, *sorted(given)]
    rows = sorted(set.intersection(*(set(columns[i].known()) for i in involved)))
    n = len(rows)
    of_y, of_x = columns[y].vectors(rows), columns[x].vectors(rows)
    conditions = [columns[z].vectors(rows) for z in in_order(columns, given)]
    if n < 20 or not of_y["own"] or not of_x["own"]:
        return 1.0, None
    own, chosen = adjust(of_y, basis(conditions, n), n, bool(conditions), columns[y].by_level)
    of_y["own"] = [(degree, v) for (degree, _), v in zip(of_y["own"], own, strict=True)]
    functions = chosen + [(math.inf, curve) for curve in curves(chosen, own, n)]

    def residuals(vectors: list[tuple[float, Vector]]) -> list[tuple[float, Vector]]:
        left = [v - sum(q * (q @ v) for _, q in functions) for _, v in vectors]
        made = gram_schmidt(left, [1e-3 * (v @ v) for _, v in vectors])
        own = [q for (d, _), q in zip(vectors, made, strict=True) if d > 0 and q is not None]
        found = []
        for (d, _), v, q in zip(vectors, left, made, strict=True):
            if q is not None and d == 0:  # a product: orthogonal to the candidate alone
                q = v - sum(other * (other @ v) for other in own)
                q = q / math.sqrt(q @ q)
            if q is not None:
                found.append((d, q))
        return found

    e = residuals(of_y["own"])
    r = residuals(of_x["own"] + [(0.0, v) for v in products(of_x, conditions)])
    freedom_left = n - len(functions)
    equal = refer(e, r, freedom_left, lambda a, b, c, d: (a is b) * (c @ d) / freedom_left)
    p, decider = combine(equal)
    if p > 0.3 or not conditions:
        return p, decider
    leverage = np.minimum(sum(q**2 for _, q in functions), 0.95)
    spread = [q for cost, q in functions if cost <= 4.0][:16]

    def covariance(a: Vector, b: Vector, c: Vector, d: Vector) -> float:
        return float(sum((a * b / (1 - leverage) @ q) * (c * d @ q) for q in spread))

    return combine(refer(e, r, freedom_left, covariance))


def refer(
    e: list[tuple[float, Vector]], r: list[tuple[float, Vector]], freedom_left: int, covariance: Any
) -> dict[str, tuple[float, float]]:
    """Chi-square and freedom of each component."""
    found = {}
    for name in WEIGHTS:
        pairs = [
            (weight[1], a, b)
            for d_y, a in e
            for d_x, b in r
            if (weight := component_of(d_y, d_x)) is not None and weight[0] == name
        ]
        if not pairs:
            continue
        total = sum(w * (a @ b) ** 2 for w, a, b in pairs)
        mean = sum(w * covariance(a, a, b, b) for w, a, b in pairs)
        variance = sum(
            2 * w * v * covariance(a, c, b, d) ** 2 for w, a, b in pairs for v, c, d in pairs
        )
        n_shared = min(len({id(a) for _, a, _ in pairs}), len({id(b) for _, _, b in pairs}))
        room = n_shared * freedom_left
        freedom = 2 * mean**2 / variance if mean > 0 and variance > 0 else 0.0
        if 0 < freedom < room - 2:
            share = min(total / mean * freedom / room, 1 - 1e-15)
            found[name] = -(room - freedom / 2 - 1) * math.log1p(-share), freedom
    return found


def combine(components: Mapping[str, tuple[float, float]]) -> tuple[float, str | None]:
    if not components:
        return 1.0, None
    total = sum(WEIGHTS[name] for name in components)
    corrected = {
        name: chi2.sf(statistic, freedom) / (WEIGHTS[name] / total)
        for name, (statistic, freedom) in components.items()
    }
    decider = min(corrected, key=corrected.__getitem__)
    q = min(corrected[decider], 1.0)
    none = sum(math.log1p(-min(WEIGHTS[name] / total * q, 1 - 1e-16)) for name in components)
    return -math.expm1(none), decider
