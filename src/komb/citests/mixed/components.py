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

Most tests are decided sooner: if the variances were the same whatever the conditions are, and the
p-value is above ``UNLIKELY``, that is the p-value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product

import numpy as np

from komb.citests.measure import BoolArray
from komb.citests.mixed.combination import COMPONENTS, combine
from komb.citests.mixed.conditions import FEATURE_LEFT, Given, orthonormal
from komb.citests.mixed.features import Features
from komb.counts import gram_kernels
from komb.counts.fixedpoint import FloatArray, Int64Array

LINEAR, QUADRATIC, HIGHER, INTERACTION = range(4)

HIGHER_WEIGHTS = {
    (2, 2): 1.0, (1, 3): 0.8, (3, 1): 0.3, (1, 4): 0.5, (2, 3): 0.5, (3, 2): 0.3, (4, 1): 0.2,
}  # fmt: skip
"""How much squares of higher degrees (of target and candidate) count; others do not."""

MOST_CONDITIONS_CROSSED = 3
"""With more conditions, a candidate is multiplied with one feature of each only."""

UNLIKELY = 0.3
"""Where a p-value under equal variances is above, it is the p-value."""

_NUMBERS_AT_ONCE = 2_000_000  # in features of candidates that are compared together
_ALMOST_ONE = 1.0 - 1e-15


@dataclass(frozen=True, slots=True)
class Components:
    """The components of some tests."""

    # one chi-square per component; without freedom there is nothing to compare
    statistic: FloatArray
    freedom: FloatArray  # one chi-square per component; without freedom there is nothing to compare
    # share of each candidate's variance, of degree 1, that the conditions leave
    share_left: FloatArray

    @classmethod
    def nothing(cls, n_tests: int) -> Components:
        """Return tests in which there is nothing to compare."""
        shape = n_tests, len(COMPONENTS)
        return cls(np.zeros(shape), np.zeros(shape), np.zeros(n_tests))

    def put(self, places: Sequence[int], others: Components) -> None:
        """Put others into some places."""
        self.statistic[places] = others.statistic
        self.freedom[places] = others.freedom
        self.share_left[places] = others.share_left


