"""What a user is told, against the naive twins: every search, every test, every way of counting.

Nothing here depends on how answers come about, but for the names in ``CONSTANTS``, ``SHORTCUTS``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import komb
from komb.data.column_order import order_columns
from komb.data.table import DiscreteTable
from komb.engine import buffers
from komb.search.task import Task
from tests import naive
from tests.engine.engines import on_table
from tests.engine.tables import columns_of, make_table, with_missing
from tests.search import automatic_twin
from tests.search.running import NaiveOnTable, Witnesses

#: What decides which way answers are found, with values that have small tables go the other way.
CONSTANTS: dict[str, Any] = {
    "citests.engines.LONG_ROWS": 1,
    "engine.block_engine.FIRST_WORDS": 8,
    "engine.plain.REMEMBERED_BYTES": 0,
    "engine.state.BITMAP_BYTES": 0,
    "engine.state.DEPTH": 1,
    "engine.state.FEWEST_CELLS": 16,
    "engine.state.MOST_BITMAP_LEVELS": 0,
    "engine.state.MOST_BITMAP_STRATA": 1,
    "engine.state.MOST_BITMAP_WORK": 0,
    "engine.state.STRATA_BYTES": 1,
    "engine.sweep.LEAST_WORK": 1,
    "engine.sweep.WORK_PER_THREAD": 1,
    "engine.table.PREPARED_BYTES": 0,
    "engine.table.REMEMBERED_BYTES": 1,
}

#: Ways to find out more quickly, and the constants that have small tables go there.
SHORTCUTS = {
    "engine.screens.Screen.run": ["engine.sweep.LEAST_WORK"],
    "engine.blocks.Blocks.count": ["citests.engines.LONG_ROWS"],
}


def have_small(patch: pytest.MonkeyPatch, names: Sequence[str]) -> None:
    patch.setattr(buffers, "_spares", {})  # those made before have other sizes
    for name in names:
        patch.setattr(f"komb.{name}", CONSTANTS[name])


def search_naively(
    name: str, table: DiscreteTable, target: int, start: Sequence[int] = (), **options: Any
) -> Witnesses:
    """Run the twin of a search as :func:`komb.markov_blanket` runs the search."""
    others = frozenset(range(table.n_columns)) - {target}
    test, alpha, df = options.pop("test"), options.pop("alpha"), options.pop("df", "observed")
    of_method = {**komb.algorithms()[name].defaults, **options}
    if name == "auto":
        return search_in_order(table, target, start, test, alpha)
    session = naive.sessions.DataSession(columns_of(table), test, alpha, df)
    bounds = list(of_method.values())
    found: Any = naive.SEARCHES[name]
    witnesses: Witnesses = found(session, others, target, *bounds, frozenset(start), frozenset())
    return witnesses


def search_in_order(
    table: DiscreteTable, target: int, start: Sequence[int], test: str, alpha: float
) -> Witnesses:
    """Run the automatic search and its twin on columns in the order of their contents."""
    order = order_columns(table, {})
    ordered = table.select(table.names[x] for x in order)
    task = Task(
        order.index(target),
        frozenset(range(table.n_columns)) - {order.index(target)},
        frozenset(map(order.index, start)),
    )
    twin = NaiveOnTable(ordered, test, alpha)
    found = automatic_twin.check_twin(on_table(ordered, test, alpha=alpha), twin, task, alpha)
    return {
        order[x]: witness and frozenset(order[z] for z in witness) for x, witness in found.items()
    }


def search(name: str, table: DiscreteTable, target: int, **options: Any) -> Witnesses:
    """Have a user's members and witnesses; ``table`` has numbers for names."""
    blanket = komb.markov_blanket(table, target, method=name, **options)
    found: dict[Any, frozenset[Any] | None] = {
        member.name: None if member.witness is None else frozenset(member.witness)
        for member in blanket.evidence
    }
    return found


