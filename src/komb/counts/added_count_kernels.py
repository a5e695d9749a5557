"""Compiled loops over tables that were counted elsewhere."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import kernel
from komb.counts.contingency_kernels.buffers import FREEDOM, MEAN, PEARSON, THIRD, VARIANCE
from komb.counts.contingency_kernels.dense_tables import _pearson_dense
from komb.counts.expected_g_kernels import add_size, add_stratum


@kernel
def sum_strata(table, n_strata, n_y, levels, scale, variance_scale, third_scale, column_sums, out):
    """Add what Pearson's statistic needs of each stratum of ``table[stratum, y, x]`` to ``out``.

    As ``sum_dense`` of :mod:`~komb.counts.contingency_kernels.dense_tables`.
    """
    for stratum in range(n_strata):
        column_sums[:] = 0
        rows_seen = 0
        for y in range(n_y):
            cell = np.uint64((stratum * n_y + y) * levels)
            total = 0
            for x in range(np.uint64(levels)):
                column_sums[x] += table[cell + x]
                total += table[cell + x]
            rows_seen += total > 0
        columns_seen = 0
        for x in range(np.uint64(levels)):
            columns_seen += column_sums[x] > 0
        if columns_seen == 0:
            continue
        own, mean, variance, third = _pearson_dense(
            stratum, n_y, levels, rows_seen, columns_seen, table, column_sums, scale,
            variance_scale, third_scale,
        )  # fmt: skip
        out[FREEDOM] += (rows_seen - 1) * (columns_seen - 1)
        out[PEARSON] += own
        out[MEAN] += mean
        out[VARIANCE] += variance
        out[THIRD] += third


@kernel
def sum_margin_moments(by_x, by_y, sizes, cells, moments):
    """Add the mean and the variance of half of G in each stratum to those of a test.

    ``by_x[stratum, x]`` and ``by_y[stratum, y]`` are its margins.
    """
    x_sizes, y_sizes = sizes[0], sizes[1]
    for stratum in range(by_x.shape[0]):
        different_x = different_y = x_seen = y_seen = n_rows = 0
        for y in range(by_y.shape[1]):
            count = by_y[stratum, y]
            if count > 0:
                different_y = add_size(float(count), different_y, y_sizes)
                y_seen += 1
                n_rows += count
        if y_seen < 2:
            continue
        for x in range(by_x.shape[1]):
            if by_x[stratum, x] > 0:
                different_x = add_size(float(by_x[stratum, x]), different_x, x_sizes)
                x_seen += 1
        if x_seen > 1:
            add_stratum(n_rows, different_x, x_sizes, different_y, y_sizes, cells, moments)
