"""Sizes of the arrays that kernels get and fill, and the names of their columns."""

from __future__ import annotations

WORDS_PER_BLOCK = 4  # bitmap segments are padded to 256 bits, one AVX2 register
MAX_DENSE_CELLS = 1 << 17  # half a MiB of counts: a larger dense table leaves the cache
LABELLED_CELLS = 1 << 20  # the same for a table that is cleared by its rows, not by its cells
DENSE_CELLS_PER_ROW = 0.5  # a given set's own table is counted densely up to so many cells per row

# columns of ``out_given`` and ``out_unions``
FIT, STRATA, LENGTH, FREEDOM, PEARSON, MEAN, VARIANCE, THIRD, SPLIT = range(9)
# further columns of ``out_unions``, for tables with missing values: the given set of each test
OWN_FIT, OWN_STRATA, _, OWN_ROWS = range(9, 13)  # the third is its length
# last axis of ``out_margins``
MARGIN_FIT, MARGIN_STRATA, MARGIN_LENGTH, MARGIN_SPLIT = range(4)
NOT_COUNTED = -1  # instead of a margin's strata

# places of ``Scratch.state``: the last set whose strata are on each stack, or -1, and what is ready
# for the present set
LAST_PACKED, LAST_GROUPED, HAS_BASE, HAS_LABELS, HAS_GROUPS = range(5)

# places of ``Labels.counts``
N_STRATA, N_RUNS, N_KEPT, N_SINGLE = range(4)

# columns of ``Labels.margins``: levels of the column, sums of 1 / n and of 1 / n^2 for x and y
LEVELS, INVERSE_X, INVERSE_Y, SQUARE_X, SQUARE_Y = range(5)
