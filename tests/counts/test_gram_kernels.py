"""Kernels for small matrices, against plain linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

from komb.counts.gram_kernels import component_moments, orthonormalise


def test_vectors_become_orthonormal_and_copies_are_dropped() -> None:
    vectors = np.random.default_rng(0).normal(size=(4, 30))
    vectors[2] = vectors[0] - 2 * vectors[1]
    gram = vectors @ vectors.T
    inverse = np.empty((1, 4, 4))
    orthonormalise(gram[None].copy(), 1e-6 * gram.diagonal()[None], inverse)
    made = inverse[0] @ vectors
    assert made @ made.T == pytest.approx(np.diag([1.0, 1.0, 0.0, 1.0]), abs=1e-10)


def test_moments_are_traces_of_the_covariance() -> None:
    rng = np.random.default_rng(1)
    of_target, of_candidate = rng.normal(size=(5, 2, 2)), rng.normal(size=(5, 3, 3))
    of_target += of_target.transpose(0, 2, 1)
    of_candidate += of_candidate.transpose(0, 2, 1)
    weights = rng.random((2, 2, 3)) * [[[1.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]]
    moments = np.empty((2, 2))
    component_moments(weights, np.einsum("bji,bkm->jikm", of_target, of_candidate), moments)
    covariance = sum(np.kron(a, c) for a, c in zip(of_target, of_candidate, strict=True))
    for own, (mean, variance) in zip(weights, moments, strict=True):
        weighted = np.diag(own.ravel()) @ covariance
        assert mean == pytest.approx(np.trace(weighted))
        assert variance == pytest.approx(2 * np.trace(weighted @ weighted))