def compare(
    given: Given,
    candidates: Sequence[Features],
    conditions: Sequence[Features],
    unlikely: float = UNLIKELY,
) -> Components:
    """Compare what conditions leave of a target and of each of some candidates."""
    components = Components.nothing(len(candidates))
    alike: dict[tuple[int, ...], list[int]] = {}
    for place, candidate in enumerate(candidates):
        key = (len(candidate.own), len(candidate.joint), int(candidate.is_nominal))
        if len(candidate.own) and len(given.residuals):
            alike.setdefault(key, []).append(place)
    for places in alike.values():
        factors = _Factors(candidates[places[0]], conditions)
        step = max(1, _NUMBERS_AT_ONCE // (factors.n_features * given.functions.shape[1]))
        for first in range(0, len(places), step):
            some = places[first : first + step]
            features = factors.multiply([candidates[place] for place in some])
            components.put(some, _compare_alike(given, features, factors.degrees, unlikely))
    return components


def _compare_alike(
    given: Given, features: FloatArray, degrees: Int64Array, unlikely: float
) -> Components:
    """Compare with candidates that have features of the same degrees."""
    n_candidates, n_features, n_rows = features.shape
    flat = features.reshape(-1, n_rows)
    fitted = (flat @ given.functions.T).reshape(n_candidates, n_features, -1)
    grams = features @ features.transpose(0, 2, 1)
    squares = np.einsum("kii->ki", grams).copy()
    grams -= fitted @ fitted.transpose(0, 2, 1)  # of what the conditions leave
    inverses = orthonormal(grams, FEATURE_LEFT * squares)
    correlations = _keep_alike(inverses, int(np.count_nonzero(degrees)))
    products = (given.residuals @ flat.T).reshape(-1, n_candidates, n_features)
    products = products.transpose(1, 0, 2) @ inverses.transpose(0, 2, 1)
    weights = _weights(given.degrees, degrees)
    totals = np.einsum("kjm,cjm->kc", products**2, weights)
    is_left = np.einsum("kii->ki", inverses) > 0
    moments = _equal_moments(weights, is_left, correlations, given.freedom)
    n_shared = _count_shared(weights, is_left)
    statistic, freedom = _refer(totals, moments, n_shared * given.freedom)
    asked = np.flatnonzero(combine(statistic, freedom)[0] <= np.log2(unlikely))
    if len(asked) and len(given.functions) > 1:  # without conditions variances are equal
        robust = np.empty((len(asked), len(COMPONENTS), 2))
        for candidate, moments in zip(asked, robust, strict=True):
            left = inverses[candidate] @ features[candidate]
            left -= (inverses[candidate] @ fitted[candidate]) @ given.functions
            covariances = _covariances(given, left, degrees)
            gram_kernels.component_moments(weights, covariances, moments)
        statistic[asked], freedom[asked] = _refer(
            totals[asked], robust, n_shared[asked] * given.freedom
        )
    is_linear = degrees == 1
    left = np.einsum("kii->ki", grams)[:, is_linear].sum(axis=1)
    return Components(statistic, freedom, left / squares[:, is_linear].sum(axis=1))


def _keep_alike(inverses: FloatArray, n_own: int) -> FloatArray:
    """Let products with conditions be as alike as they are, and return their correlations.

    Scores and signs are alike, so the products are. If each counts by itself, what they have in
    common counts several times, and that is what most interactions are.
    """
    own = inverses[:, n_own:, n_own:].copy()
    is_left = np.einsum("kii->ki", own) > 0
    np.einsum("kii->ki", own)[~is_left] = 1.0
    factors = np.linalg.inv(own) * is_left[:, :, None]
    factors /= np.sqrt(np.maximum((factors**2).sum(axis=2, keepdims=True), 1e-300))
    inverses[:, n_own:] = factors @ inverses[:, n_own:]
    correlations: FloatArray = factors @ factors.transpose(0, 2, 1)
    return correlations


def _covariances(given: Given, left: FloatArray, degrees: Int64Array) -> FloatArray:
    """Covariances of products of residuals with what is left of a candidate, pair by pair.

    Shape ``(n_target, n_target, n_features, n_features)``; zero for pairs that no component has.
    """
    n_target, n_features = len(given.residuals), len(left)
    n_own = int(np.count_nonzero(degrees))  # products with conditions are behind, with degree 0
    covariances = np.zeros((n_target, n_target, n_features, n_features))
    for (i, j), of_rows in given.covariances.items():
        both_first = given.degrees[i] == given.degrees[j] == 1
        for part in (slice(0, n_own), slice(n_own, n_features if both_first else n_own)):
            own = (left[part] * of_rows) @ left[part].T
            covariances[i, j, part, part] = covariances[j, i, part, part] = own
    return covariances


class _Factors:
    """What candidates that are alike are multiplied with.

    Attributes
    ----------
    degrees : int array
        Of the features of a candidate, and of its products with conditions: those have 0.
    n_features : int
    """

    def __init__(self, candidate: Features, conditions: Sequence[Features]) -> None:
        self._n_joint = len(candidate.joint)
        self._sharp = slice(0 if candidate.is_nominal else -1, None)
        self._of_joint: list[FloatArray] = []  # with which all features are multiplied
        self._of_sharp: list[FloatArray] = []  # and those that stand for the candidate
        if len(conditions) > MOST_CONDITIONS_CROSSED:
            self._n_joint = min(1, self._n_joint)
            for each in conditions:
                self._of_joint += [*(each.joint if each.is_nominal else each.joint[:1])]
        else:
            for each in conditions:
                self._of_joint += [*each.joint]
            for n_factors in range(2, len(conditions) + 1):
                for chosen in combinations(conditions, n_factors):
                    crossed = product(*(each.sharpest for each in chosen))
                    self._of_sharp += [reduce(np.multiply, factors) for factors in crossed]
        n_products = self._n_joint * len(self._of_joint)
        n_products += len(candidate.sharpest) * len(self._of_sharp)
        zeros = np.zeros(n_products, dtype=np.int64)
        self.degrees = np.concatenate([candidate.degrees, zeros])
        self.n_features = len(self.degrees)

    def multiply(self, candidates: Sequence[Features]) -> FloatArray:
        """Return features and products of each candidate."""
        n_own, n_rows = candidates[0].own.shape
        features = np.empty((len(candidates), self.n_features, n_rows))
        for own, candidate in zip(features, candidates, strict=True):
            own[:n_own] = candidate.own
            place = n_own
            for factor in self._of_joint:
                np.multiply(
                    candidate.joint[: self._n_joint], factor, out=own[place : place + self._n_joint]
                )
                place += self._n_joint
            sharp = candidate.joint[self._sharp]
            for factor in self._of_sharp:
                np.multiply(sharp, factor, out=own[place : place + len(sharp)])
                place += len(sharp)
        return features


def _weights(of_target: Int64Array, of_candidate: Int64Array) -> FloatArray:
    """Say how much each pair of features counts in each component; products have degree 0."""
    target, candidate = of_target[:, None], of_candidate[None, :]
    weights = np.zeros((len(COMPONENTS), len(of_target), len(of_candidate)))
    weights[INTERACTION, (target == 1) & (candidate == 0)] = 1.0
    weights[LINEAR, (target == 1) & (candidate == 1)] = 1.0
    weights[QUADRATIC, (target + candidate == 3) & (candidate > 0)] = 1.0
    for (own, other), weight in HIGHER_WEIGHTS.items():
        weights[HIGHER, (target == own) & (candidate == other)] = weight
    return weights


def _equal_moments(
    weights: FloatArray, is_left: BoolArray, correlations: FloatArray, rows_left: int
) -> FloatArray:
    """Means and variances of components if variances are the same whatever the conditions are."""
    mean = np.einsum("cjm,km->kc", weights, is_left) / rows_left
    variance = np.einsum("cjm,km->kc", weights**2, is_left)
    n_first = np.count_nonzero(weights[INTERACTION].any(axis=1))
    variance[:, INTERACTION] = n_first * (correlations**2).sum(axis=(1, 2))
    return np.stack([mean, 2.0 * variance / rows_left**2], axis=-1)


def _count_shared(weights: FloatArray, is_left: BoolArray) -> Int64Array:
    """How many features of target or candidate, the fewer of the two, are in each component."""
    counts = (weights > 0)[None] & is_left[:, None, None, :]
    of_target = counts.any(axis=3).sum(axis=2)
    shared: Int64Array = np.minimum(of_target, counts.any(axis=2).sum(axis=2))
    return shared


def _refer(
    totals: FloatArray, moments: FloatArray, room: Int64Array
) -> tuple[FloatArray, FloatArray]:
    """Turn sums of squares with their moments into chi-squares with their freedoms."""
    mean, variance = moments[..., 0], moments[..., 1]
    freedom = np.zeros(totals.shape)
    np.divide(2.0 * mean**2, variance, out=freedom, where=(mean > 0) & (variance > 0))
    freedom[freedom >= room - 2] = 0.0
    has_freedom = freedom > 0
    share = np.zeros(totals.shape)
    np.divide(totals * freedom, mean * room, out=share, where=has_freedom)
    share = np.minimum(share, _ALMOST_ONE)
    statistic = -(room - 0.5 * freedom - 1.0) * np.log1p(-share)
    return np.where(has_freedom, statistic, 0.0), freedom
