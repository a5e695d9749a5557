"""Tests of all single columns at once: what each of them tells about a target by itself.

Score tests in the linear model of the responses (:class:`komb.engine.group_screen.Responses`) with
the covariates and an indicator for each level of a column.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from komb.engine.fixed_point import FloatArray, Int64Array
from komb.engine.group_tests import Target

_COLUMNS_AT_ONCE = 1024
_TOLERANCE = 1e-6  # of eigenvalues, relative to the largest


class SingleTests(NamedTuple):
    """Tests of all columns."""

    statistics: FloatArray
    df: FloatArray
    p_values: FloatArray


def test_singles(codes: npt.NDArray[Any], levels: Int64Array, target: Target) -> SingleTests:
    """Test the association of every column with a target, given its covariates."""
    responses, rank = target.standardised()
    covariates = np.column_stack((np.ones(len(responses)), target.covariates[target.is_known]))
    basis = np.linalg.svd(covariates, full_matrices=False)[0]
    statistics, df = np.empty(len(levels)), np.empty(len(levels))
    for first in range(0, len(levels), _COLUMNS_AT_ONCE):
        part = slice(first, first + _COLUMNS_AT_ONCE)
        own = codes[part][:, target.is_known]
        sizes, sums, shared = _sum_levels(own, levels[part], responses, basis, target.least_rows)
        covariances = -np.einsum("lcb,mcb->clm", shared, shared)
        places = np.arange(len(sizes))
        covariances[:, places, places] += sizes.T
        explained, ranks = _explain(covariances, sums.transpose(1, 0, 2))
        left_out, own_ranks = _explain(covariances[:, :1, :1], sums[:1].transpose(1, 0, 2))
        statistics[part], df[part] = explained - left_out, (ranks - own_ranks) * rank
    return SingleTests(statistics, df, np.where(df > 0, chdtrc(np.maximum(df, 1), statistics), 1.0))


def _sum_levels(
    codes: npt.NDArray[Any], levels: Int64Array, responses: FloatArray,
    basis: FloatArray, least_rows: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:  # fmt: skip
    """Rows, and sums of responses and covariates, by level; missing and rare ones come first."""
    both = np.column_stack((responses, basis))
    sizes, sums = [np.zeros(len(levels))], [np.zeros((len(levels), both.shape[1]))]
    for level in range(int(levels.max()) + 1):
        is_own = codes == level
        count, own = is_own.sum(axis=1).astype(float), is_own.astype(float) @ both
        is_out = (level >= levels) | (count < least_rows)
        sizes[0] += count * is_out
        sums[0] += own * is_out[:, None]
        sizes.append(count * ~is_out)
        sums.append(own * ~is_out[:, None])
    n_responses, total = responses.shape[1], np.array(sums)
    return np.array(sizes), total[..., :n_responses], total[..., n_responses:]


def _explain(covariances: FloatArray, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Quadratic forms of the sums in the inverse of their covariances, and ranks of these."""
    values, vectors = np.linalg.eigh(covariances)
    is_kept = values > np.maximum(_TOLERANCE * values[:, -1:], 1e-3)
    rotated = np.einsum("clm,clr->cmr", vectors, sums)
    weights = np.where(is_kept, 1.0 / np.where(is_kept, values, 1.0), 0.0)
    return np.einsum("cmr,cm->c", rotated**2, weights), is_kept.sum(axis=1).astype(float)
