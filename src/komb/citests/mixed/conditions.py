"""Functions of the conditions, and what they leave of a target.

The basis has the functions of each condition and products of functions of two or three, the
cheapest first: a product costs what its factors do, and more for each further one. A few are always
in; of the others, those that the target depends on, and so do curves of what they predict
(:mod:`~komb.citests.mixed.curves`). So a linear Gaussian model costs hardly more than its own
parameters, and a rough one still finds what it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, combinations_with_replacement

import numpy as np

from komb.citests.measure import BoolArray
from komb.citests.mixed.curves import curves_of
from komb.citests.mixed.features import ROUGHEST, SMOOTHEST, Features, roughest
from komb.counts import gram_kernels
from komb.counts.fixedpoint import FloatArray, Int64Array

PRODUCT = 2.0
"""What each factor of a product costs beyond the first."""

MOST_FACTORS = 3

BASE_SIZE = 0.8
"""Functions that are always in, in terms of the rows to the power of 0.4."""

POOL_SIZE = 3.5
"""Functions that may be in, in terms of the root of the rows; but no more than LARGEST_POOL."""

LARGEST_POOL = 200

SELECTION_LEVEL = 0.12
"""Of the test whether a target depends on a function; shared by the features of the target."""

COST_OF_SPREAD = 4.0
"""The spread of target and candidate may depend on functions of at most this cost."""

MOST_SPREAD_FUNCTIONS = 16

LARGEST_SHARE = 0.25
"""Of the rows: with more functions that have to be in, nothing is left to test."""

FUNCTION_LEFT, FEATURE_LEFT = 1e-6, 1e-3
"""Share of a square that must be left of a function, or of a feature, given those before."""

LARGEST_LEVERAGE = 0.95

Costs = tuple[float, ...]  # of the functions of a condition
Term = tuple[tuple[int, int], ...]  # (condition, function) of each factor


@dataclass(frozen=True)
class Given:
    """What the conditions leave of a target."""

    functions: FloatArray  # the basis, orthonormal
    in_spread: Int64Array  # the functions on which the spread of target and candidate may depend
    residuals: FloatArray  # what is left of the features of the target, orthonormal
    degrees: Int64Array  # of the features that are left

    @cached_property
    def covariances(self) -> dict[tuple[int, int], FloatArray]:
        """Covariance of two residuals given the conditions, row by row, of each pair of them.

        Their product, projected on the functions of ``in_spread``. Residuals in rows that the
        functions fit closely are too small, by what their leverage says.
        """
        spread = self.functions[self.in_spread]
        leverage = np.einsum("ij,ij->j", self.functions, self.functions)
        weights = 1.0 / (1.0 - np.minimum(leverage, LARGEST_LEVERAGE))
        return {
            (i, j): (spread @ (self.residuals[i] * self.residuals[j] * weights)) @ spread
            for i, j in combinations_with_replacement(range(len(self.residuals)), 2)
        }

    @property
    def nbytes(self) -> int:
        """Memory of functions, residuals and covariances, in bytes."""
        n_features = len(self.residuals)
        return self.functions.nbytes + self.residuals.nbytes * (1 + (n_features + 1) // 2)

    @property
    def freedom(self) -> int:
        """Rows less functions."""
        n_functions, n_rows = self.functions.shape
        return int(n_rows - n_functions)


class Conditions:
    """A pool of functions of some conditions, in the order of their costs.

    Parameters
    ----------
    columns : sequence of Features
        The conditions.
    n_rows : int

    Attributes
    ----------
    is_rich : bool
        Whether the conditions have so many features that nothing is left to test.
    """

    def __init__(self, columns: Sequence[Features], n_rows: int) -> None:
        terms, costs = _choose_terms(tuple(tuple(each.costs.tolist()) for each in columns), n_rows)
        self.is_rich = int(np.count_nonzero(costs <= SMOOTHEST)) > LARGEST_SHARE * n_rows
        if self.is_rich:
            return
        pool = np.empty((len(terms), n_rows))
        for row, term in zip(pool, terms, strict=True):
            _multiply([columns[i].smooth[j] for i, j in term], row)
        squares = np.einsum("ij,ij->i", pool, pool)
        inverse = orthonormal(pool @ pool.T, FUNCTION_LEFT * squares)
        is_kept = inverse.diagonal() > 0
        self._pool, self._inverse = pool, inverse[is_kept]
        self._costs = costs[is_kept]
        self._is_base = _base(self._costs, n_rows)
        n_terms = int(np.count_nonzero(costs <= self._costs[self._is_base][-1]))  # cheapest first
        self._base = self._inverse[self._is_base, :n_terms] @ pool[:n_terms]

    def given(self, target: Features) -> Given:
        """Choose the functions that a target depends on, and return what they leave of it."""
        own = self._with_spread(target)
        coefficients = (own @ self._pool.T) @ self._inverse.T
        squares = np.einsum("ij,ij->i", own, own)
        chosen = self._choose(coefficients, squares)
        others = self._inverse[chosen & ~self._is_base]
        functions = np.concatenate([self._base, others @ self._pool]) if len(others) else self._base
        fitted = coefficients[:, chosen]
        residuals = own - fitted @ functions
        curves = _choose_curves(functions, fitted, residuals, squares)
        if len(curves):
            functions = np.concatenate([functions, curves])
            residuals -= (residuals @ curves.T) @ curves
        inverse = orthonormal(residuals @ residuals.T, FEATURE_LEFT * squares)
        is_left = inverse.diagonal() > 0
        residuals = inverse[is_left] @ residuals
        cheap = np.flatnonzero(self._costs[chosen] <= COST_OF_SPREAD)
        return Given(functions, cheap[:MOST_SPREAD_FUNCTIONS], residuals, target.degrees[is_left])

    def _with_spread(self, target: Features) -> FloatArray:
        """Features of a target; that of degree 2 is the square of what is left of the first.

        Of the square itself the larger part is often due to the mean, which conditions move.
        """
        if not (target.degrees == 2).any() or len(self._costs) < 2:
            return target.own
        first = target.own[:1]
        coefficients = (first @ self._pool.T) @ self._inverse.T
        chosen = self._choose(coefficients, np.einsum("ij,ij->i", first, first))
        left = first - (coefficients[:, chosen] @ self._inverse[chosen]) @ self._pool
        variance = float(np.mean(left**2))
        if variance <= FEATURE_LEFT * float(np.mean(first**2)):  # rounding errors, or nearly so
            return target.own
        own = target.own.copy()
        own[target.degrees == 2] = left**2 / variance - 1.0
        return own

    def explained_share(self, target: Features) -> float:
        """Share of a target's variance, of degree 1, that the functions explain beyond chance."""
        if self.is_rich:
            return 0.0
        own = target.own[target.degrees == 1]
        coefficients = (own @ self._pool.T) @ self._inverse.T
        explained = (coefficients[:, 1:] ** 2).sum()
        total = (own**2).sum() - (coefficients[:, 0] ** 2).sum()
        chance = coefficients.shape[1] / own.shape[1]
        share = float(explained / total) if total > 0 else 0.0
        return float((share - chance) / (1.0 - chance))

    @property
    def nbytes(self) -> int:
        """Memory of the functions, in bytes."""
        return 0 if self.is_rich else self._pool.nbytes + self._base.nbytes

    def _choose(self, coefficients: FloatArray, squares: FloatArray) -> BoolArray:
        """Choose the base, and what a feature of the target depends on beyond it."""
        n_rows, base = self._pool.shape[1], self._is_base
        if base.all() or not len(squares):
            return base
        explained = coefficients**2
        beyond_base = squares - explained[:, base].sum(axis=1)
        beyond_all = np.maximum(squares - explained.sum(axis=1), 0.0)
        variance = np.minimum(
            beyond_base / (n_rows - np.count_nonzero(base)),
            beyond_all / max(n_rows - len(base), 0.2 * n_rows),
        )
        return base | _are_needed(explained, variance)


