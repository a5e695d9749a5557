"""Small matrices of a test on features: what is orthonormal, and what is expected by chance."""

from __future__ import annotations

import numpy as np

from komb.counts.compiling import kernel


@kernel
def orthonormalise(gram, least, inverse):
    """Make vectors orthonormal in their order, given their scalar products.

    Row ``j`` of ``inverse`` are the coefficients of the new vector; it is zero if less than
    ``least[j]`` of the square of the old one is left. ``gram`` is overwritten.
    """
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
def component_moments(products, weights, of_target, of_candidate, component, sums):
    """Sum the squares of one component, with their mean and variance under independence.

    Parameters
    ----------
    products, weights : float arrays (n_target, n_candidate)
        Scalar products of features, and how much their squares count in each component.
    of_target, of_candidate : float arrays (n_functions, n, n)
        Scalar products of pairs of features with functions of the conditions. The covariance of two
        products is the sum over functions of one times the other.
    component : int array (n_target, n_candidate)
        To which component a product belongs.
    sums : float array (n_components, 3)
        Gets sums, means and variances.
    """
    n_target, n_candidate = products.shape
    sums[:] = 0.0
    for j in range(n_target):
        for k in range(n_candidate):
            own = component[j, k]
            if own < 0:
                continue
            weight = weights[j, k]
            sums[own, 0] += weight * products[j, k] * products[j, k]
            for i in range(n_target):
                for m in range(n_candidate):
                    if component[i, m] != own:
                        continue
                    shared = 0.0
                    for b in range(len(of_target)):
                        shared += of_target[b, j, i] * of_candidate[b, k, m]
                    sums[own, 2] += 2.0 * weight * weights[i, m] * shared * shared
                    if i == j and m == k:
                        sums[own, 1] += weight * shared
