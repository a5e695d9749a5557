"""One permutation test: komb beside numpy and scipy, in one process.

    python benchmarks/permutations.py

A dependent pair takes all 999 shuffles, in every library; an independent one takes komb few, for it
stops early. numpy sorts random numbers within strata and counts with bincount. scipy has a
permutation test without conditions only. Times are those of the processor, all on one core.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from common import best_of, print_table
from komb.citests.engines import open_engine
from komb.data.table import DiscreteTable

ROWS, SHUFFLES = 5000, 999
INDEPENDENT = 20  # pairs of which the mean time is taken

Codes = npt.NDArray[np.int64]


def draw(levels: int, conditions: int, is_dependent: bool, seed: int) -> Codes:
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, levels, (2 + conditions, ROWS))
    if is_dependent:
        columns[1] = np.where(rng.random(ROWS) < 0.3, columns[0], columns[1])
    return columns


def time_komb(columns: Codes) -> float:
    engine = open_engine(DiscreteTable.from_codes(columns.T), "perm")
    given = frozenset(range(2, len(columns)))
    engine.outcome(0, 1, given)  # prepared once a search
    return best_of(3, lambda: engine.outcome(0, 1, given), process_time)


def time_numpy(columns: Codes) -> float:
    """Time a tenth of the shuffles; they are all alike."""
    levels = int(columns.max()) + 1
    stratum = np.zeros(ROWS, dtype=np.int64)
    for column in columns[2:]:
        stratum = stratum * levels + column
    order = np.argsort(stratum, kind="stable")
    y, x, stratum = columns[0][order], columns[1][order], stratum[order]
    n_cells = levels ** len(columns)
    logarithms = np.log(np.maximum(np.arange(ROWS + 1), 1)) * np.arange(ROWS + 1)
    rng = np.random.default_rng(0)

    def statistic(x: Codes) -> float:
        counts = np.bincount((stratum * levels + y) * levels + x, minlength=n_cells)
        return float(logarithms[counts].sum())

    def work() -> int:
        data = statistic(x)
        shuffled = (x[np.lexsort((rng.random(ROWS), stratum))] for _ in range(SHUFFLES // 10))
        return sum(statistic(order) >= data for order in shuffled)

    return 10 * best_of(2, work, process_time)


def time_scipy(columns: Codes) -> float:
    from scipy.stats import PermutationMethod, chi2_contingency

    levels = int(columns.max()) + 1
    counts = np.bincount(columns[0] * levels + columns[1], minlength=levels**2)
    table = counts.reshape(levels, levels)
    method: Any = PermutationMethod(n_resamples=SHUFFLES, rng=np.random.default_rng(0))
    return best_of(
        2, lambda: chi2_contingency(table, correction=False, method=method), process_time
    )


def ratio(peer: Callable[[Codes], float], columns: Codes, ours: float) -> tuple[str, str]:
    theirs = peer(columns)
    return f"{theirs * 1e3:.0f}", f"{theirs / ours:.0f}x"


def main() -> None:
    rows = []
    for levels in (3, 10):
        for conditions in range(4):
            dependent = draw(levels, conditions, True, 0)
            ours = time_komb(dependent)
            seeds = range(1, 1 + INDEPENDENT)
            early = np.mean([time_komb(draw(levels, conditions, False, seed)) for seed in seeds])
            by_numpy = ratio(time_numpy, dependent, ours)
            by_scipy = ratio(time_scipy, dependent, ours) if conditions == 0 else ("", "")
            rows.append((
                str(levels), str(conditions), f"{ours * 1e3:.2f}", f"{early * 1e3:.2f}", *by_numpy,
                *by_scipy,
            ))  # fmt: skip
    print_table(
        ("levels", "conditions", "komb, dependent, ms", "komb, independent, ms", "numpy, ms",
         "numpy / komb", "scipy, ms", "scipy / komb"),
        rows,
    )  # fmt: skip


if __name__ == "__main__":
    main()
