"""Small matrices of a test on features: what is orthonormal, and what is expected by chance."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner, kernel


@inner
def _orthonormalise(gram, least, inverse):
    size = len(gram)
    for j in range(size):
        square = gram[j, j]
        for k in range(j):
            if inverse[k, k] == 0.0:
                gram[j, k] = 0.0
                continue
            product = gram[j, k]
            for i in range(k):
                product -= gram[j, i] * gram[k, i]
            gram[j, k] = product * inverse[k, k]
            square -= gram[j, k] * gram[j, k]
        for k in range(size):
            inverse[j, k] = 0.0
        if square <= least[j]:
            for k in range(j):
                gram[j, k] = 0.0
            continue
        scale = 1.0 / np.sqrt(square)
        inverse[j, j] = scale
        for k in range(j):
            product = 0.0
            for i in range(k, j):
                product += gram[j, i] * inverse[i, k]
            inverse[j, k] = -product * scale


@kernel
def orthonormalise(grams, least, inverses):
    """Make vectors orthonormal in their order, given their scalar products, set by set.

    Row ``j`` of an inverse are the coefficients of the new vector; it is zero if no more than
    ``least[j]`` of the square of the old one is left. ``grams`` are overwritten.
    """
    for number in range(len(grams)):
        _orthonormalise(grams[number], least[number], inverses[number])


@kernel
def component_moments(weights, of_target, of_candidates, moments):
    """Mean and variance of weighted sums of squares under independence.

    Parameters
    ----------
    weights : float array (n_components, n_target, n_candidate)
        How much the square of each product of two features counts in each component.
    of_target : float array (n_functions, n_target, n_target)
    of_candidates : float array (n_candidates, n_functions, n_candidate, n_candidate)
        Scalar products of pairs of features with functions of the conditions. The covariance of two
        products is the sum over functions of one times the other.
    moments : float array (n_candidates, n_components, 2)
        Gets means and variances.
    """
    for number in range(len(of_candidates)):
        for c in range(len(weights)):
            mean, variance = _moments(weights[c], of_target, of_candidates[number])
            moments[number, c, 0], moments[number, c, 1] = mean, variance


@inner
def _moments(weights, of_target, of_candidate):
    """Mean and variance of one sum of squares."""
    n_target, n_own = weights.shape
    mean = variance = 0.0
    for j in range(n_target):
        for k in range(n_own):
            if weights[j, k] == 0.0:
                continue
            for i in range(n_target):
                for m in range(n_own):
                    if weights[i, m] == 0.0:
                        continue
                    shared = 0.0
                    for b in range(len(of_target)):
                        shared += of_target[b, j, i] * of_candidate[b, k, m]
                    variance += 2.0 * weights[j, k] * weights[i, m] * shared * shared
                    if i == j and m == k:
                        mean += weights[j, k] * shared
    return mean, variance