def _are_needed(explained: FloatArray, variance: FloatArray) -> BoolArray:
    """Whether some feature of a target depends on each of some functions."""
    from scipy.special import chdtri

    evidence = (explained / np.maximum(variance, 1e-300)[:, None]).max(axis=0)
    are_needed: BoolArray = evidence > chdtri(1.0, SELECTION_LEVEL / len(variance))
    return are_needed


def _choose_curves(
    functions: FloatArray, fitted: FloatArray, residuals: FloatArray, squares: FloatArray
) -> FloatArray:
    """Choose the curves of a fit that a target depends on, orthonormal to the functions."""
    n_functions, n_rows = functions.shape
    curves = curves_of(fitted[:, 1:] @ functions[1:], squares)
    if n_functions + len(curves) > LARGEST_SHARE * n_rows or not len(curves):
        return curves[:0]
    curves -= (curves @ functions.T) @ functions
    inverse = orthonormal(curves @ curves.T, np.full(len(curves), FEATURE_LEFT * n_rows))
    curves = inverse[inverse.diagonal() > 0] @ curves
    variance = np.einsum("ij,ij->i", residuals, residuals) / (n_rows - n_functions)
    return curves[_are_needed((residuals @ curves.T) ** 2, variance)]


def _multiply(factors: Sequence[FloatArray], result: FloatArray) -> None:
    """Multiply factors; of none at all the product is 1."""
    if len(factors) < 2:
        result[:] = factors[0] if factors else 1.0
        return
    np.multiply(factors[0], factors[1], out=result)
    for factor in factors[2:]:
        result *= factor


