"""Have kernels compiled beforehand: for workers, of which each would compile, or for good.

Numba compiles a kernel when it is first called, and :mod:`komb.engine.kernel_cache` keeps the
result on disk, so only the first searches on a machine have to wait.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from komb.citests.engines import open_engine, ranked_numbers
from komb.citests.plugins import is_ours
from komb.citests.registry import TestChoice, find_test
from komb.data.parts import CodesHere
from komb.data.reading import table as read_table
from komb.data.table import DiscreteTable
from komb.engine.compiling import compile_at_once
from komb.engine.engine import AllSets
from komb.engine.kernel_cache import find_folders, is_writable
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


def compile_all() -> Path | None:
    """Have all kernels compiled that searches wait for; returns where they are kept, if anywhere.

    Codes of one byte and of two have kernels of their own.
    """
    from komb.api.interactions import interactions  # which warms up itself

    with compile_at_once():
        for n_levels in (2, 300):
            levels = _use_kernels(n_levels, has_numbers=False)
            _use_kernels(n_levels, has_numbers=True)
        interactions(levels, "y", exclude=["long"])
        _search_many_pairs()
    return next(filter(is_writable, find_folders()), None)


def _search_many_pairs() -> None:
    """Have as many tests asked for as are worth a screen."""
    codes = np.random.default_rng(0).integers(0, 2, (144, 60_000), np.uint8)
    table = DiscreteTable(tuple(range(144)), CodesHere(codes), ((0, 1),) * 144, has_missing=False)
    others = frozenset(range(1, 144))
    open_engine(table, "auto").strong(0, AllSets(others, others, 1), 50.0)


def _use_kernels(n_levels: int, *, has_numbers: bool) -> DiscreteTable:
    """Search a small table and show what was found; returns the table."""
    from komb.api.find import markov_blanket  # which warms up itself

    random = np.random.default_rng(0)
    a, b, c, noise = random.integers(0, 2, (4, 600))
    columns = {"a": a, "b": b, "c": c, "long": np.arange(600) % n_levels, "y": a ^ b}
    types = dict.fromkeys(columns, "nominal")
    if has_numbers:
        columns |= {"x": random.normal(size=600) + c, "z": random.normal(size=600), "noise": noise}
    table = read_table(columns, types=types)
    str(markov_blanket(table, "y"))
    return table