def check(name: str, table: DiscreteTable, target: int, **options: Any) -> Witnesses:
    found = search(name, table, target, **options)
    assert found == search_naively(name, table, target, **options)
    return found


# ------------------------------------------------------------------------------ nothing is left out


def test_every_search_has_a_twin() -> None:
    assert naive.SEARCHES.keys() == komb.algorithms().keys()


@pytest.mark.parametrize("test", ["chi2", "g-sci"])
@pytest.mark.parametrize("name", list(komb.algorithms()))
def test_every_search(name: str, test: str) -> None:
    network = komb.DiscreteNetwork.random(7, degree=3, concentration=0.3, seed=2)
    table = DiscreteTable.from_codes(network.sample(250, 2).codes.T)
    sizes = [len(check(name, table, y, test=test, alpha=0.05)) for y in range(0, 7, 2)]
    assert max(sizes) > 1  # not a comparison of empty sets


@pytest.mark.parametrize("name", list(komb.tests()))
def test_every_test(name: str) -> None:
    """A test without a twin fails in ``run_test``."""
    table = make_table([3, "parity", 2, "copy", 4], 120, seed=3)
    for x, y, given in [(0, 1, []), (0, 1, [2]), (4, 1, [0, 2]), (3, 2, []), (3, 2, [0, 4])]:
        result = komb.ci_test(table, x, y, given=given, test=name, alpha=0.05)
        twin = naive.decision.run_test(columns_of(table), y, x, given, name, 0.05, "observed")
        assert result.independent == twin.independent
        assert result.statistic == pytest.approx(twin.statistic, rel=1e-9, abs=1e-9)
        assert result.test == twin.test
        if twin.p_value is not None:
            assert result.p_value == pytest.approx(twin.p_value, rel=1e-8, abs=1e-10)


# ------------------------------------------------------------------------------------- large sets


def make_deep_table(n_parents: int, n_odd: int, n_rows: int = 150) -> DiscreteTable:
    """Column 0 is the parity of the next ones; the others differ from 0 in three rows each.

    So there are large sets that take nothing away: tables given all of them have rows enough.
    """
    rng = np.random.default_rng(n_parents)
    parents = rng.integers(0, 2, (n_rows, n_parents))
    odd = np.zeros((n_rows, n_odd), dtype=np.int64)
    for column in range(n_odd):
        odd[rng.choice(n_rows, 3, replace=False), column] = 1
    y = (parents.sum(axis=1) + (rng.random(n_rows) < 0.03)) % 2
    return DiscreteTable.from_codes(np.column_stack([y, parents, odd]))


@pytest.mark.parametrize("test", ["g", "g-sci"])
@pytest.mark.parametrize(("order", "max_separator", "n_parents"), [(3, 3, 4), (3, 4, 4), (1, 6, 2)])
def test_high_orders(order: int, max_separator: int, n_parents: int, test: str) -> None:
    """Witnesses and separators of many columns, more than there is room for at first."""
    n_odd = max_separator + 1
    table = make_deep_table(n_parents, n_odd)
    options: dict[str, Any] = {"order": order, "max_separator": max_separator}
    start = list(range(1 + n_parents, 1 + n_parents + n_odd))
    found = check("komb", table, 0, test=test, alpha=0.01, start=start, **options)
    assert set(range(1, 1 + n_parents)) <= found.keys()
    # with some of the parents in the blanket witnesses are made of it
    check("komb", table, 0, test=test, alpha=0.01, start=[1, 2, *start], **options)


def search_without_room() -> None:
    """Have everything start small, and search in one blanket and from nothing."""
    with pytest.MonkeyPatch.context() as patch:
        have_small(patch, ["engine.state.DEPTH", "engine.state.FEWEST_CELLS"])
        table = make_deep_table(4, 3, 60)
        for start in (range(1, 8), ()):
            check("komb", table, 0, test="g", alpha=0.01, start=start, order=3, max_separator=3)


