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
def component_moments(weights, covariances, moments):
    """Mean and variance of weighted sums of squares under independence."""
    n_components, n_target, n_own = weights.shape
    for c in range(n_components):
        mean = variance = 0.0
        for j in range(n_target):
            for k in range(n_own):
                own = weights[c, j, k]
                if own == 0.0:
                    continue
                mean += own * covariances[j, j, k, k]
                for i in range(n_target):
                    for m in range(n_own):
                        shared = covariances[j, i, k, m]
                        variance += 2.0 * own * weights[c, i, m] * shared * shared
        moments[c, 0], moments[c, 1] = mean, variance
