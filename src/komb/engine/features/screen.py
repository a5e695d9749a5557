"""A quick look at many tests, to leave out those that are far from strong.

A sweep asks of thousands of sets whether a candidate depends strongly on the target given one of
them, and hardly any does. Here conditions are held fixed by a line and a parabola each, and no
variance depends on them. What is left of the target, and its products with the conditions, are
compared with all candidates at once, in one product of matrices. A test is made only if that shows
``SHARE`` of the evidence that is looked for, in one product of features or in a sum of squares.

What can be missed is a dependence of which features of the target of degree 1 and 2 show nothing
like that: one that a crooked function of a condition hides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.engine.features.columns import BoolArray, FeatureColumns
from komb.engine.fixed_point import FloatArray, Int64Array
from komb.engine.kernels import gram as kernels

SHARE = 0.5
"""Of the evidence that is looked for, in bits."""

ROUGHEST_FIT, LARGEST_DEGREE = 2.0, 2
"""Cost of the functions of a condition, and degree of the features of a target."""

FEW = 4
"""Less than all candidates divided by this are looked at by themselves."""

_Singles = npt.NDArray[np.float32]  # whoever passes is tested again, in full


@dataclass(frozen=True, slots=True)
class Features:
    """Features of one column in all rows, zero where it is missing."""

    own: FloatArray  # as a target or a candidate
    degrees: Int64Array  # those of ``own``
    joint: FloatArray  # that are multiplied with those of other columns
    smooth: FloatArray  # functions of the column as a condition, with their costs
    costs: FloatArray
    is_nominal: bool

    @classmethod
    def of(cls, columns: FeatureColumns, number: int) -> Features:
        """Make the features of a column."""
        rows, column = columns.all_rows, columns.column(number)
        ends = np.cumsum([len(column.degrees), column.n_joint, len(column.costs)])
        n_blocks, n_features = columns.n_blocks, int(ends[-1])
        blocks = np.empty((n_blocks, n_features, columns.length))
        kernels.make_features(rows.record, number, blocks)
        shape = n_features, n_blocks * columns.length
        every = blocks.transpose(1, 0, 2).reshape(shape)[:, : columns.n_rows]
        is_known = columns.are_known([number])
        if is_known is not None:
            every = every * is_known
        own, joint, smooth = np.split(every, ends[:2])
        degrees, costs = np.array(column.degrees, np.int64), np.array(column.costs)
        return cls(own, degrees, joint, smooth, costs, column.is_nominal)

    @property
    def nbytes(self) -> int:
        """Memory that they take, in bytes."""
        return int(self.own.nbytes + self.joint.nbytes + self.smooth.nbytes)


@dataclass(frozen=True, slots=True)
class Screen:
    """Candidates that are looked at together."""

    features: _Singles  # those of all candidates, one candidate after the other
    variances: _Singles
    sizes: Int64Array  # how many features each candidate has

    @classmethod
    def of(cls, candidates: Iterable[Features]) -> Screen:
        """Put the features of candidates together."""
        parts = [
            (each.own if each.is_nominal else _with_side(each)).astype(np.float32)
            for each in candidates
        ]
        features = np.concatenate(parts)
        squares = np.einsum("ij,ij->i", features, features)
        variances = np.maximum(squares / features.shape[1], np.float32(1e-12))
        return cls(features, variances, np.array([len(part) for part in parts], dtype=np.int64))

    @property
    def _starts(self) -> Int64Array:
        starts: Int64Array = np.cumsum(self.sizes) - self.sizes
        return starts

    def taken(self, candidates: Sequence[int]) -> Screen:
        """Return a screen of some candidates."""
        starts, sizes = self._starts, self.sizes
        rows = np.concatenate([np.arange(starts[x], starts[x] + sizes[x]) for x in candidates])
        return Screen(self.features[rows], self.variances[rows], sizes[list(candidates)])

    def possible(
        self,
        target: Features,
        candidates: Sequence[int],
        conditions: Sequence[Features],
        is_known: BoolArray | None,
        bits: float,
    ) -> BoolArray:
        """Whether each of some candidates could depend on a target by so many bits."""
        functions = _functions(conditions, target.own.shape[1], is_known)
        left = target.own[target.degrees <= LARGEST_DEGREE].astype(np.float64)
        if is_known is not None:
            left *= is_known
        left -= (left @ functions.T) @ functions
        vectors = left.astype(np.float32)
        first = vectors[target.degrees[: len(left)] == 1]
        if conditions:
            vectors = np.concatenate([vectors, _cross(first, _factors(conditions))])
        if FEW * len(candidates) < len(self.sizes):
            return self.taken(candidates)._are_possible(vectors, functions, len(left), bits)
        every = self._are_possible(vectors, functions, len(left), bits)
        return every[np.asarray(candidates, dtype=np.int64)]

    def _are_possible(
        self, vectors: _Singles, functions: FloatArray, n_left: int, bits: float
    ) -> BoolArray:
        """Compare all candidates with what is left of a target, and with its products."""
        lengths = np.maximum(np.einsum("ij,ij->i", vectors, vectors), np.float32(1e-30))
        squares = (vectors @ self.features.T) ** 2 / (self.variances * lengths[:, None])
        fitted = functions.astype(np.float32) @ self.features.T
        fitted_share = np.einsum("ij,ij->j", fitted, fitted) / (self.variances * vectors.shape[1])
        squares[:n_left] /= np.maximum(1.0 - fitted_share, kernels.FEATURE_LEFT)
        return _are_large(squares, n_left, self._starts, self.sizes, SHARE * bits)


def _with_side(numeric: Features) -> FloatArray:
    """Features of numbers, and on which side of the median they are."""
    return np.concatenate([numeric.own, numeric.joint[1:]])


def _functions(
    conditions: Sequence[Features], n_rows: int, is_known: BoolArray | None
) -> FloatArray:
    """Return orthonormal functions of single conditions, the constant one first."""
    parts: list[Any] = [np.ones((1, n_rows))]
    parts += [each.smooth[each.costs <= ROUGHEST_FIT] for each in conditions]
    pool: FloatArray = np.concatenate(parts)
    if is_known is not None:
        pool = pool * is_known
    gram = pool @ pool.T
    inverse = np.empty_like(gram)
    kernels.orthonormalise(gram, gram.diagonal().copy(), kernels.FUNCTION_LEFT, inverse)
    return inverse[inverse.diagonal() > 0] @ pool


def _factors(conditions: Sequence[Features]) -> _Singles:
    """Return what candidates are multiplied with: features of conditions, and of several."""
    factors = [each.joint.astype(np.float32) for each in conditions]
    sharpest = [
        joint if each.is_nominal else joint[-1:]  # what stands for it in products of more than two
        for joint, each in zip(factors, conditions, strict=True)
    ]
    for size in range(2, len(conditions) + 1):
        factors += [reduce(_cross, chosen) for chosen in combinations(sharpest, size)]
    return np.concatenate(factors)


def _cross(first: _Singles, second: _Singles) -> _Singles:
    """Multiply each of some features with each of others."""
    return (first[:, None] * second).reshape(-1, second.shape[1])


def _are_large(
    squares: _Singles, n_left: int, starts: Int64Array, sizes: Int64Array, bits: float
) -> BoolArray:
    """Whether the largest square of a candidate, or one of two sums, has so many bits."""
    has_any = sizes > 0
    is_large = np.zeros(len(sizes), dtype=np.bool_)
    if not has_any.any() or not len(squares):  # a target of rare levels has no features either
        return is_large
    starts, sizes = starts[has_any], sizes[has_any]
    found = np.maximum.reduceat(squares.max(axis=0), starts) >= _least(1, bits)
    for part in (squares[:n_left], squares[n_left:]):
        if len(part):
            sums = np.add.reduceat(part.sum(axis=0), starts)
            distinct, places = np.unique(sizes, return_inverse=True)
            least = np.array([_least(len(part) * size, bits) for size in distinct.tolist()])
            found |= sums >= least[places]
    is_large[has_any] = found
    return is_large


@lru_cache(maxsize=4096)
def _least(freedom: int, bits: float) -> float:
    """Return the chi-square with so many bits of evidence."""
    from scipy.special import chdtri

    return float(chdtri(freedom, 2.0**-bits))
