"""Have the kernels compiled before the clock starts.

Numba compiles a kernel when it is first called, and :mod:`komb.counts.kernel_cache` keeps the
result on disk and says so, so only the very first search on a machine has to wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from komb.citests.plugins import is_ours
from komb.citests.registry import TestChoice, find_test
from komb.data.table import DiscreteTable
from komb.search.registry import find_algorithm
from komb.search.task import Task
from komb.sessions.table_session import open_table, ranked_numbers

_MOMENTS = "sum_moments", "judge_by_g"  # what a search needs last, and takes longest but one

_done: set[tuple[np.dtype[Any], bool, str, bool]] = set()


def warm_up(table: DiscreteTable, test: TestChoice = "auto") -> None:
    """Have the kernels for searches of a table ready; at once if they are."""
    dtype = table.dtype
    name = test if isinstance(test, str) and is_ours(find_test(test)) else "g"
    has_numbers = bool(ranked_numbers(table, test))
    kernels = dtype, table.has_missing, name, has_numbers
    if kernels in _done:
        return
    from komb.counts.second_compiler import begin_compiling

    if name == "auto":
        function = compile_moments.__name__
        begin_compiling(f"from {__name__} import {function}; {function}({dtype.name!r})", _MOMENTS)
    _search_tiny_table(dtype, name, has_missing=table.has_missing, has_numbers=has_numbers)
    _done.add(kernels)


def compile_moments(dtype: str) -> None:
    """Compile what says how likely G is, for one type of codes, and nothing else."""
    from komb.counts.chi_square_kernels import functions
    from komb.counts.contingency import Contingency
    from komb.counts.gamma_tail_kernels import judge_by_g

    n_rows, n_levels = 500, 100  # of a target with so many levels there are no bitmaps to pack
    codes = np.stack([np.arange(n_rows) % n_levels, np.arange(n_rows) % 2, np.zeros(n_rows)])
    contingency = Contingency(codes.astype(dtype), np.array([n_levels, 2, 1]), target=0)
    place, one, skewness = np.zeros(1, dtype=np.int64), np.ones(1), np.ones(2)
    expected = contingency.make_expected_g()
    mean, variance = expected.moments(contingency, np.array([[2]]), place, place + 1)
    judge_by_g(
        place, one, mean, variance, one, one, skewness, functions(), one.copy(), one > 1
    )  # fmt: skip


def _search_tiny_table(
    dtype: np.dtype[Any], test: str, *, has_missing: bool, has_numbers: bool
) -> None:
    codes = np.array([[0, 0, 1, 1, 0], [0, 1, 0, 1, 0], [0, 1, 1, 0, 0]], dtype)
    codes = np.tile(codes, 8)  # enough rows for a dependence, about which a test may ask more
    if has_missing:
        codes[0, -1] = 2
    numbers: dict[Any, Any] = {1: np.arange(float(codes.shape[1]))} if has_numbers else {}
    table = DiscreteTable((0, 1, 2), codes, ((0, 1),) * 3, has_missing=has_missing, numbers=numbers)
    session = open_table(table, test=test)
    task = Task(target=2, candidates=frozenset({0, 1}))
    find_algorithm("komb").search(session, task, order=1, max_separator=1)
