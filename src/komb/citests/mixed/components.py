"""What target and candidate still share given the conditions, in four components.

* **linear**: features of degree 1, that is normal scores and contrasts;
* **quadratic**: degree 1 of one with degree 2 of the other (a bend of the mean, a slope of the
  spread);
* **higher**: higher degrees;
* **interaction**: products of the candidate with conditions. They see ``y = a * b``, where neither
  ``a`` nor ``b`` alone has an effect.

Each sums squares of scalar products of residuals. Under independence the products have mean 0, and
the covariance of two of them is the mean of ``E[e e' | z] E[r r' | z]`` over the conditions, here
with both factors projected on functions of the conditions: without conditions that is what random
permutations give, with nominal ones what permutations within strata give. A sum of squares with so
large a mean and variance is referred to a scaled beta distribution, and so to a chi-square
(Satterthwaite; Bartlett).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product

import numpy as np

from komb.citests.mixed.conditions import FEATURE_LEFT, Given, pair_products
from komb.citests.mixed.features import Features
from komb.counts import gram_kernels
from komb.counts.fixedpoint import FloatArray, Int64Array

COMPONENTS = ("linear", "quadratic", "higher", "interaction")
LINEAR, QUADRATIC, HIGHER, INTERACTION = range(4)

HIGHER_WEIGHTS = {
    (2, 2): 1.0, (1, 3): 0.8, (3, 1): 0.3, (1, 4): 0.5, (2, 3): 0.5, (3, 2): 0.3, (4, 1): 0.2,
}  # fmt: skip
"""How much squares of higher degrees (of target and candidate) count; others do not."""

MOST_CONDITIONS_CROSSED = 3
"""With more conditions, a candidate is multiplied with one feature of each only."""

_NONE = -1  # no component
_ALMOST_ONE = 1.0 - 1e-15


@dataclass(frozen=True, slots=True)
class Components:
    """The components of one test.

    Attributes
    ----------
    statistic, freedom : float arrays
        One chi-square per component; without freedom there is nothing to compare.
    share_left : float
        Share of the candidate's variance, of degree 1, that the conditions leave.
    """

    statistic: FloatArray
    freedom: FloatArray
    share_left: float


NOTHING = Components(np.zeros(len(COMPONENTS)), np.zeros(len(COMPONENTS)), 0.0)


def compare(given: Given, candidate: Features, conditions: Sequence[Features]) -> Components:
    """Compare what conditions leave of a target and of a candidate."""
    features, degrees = _stack(candidate, conditions)
    if not len(features) or not len(given.residuals):
        return NOTHING
    squares = np.einsum("ij,ij->i", features, features)
    residuals = features - (features @ given.functions.T) @ given.functions
    gram = residuals @ residuals.T
    n_linear = np.count_nonzero(degrees == 1)
    share_left = float(gram.diagonal()[:n_linear].sum() / max(squares[:n_linear].sum(), 1e-300))
    inverse = np.empty_like(gram)
    gram_kernels.orthonormalise(gram, FEATURE_LEFT * squares, inverse)
    is_left = inverse.diagonal() > 0
    inverse, degrees = inverse[is_left], degrees[is_left]
    products = (given.residuals @ residuals.T) @ inverse.T
    component, weights = _assign(given.degrees, degrees)
    sums = np.empty((len(COMPONENTS), 3))
    pairs = inverse @ pair_products(residuals, given.spread) @ inverse.T
    gram_kernels.component_moments(products, weights, given.pairs, pairs, component, sums)
    return _refer(sums, component, given.freedom, share_left)


def _stack(candidate: Features, conditions: Sequence[Features]) -> tuple[FloatArray, Int64Array]:
    """Stack the features of a candidate and its products with conditions, which have degree 0."""
    products = list(_products(candidate, conditions))
    if not products:
        return candidate.own, candidate.degrees
    features = np.vstack([candidate.own, np.array(products)])
    degrees = np.zeros(len(features), dtype=np.int64)
    degrees[: len(candidate.degrees)] = candidate.degrees
    return features, degrees


def _products(candidate: Features, conditions: Sequence[Features]) -> Iterator[FloatArray]:
    """Yield products of features of a candidate with some of its conditions."""
    if len(conditions) > MOST_CONDITIONS_CROSSED:
        for condition in conditions:
            yield from (candidate.joint[:1] * own for own in _first(condition))
        return
    for condition in conditions:
        for a, b in product(candidate.joint, condition.joint):
            yield a * b
    for n_factors in range(2, len(conditions) + 1):
        for chosen in combinations(conditions, n_factors):
            for factors in product(candidate.sharpest, *(each.sharpest for each in chosen)):
                yield reduce(np.multiply, factors)


def _first(condition: Features) -> FloatArray:
    return condition.joint if condition.is_nominal else condition.joint[:1]


def _assign(of_target: Int64Array, of_candidate: Int64Array) -> tuple[Int64Array, FloatArray]:
    """Say to which component each pair of degrees belongs, and how much it counts there."""
    component = np.full((len(of_target), len(of_candidate)), _NONE, dtype=np.int64)
    weights = np.ones(component.shape)
    target, candidate = of_target[:, None], of_candidate[None, :]
    component[(target == 1) & (candidate == 0)] = INTERACTION
    component[(target == 1) & (candidate == 1)] = LINEAR
    component[(target + candidate == 3) & (candidate > 0)] = QUADRATIC
    for (own, other), weight in HIGHER_WEIGHTS.items():
        is_pair = (target == own) & (candidate == other)
        component[is_pair], weights[is_pair] = HIGHER, weight
    return component, weights


def _refer(
    sums: FloatArray, component: Int64Array, rows_left: int, share_left: float
) -> Components:
    """Turn sums of squares with their moments into chi-squares."""
    statistic, freedom = np.zeros(len(sums)), np.zeros(len(sums))
    for own, (total, mean, variance) in enumerate(sums.tolist()):
        if mean <= 0 or variance <= 0:
            continue
        is_own = component == own
        n_shared = min(int(is_own.any(axis=1).sum()), int(is_own.any(axis=0).sum()))
        freedom[own] = 2.0 * mean**2 / variance
        room = n_shared * rows_left
        if freedom[own] >= room - 2:
            freedom[own] = 0.0
            continue
        share = min(total / mean * freedom[own] / room, _ALMOST_ONE)
        statistic[own] = -(room - 0.5 * freedom[own] - 1.0) * np.log1p(-share)
    return Components(statistic, freedom, share_left)