def orthonormal(grams: FloatArray, least: FloatArray) -> FloatArray:
    """Return coefficients that make vectors orthonormal, given their scalar products.

    Of one set of vectors or of several; a row is zero if no more than ``least`` of a square is
    left.
    """
    sets = np.array(grams if grams.ndim > 2 else grams[None])
    inverses = np.empty_like(sets)
    gram_kernels.orthonormalise(sets, least if grams.ndim > 2 else least[None], inverses)
    return inverses if grams.ndim > 2 else inverses[0]


def _base(costs: FloatArray, n_rows: int) -> BoolArray:
    """Mark the functions that are always in: all up to some cost."""
    room = BASE_SIZE * n_rows**0.4
    cost = SMOOTHEST
    for next_cost in np.unique(costs[costs > SMOOTHEST]):
        if np.count_nonzero(costs <= next_cost) > room:
            break
        cost = float(next_cost)
    is_base: BoolArray = costs <= cost
    return is_base


@lru_cache(maxsize=256)
def _choose_terms(columns: tuple[Costs, ...], n_rows: int) -> tuple[list[Term], FloatArray]:
    """Choose the terms of the pool with their costs: those of a cost all together, or none.

    Functions of one condition are few, so they go on where there is no room for products.
    """
    room, is_full = min(LARGEST_POOL, POOL_SIZE * n_rows**0.5), False
    terms: list[Term] = [()]
    costs = [0.0]
    for cost, n_factors in _groups(len(columns), n_rows):
        if is_full and (n_factors > 1 or cost > np.cbrt(n_rows)):
            continue
        group = list(_terms_of(columns, cost, n_factors))
        is_full = is_full or (len(terms) + len(group) > room and cost > SMOOTHEST)
        if not is_full or (n_factors == 1 and cost <= np.cbrt(n_rows)):
            terms += group
            costs += [cost] * len(group)
    return terms, np.array(costs)


def _groups(n_columns: int, n_rows: int) -> list[tuple[float, int]]:
    """Costs of terms and numbers of factors, the cheapest first."""
    steps = np.arange(SMOOTHEST, roughest(n_rows) + 0.5).tolist()
    n_most = min(n_columns, MOST_FACTORS)
    groups = [(cost, n) for cost in steps for n in range(1, n_most + 1)]
    return [(cost, n) for cost, n in groups if n == 1 or cost <= ROUGHEST]


def _terms_of(columns: Sequence[Costs], cost: float, n_factors: int) -> Iterator[Term]:
    """Yield the terms of a cost and a number of factors, in the order of columns."""
    left = cost - PRODUCT * (n_factors - 1)
    for chosen in combinations(range(len(columns)), n_factors):
        yield from _splits(columns, chosen, left)


def _splits(columns: Sequence[Costs], chosen: tuple[int, ...], cost: float) -> Iterator[Term]:
    """Yield the terms with one function of each of some columns that cost so much together."""
    first, *others = chosen
    for function, own in enumerate(columns[first]):
        if not others:
            if own == cost:
                yield ((first, function),)
        elif own < cost:
            for rest in _splits(columns, tuple(others), cost - own):
                yield ((first, function), *rest)
