"""Have the kernels compiled before the clock starts.

Numba compiles a kernel when it is first called, and :mod:`komb.engine.kernel_cache` keeps the
result on disk and says so, so only the very first search on a machine has to wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from komb.citests.engines import open_engine, ranked_numbers
from komb.citests.plugins import is_ours
from komb.citests.registry import TestChoice, find_test
from komb.data.parts import CodesHere
from komb.data.table import DiscreteTable
from komb.engine.compiling import compile_at_once
from komb.search.registry import find_algorithm
from komb.search.task import Task

_done: set[tuple[np.dtype[Any], bool, str, bool]] = set()


def warm_up(table: DiscreteTable, test: TestChoice = "auto") -> None:
    """Have the kernels for searches of a table ready; at once if they are."""
    dtype = table.dtype
    name = test if isinstance(test, str) and is_ours(find_test(test)) else "g"
    has_numbers = bool(ranked_numbers(table, test))
    kernels = dtype, table.has_missing, name, has_numbers
    if kernels in _done:
        return
    with compile_at_once():
        _search_tiny_table(dtype, name, has_missing=table.has_missing, has_numbers=has_numbers)
    _done.add(kernels)


def _search_tiny_table(
    dtype: np.dtype[Any], test: str, *, has_missing: bool, has_numbers: bool
) -> None:
    codes = np.array([[0, 0, 1, 1, 0], [0, 1, 0, 1, 0], [0, 1, 1, 0, 0]], dtype)
    codes = np.tile(codes, 8)  # enough rows for a dependence, about which a test may ask more
    if has_missing:
        codes[0, -1] = 2
    numbers: dict[Any, Any] = {1: np.arange(float(codes.shape[1]))} if has_numbers else {}
    parts, levels = CodesHere(codes), ((0, 1),) * 3
    table = DiscreteTable((0, 1, 2), parts, levels, has_missing=has_missing, numbers=numbers)
    engine = open_engine(table, test)
    task = Task(target=2, candidates=frozenset({0, 1}))
    find_algorithm("komb").search(engine, task, order=1, max_separator=1)