def test_no_room_is_overrun() -> None:
    """Kernels write wherever they are told; as plain Python they say where there is no room."""
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-m", "tests.api.test_twins"], check=True, env=plain, cwd=root)


# -------------------------------------------------------------------------------- ways of counting

SHAPES: dict[str, tuple[list[int | str], int]] = {
    "few": ([2, 3, "parity", 2, "copy", 4], 200),
    "thin": ([2, 3, "parity", 20, 200, "id"], 300),
    "bitmaps": ([16, 17, 2, 3, "parity", 15], 500),
    "labels": ([3, 40, 40, 2, "parity"], 600),
}


@pytest.mark.parametrize("test", ["auto", "chi2", "g-sci"])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_tables(shape: str, test: str) -> None:
    table = make_table(*SHAPES[shape], seed=1)
    for target in (0, 2):
        check("komb", table, target, test=test, alpha=0.2)
        check("iamb", table, target, test=test, alpha=0.2)


def make_large_strata(n_strata: int = 1000) -> DiscreteTable:
    """Columns 1 and 2 tell column 0 together; each has a thousand levels, and each level four rows.

    Given column 2 there are more combinations than any table of counts has room for.
    """
    rng = np.random.default_rng(0)
    stratum = rng.permutation(np.arange(4 * n_strata) % n_strata)
    coin, other = rng.integers(0, 2, (2, 4 * n_strata))
    y = (coin + stratum + (rng.random(4 * n_strata) < 0.02)) % 2
    x = 2 * (stratum // 2) + coin  # of two strata, one of which turns the coin
    return DiscreteTable.from_codes(np.column_stack([y, x, stratum, other]))


@pytest.mark.parametrize("test", ["chi2", "g"])
def test_more_combinations_than_a_table_has_room_for(test: str) -> None:
    table = make_large_strata()
    for target in (0, 3):
        options: dict[str, Any] = {"test": test, "alpha": 0.01, "df": "adjusted"}
        found = check("komb", table, target, **options)
        # more are found by chance: these tests are not made for strata of four rows
        assert found.keys() >= {1, 2}
        check("iamb", table, target, **options)


WHOLE = make_table([2, 3, "parity", 2, "copy", 4], 200, seed=4)
TABLES = [WHOLE, with_missing(WHOLE, [0.05] * 6, seed=4)]
TEST_OF = {"komb": "g-sci", "auto": "auto", "hiton-mb": "g-sci"}


@cache
def expected(method: str, number: int) -> Witnesses:
    return search_naively(method, TABLES[number], 2, test=TEST_OF[method], alpha=0.05)


@pytest.mark.parametrize("name", CONSTANTS)
def test_no_answer_depends_on_a_constant(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for method, test in TEST_OF.items():
        for number, table in enumerate(TABLES):
            twin = expected(method, number)
            with monkeypatch.context() as patch:
                have_small(patch, [name])
                assert search(method, table, 2, test=test, alpha=0.05) == twin


@pytest.mark.parametrize("shortcut", SHORTCUTS)
def test_shortcuts_are_taken(monkeypatch: pytest.MonkeyPatch, shortcut: str) -> None:
    """Otherwise answers would be right and late, and nobody would notice."""
    have_small(monkeypatch, SHORTCUTS[shortcut])
    place, _, name = f"komb.{shortcut}".rpartition(".")
    owner = pytest.importorskip(place.rpartition(".")[0])
    owner = getattr(owner, place.rpartition(".")[2])
    own, calls = getattr(owner, name), []

    def count(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        return own(*arguments, **options)

    monkeypatch.setattr(owner, name, count)
    table = make_table([3, 3, "parity", 3, 3, 3], 600, seed=4)
    check("auto", table, 2, test="auto", alpha=0.05)
    assert calls


if __name__ == "__main__":
    search_without_room()
