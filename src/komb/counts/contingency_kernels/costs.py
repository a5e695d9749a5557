"""Which way of counting is the cheapest."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import numpy as np

from komb.counts.compiling import inner
from komb.counts.contingency_kernels.buffers import MAX_DENSE_CELLS

# Costs in nanoseconds, measured by benchmarks/crossover.py on the machine komb is developed on.
# They only choose the way of counting: speed depends on them, an answer never does.
COST_WORD = 0.28  # AND and popcount of one 64-row word
COST_SEGMENT = 4.5  # starting one run of words
COST_CELL = 0.75  # clearing and summing one cell of a dense table
COST_HISTOGRAM_ROW = 0.65
COST_LABELLED_ROW = 2.6
COST_LABELLING_ROW = 3.2  # numbering the strata, once per given set
# More strata than any limit they are compared with, yet times |Y| |X| they still fit 64 bits.
MANY_STRATA = np.int64(1 << 24)
POPCOUNT, HISTOGRAM, BY_STRATUM = range(3)


@inner
def cheapest(n_strata, product, levels, n_y, n_rows, n_words, is_packed, labelling):
    """Choose a way of counting one more column; ``labelling`` is what labels cost per row."""
    way, cost = BY_STRATUM, n_rows * (COST_LABELLED_ROW + labelling)
    cells = product * n_y * levels
    if cells <= MAX_DENSE_CELLS:
        histogram = n_rows * COST_HISTOGRAM_ROW + cells * COST_CELL
        if histogram < cost:
            way, cost = HISTOGRAM, histogram
    cells = n_strata * n_y * levels
    if is_packed and cells <= MAX_DENSE_CELLS:
        words = n_words * COST_WORD + n_y * COST_SEGMENT
        if (n_strata - 1) * (levels - 1) * words + cells * COST_CELL < cost:
            way = POPCOUNT
    return way


@inner
def size_up(given, prepared, scratch):
    """How many strata ``given`` could have, and whether bitmaps are the way to list them."""
    n_rows = prepared.codes.shape[1]
    product = 1
    n_words = prepared.bitmaps.shape[1]
    is_packed = n_words > 0 and prepared.bitmaps.shape[0] > 1  # else no column has bitmaps
    for column in given:
        product = min(product * prepared.cardinalities[column], MANY_STRATA)
        is_packed = is_packed and prepared.level_start[column] >= 0
    is_packed = is_packed and product <= scratch.strata.shape[1]
    is_packed = is_packed and product * n_words * COST_WORD < n_rows * COST_LABELLING_ROW
    return product, is_packed
