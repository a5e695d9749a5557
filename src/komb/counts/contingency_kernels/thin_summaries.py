"""The kernel for tables without missing values, by whatever way of counting is the cheapest."""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

from komb.counts.compiling import inner, kernel
from komb.counts.contingency_kernels.buffers import (
    HAS_BASE,
    HAS_GROUPS,
    HAS_LABELS,
    LAST_GROUPED,
    LAST_PACKED,
)
from komb.counts.contingency_kernels.costs import BY_STRATUM, size_up
from komb.counts.contingency_kernels.labelled_rows import (
    fits_table,
    label_rows,
    list_labelled,
    sum_labelled,
)
from komb.counts.contingency_kernels.sorted_rows import group_rows, list_grouped, sum_grouped
from komb.counts.contingency_kernels.summaries import (
    can_list,
    choose_way,
    find_thin,
    list_given,
    sum_given,
    sum_splits,
    sum_union,
)


@inner
def _list_given(given, index, product, is_packed, prepared, terms, scratch, labels, groups):
    """List the counts of a given set; returns strata, list lengths and target length."""
    wants_lengths = terms.length_below > 0
    state = scratch.state
    state[HAS_BASE] = state[HAS_LABELS] = state[HAS_GROUPS] = 0
    if can_list(product, is_packed, prepared):
        return list_given(given, index, product, is_packed, prepared, terms, scratch)
    if label_rows(given[index], prepared, labels):
        state[HAS_LABELS] = 1
        return list_labelled(labels, terms.lengths, wants_lengths, scratch)
    group_rows(given, index, prepared, scratch, groups)
    return list_grouped(given.shape[1], groups, terms.lengths, wants_lengths, scratch)


@inner
def _has_labels(given, levels, prepared, state, labels):
    """Whether rows are labelled, now at the latest, and a column of ``levels`` fits the table."""
    if state[HAS_LABELS] == 0 and state[HAS_GROUPS] == 0:
        state[HAS_LABELS] = label_rows(given, prepared, labels)
    return state[HAS_LABELS] == 1 and fits_table(levels, labels)


@inner
def _sum_unions(given, index, lo, hi, candidates, n_strata, product, is_packed, thin, prepared,
                terms, scratch, labels, groups, out):  # fmt: skip
    """Count and sum the table of a given set with each of its candidates."""
    state = scratch.state
    for j in range(lo, hi):
        column = candidates[j]
        levels, x = prepared.cardinalities[column], prepared.codes[column]
        is_thin = min(x.size, n_strata * levels) > thin
        way = choose_way(column, n_strata, product, is_packed, prepared, state)
        if way != BY_STRATUM:
            sum_union(given, index, way, j, column, n_strata, product, is_thin, prepared, terms,
                      scratch, out)  # fmt: skip
        elif _has_labels(given[index], levels, prepared, state, labels):
            sum_labelled(x, column, levels, terms, is_thin, labels, out, j)
        else:
            if state[HAS_GROUPS] == 0:
                group_rows(given, index, prepared, scratch, groups)
            sum_grouped(given.shape[1], x, column, terms, is_thin, groups, out, j)


@kernel
def summarise(prepared, terms, scratch, labels, groups, given, candidate_start, candidates,
              length_class, out_given, out_splits, out_unions):  # fmt: skip
    """Summarise a batch of sets ``given[i]`` and ``given[i] + {candidate}`` against the target.

    ``out_given[i]`` gets fit, strata and target length of ``given[i]``; ``out_unions[j]`` fit,
    strata, target length, adjusted freedom and Pearson's sum of the table of candidate ``j`` with
    its given set, the mean, variance and third cumulant of that sum over all orders of the rows of
    each stratum, and the split length of the given set for that candidate. If ``out_splits`` has
    columns, ``out_splits[i, c]`` gets the split length for every length class ``c``. Lengths are
    summed only where a test could have fewer than ``length_below`` rows per cell. Sets that begin
    with the same columns as the one before them are cheaper.
    """
    thin, entropy, lengths = find_thin(prepared, terms), terms.entropy, terms.lengths
    sizes, cells = scratch.sizes, scratch.cells
    scratch.state[LAST_PACKED] = scratch.state[LAST_GROUPED] = -1
    for index in range(given.shape[0]):
        lo, hi = candidate_start[index], candidate_start[index + 1]
        product, is_packed = size_up(given[index], prepared, scratch)
        listed = _list_given(given, index, product, is_packed, prepared, terms, scratch, labels,
                             groups)  # fmt: skip
        sum_given(index, listed, thin, entropy, lengths, sizes, cells, out_given, out_splits)
        sum_splits(lo, hi, listed, thin, candidates, length_class, lengths, sizes, cells,
                   out_unions)  # fmt: skip
        _sum_unions(given, index, lo, hi, candidates, listed[0], product, is_packed, thin, prepared,
                    terms, scratch, labels, groups, out_unions)  # fmt: skip
