"""What it would cost to search an order: counted work, so that no clock has a say.

The unit is a nanosecond of one processor, roughly. A set of columns is counted together with the
target, once for each column that is tested given the others. Where columns have few levels a screen
counts bits and lists the tests that could be strong enough; what it lists, and larger tables, are
decided one by one. Tables of too few rows per cell are left out, and cost nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from komb.engine.engine import Engine
from komb.engine.questions import Variables

MOST_WORK = 8e9
"""Of an order that is searched without being asked for: a few seconds. Pairs always may take that,
and triples where nothing was found that is nearer at hand."""

MOST_WORK_OF_FOURS = 1e9
"""Of fours and more where nothing was found: the estimate is low there, and so are the chances."""

MOST_WORK_BESIDES = 3e7
"""Of larger groups where there are members already, which is nearly always all there is."""

MOST_COSTLY_WORK_BESIDES = 5e8
"""The same of tests that cost more than those on counts, as the whole search does."""

MOST_SEARCHED = 1e10
"""Work of costly tests that a search takes without being asked for a bound on separators."""

UNTIL_OWN, UNTIL_NEIGHBOURS, UNTIL_SPOUSES, UNTIL_GROWN, UNTIL_SHRUNK = 0.25, 0.45, 0.55, 0.7, 1.5
"""Shares of it after which the search from the target, those from others, that for spouses and
that for groups leave the rest to the check by definition, and that ends to drop members."""

WORK_PER_SECOND = 1e9

SCREENED_TEST, SCREENED_CELL = 40.0, 0.45e-3
"""Work of a screened test, and more for each row and cell."""

DECIDED_TEST, DECIDED_ROW, DECIDED_CELL = 150.0, 0.005, 3.5
"""Work of a test that is decided, and more for each row and for each cell."""

SINGLE_TEST, SINGLE_ROW, SINGLE_CELL = 1_000.0, 0.05, 12.0
"""The same of a test that shares neither its given set nor its table with others."""

COSTLY_TEST, COSTLY_ROW = 100.0, 0.5
"""The same of a test that costs more than one on counts, in units of what it costs."""

LARGEST_SCREENED, LEAST_SCREENED = 256, 1 << 29
"""Combinations of levels that a screen counts, and rows of all sets that are worth a screen."""


def work_of_order(
    engine: Engine, target: int, candidates: Variables, size: int, needed: float, sparsest: float
) -> float:
    """Work of testing all candidates given all sets of a size; an oracle is never tired."""
    if engine.n_rows is None:
        return 0.0
    if engine.test_cost > 1.0:
        return work_of_tests(engine, target, _count_tests(len(candidates), size), size)
    n_y = engine.n_levels[target] * engine.n_strata
    most = engine.n_rows / (sparsest * max(1, n_y))
    by_product = _count_sets((engine.n_levels[x] for x in candidates), size + 1, most)
    is_screened = sum(by_product.values()) * engine.n_rows >= LEAST_SCREENED
    per_set = sum(
        count * _work_of_test(engine.n_rows, product, n_y, size, needed, is_screened=is_screened)
        for product, count in by_product.items()
    )
    return (size + 1) * per_set


def _count_tests(n_candidates: int, size: int) -> int:
    return n_candidates * math.comb(max(0, n_candidates - 1), size)


def work_of_tests(engine: Engine, target: int, n_tests: int, n_given: int) -> float:
    """Work of some tests that are decided one by one, given so many columns of median levels."""
    if engine.n_rows is None:
        return 0.0
    if engine.test_cost > 1.0:
        return n_tests * engine.test_cost * (COSTLY_TEST + COSTLY_ROW * engine.n_rows)
    levels = engine.n_levels
    typical: int = sorted(levels)[len(levels) // 2] ** (n_given + 1)
    cells = min(engine.n_rows, typical * levels[target] * engine.n_strata)
    return n_tests * (SINGLE_TEST + SINGLE_ROW * engine.n_rows + SINGLE_CELL * cells)


def _count_sets(levels: Iterable[int], size: int, most: float) -> Counter[int]:
    """Count sets of a size by the product of their levels, up to the largest one."""
    found: list[Counter[int]] = [Counter({1: 1}), *(Counter[int]() for _ in range(size))]
    for own, n_columns in sorted(Counter(max(1, n) for n in levels).items()):
        for total in range(size, 0, -1):
            for n_own in range(1, min(total, n_columns) + 1):
                n_ways, factor = math.comb(n_columns, n_own), own**n_own
                for product, count in found[total - n_own].items():
                    if product * factor <= most:
                        found[total][product * factor] += count * n_ways
    return found[size]


def _work_of_test(
    n_rows: int, product: int, n_y: int, size: int, needed: float, *, is_screened: bool
) -> float:
    """Work of one test of a table, with the chance that a screen lists it."""
    from scipy.special import chdtrc, chdtri

    cells = product * n_y
    decided = DECIDED_TEST + DECIDED_ROW * n_rows + DECIDED_CELL * cells
    if not is_screened or product > LARGEST_SCREENED:
        return decided
    freedom = max(1.0, (n_y - 1) * (product - product ** (size / (size + 1))))
    listed = float(chdtrc(freedom, chdtri(1.0, 2.0**-needed)))
    return SCREENED_TEST + SCREENED_CELL * n_rows * cells + listed * decided
