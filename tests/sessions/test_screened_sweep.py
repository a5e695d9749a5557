"""Sweeps that are screened where they are counted, against those that are not."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests import measure
from komb.citests.decision import is_dependent
from komb.citests.registry import make_test
from komb.counts import union_screen, union_tables
from komb.counts.contingency import Contingency
from komb.counts.contingency_kernels import union_screens
from komb.counts.threads import use_threads
from komb.data.table import DiscreteTable
from komb.sessions import screened_sweep, sweep_counting, tabled_sweep, workspace
from komb.sessions.data import DataSession
from komb.sessions.screened_sweep import ScreenedSweep
from tests.citests.kinds import EVERY_TEST
from tests.counts.tables import make_table, tables, with_missing

KINDS = (1, 2, 2, 3, 3, 4, 5, 6, "rare", "copy", "parity", "parity")
#: Of two levels and of many; dense and sparse; a column with too many levels for bitmaps.
MIXED: list[int | str] = [2, 3, "parity", 2, 6, "copy", "parity", 1, 20, 3, "rare", 4]

BIT_OF_MISSING = (0.0, 0.1, 0.0, 0.3, 0.02, 0.0, 0.0, 0.1, 0.0, 0.0, 0.5, 1.0)


@pytest.fixture
def _screened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the smallest sweep screened, in parts, by as many threads as there may be."""
    monkeypatch.setattr(screened_sweep, "LEAST_WORK", 1)
    monkeypatch.setattr(screened_sweep, "WORK_PER_THREAD", 1)
    monkeypatch.setattr(sweep_counting, "UNIONS_PER_CHUNK", 5)


def everything(
    table: DiscreteTable, test: str, df: str, target: int, size: int, bits: float
) -> list[Any]:
    """All that a sweep, and a search for strong dependences, have to say."""
    pool = frozenset(range(table.n_columns)) - {target}
    session = DataSession(table, test, df=df, alpha=0.05)
    reports: list[tuple[int, int]] = []
    session.sweep(target, pool, size, lambda done, total: reports.append((done, total)))
    assert reports == sorted(reports)
    if reports:
        assert reports[-1][0] == reports[-1][1]
    sets = [frozenset(members) for members in combinations(sorted(pool), size)]
    found = [session.dependents(target, pool - z, z) for z in sets]
    again = DataSession(table, test, df=df, alpha=0.05)
    asked = frozenset(sorted(pool)[::2])
    strong = again.strong_dependences(target, asked, pool, size, bits, min_rows_per_cell=2.0)
    counts = [asdict(each.counts) for each in (session, again)]
    if make_test(test, df, alpha=0.05).needs_tables and session.source._contingency(0).has_missing:
        for each in counts:
            del each["tables"]  # a kernel calls a table thin by what it could have, others by rows
    return [found, strong, *counts]


def unscreened(*arguments: Any) -> list[Any]:
    least, screened_sweep.LEAST_WORK = screened_sweep.LEAST_WORK, 1 << 62
    try:
        return everything(*arguments)
    finally:
        screened_sweep.LEAST_WORK = least


@pytest.mark.usefixtures("_screened")
@pytest.mark.parametrize(("test", "df"), EVERY_TEST)
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("is_complete", [True, False])
def test_screened_sweeps_say_the_same(test: str, df: str, size: int, is_complete: bool) -> None:
    kinds = MIXED[:9] if size == 3 else MIXED  # 56 sets of three, not 165
    for n_rows, target in [(30, 2), (400, 8), (2000, 4)]:
        table = make_table(kinds, n_rows, seed=n_rows)
        if not is_complete:
            table = with_missing(table, BIT_OF_MISSING[: len(kinds)], seed=1)
        arguments = table, test, df, target, size, 6.0
        assert everything(*arguments) == unscreened(*arguments)


@pytest.mark.usefixtures("_screened")
@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    tables(kinds=KINDS, n_rows=(1, 900), n_columns=(4, 7)),
    st.integers(1, 3),
    st.sampled_from(["g", "g-sci", "auto"]),
    st.lists(st.sampled_from([0.0, 0.0, 0.05, 0.4]), min_size=7, max_size=7),
    st.floats(0.1, 20.0),  # with 0 bits, whatever is independent would be among the strong
)
def test_screened_sweeps_say_the_same_of_any_table(
    table: DiscreteTable, size: int, test: str, shares: list[float], bits: float
) -> None:
    for each in (table, with_missing(table, shares[: table.n_columns], seed=0)):
        arguments = each, test, "observed", 0, size, bits
        assert everything(*arguments) == unscreened(*arguments)


@pytest.mark.usefixtures("_screened")
@pytest.mark.parametrize("test", ["g-sci", "auto"])
@pytest.mark.parametrize("is_complete", [True, False])
def test_any_number_of_threads_says_the_same(
    monkeypatch: pytest.MonkeyPatch, test: str, is_complete: bool
) -> None:
    table = make_table([3, 2, 3, "parity", 2, 3, "copy", 4, 3, 3, 2, "parity", 3, 2], 3000, seed=3)
    if not is_complete:
        table = with_missing(table, [0.0, *[0.02] * 13], seed=2)
    for size in (1, 2):
        answers = []
        for threads, per_chunk, per_block in [(1, 1 << 17, 128), (2, 7, 3), (4, 1, 1), (4, 40, 2)]:
            monkeypatch.setattr(sweep_counting, "UNIONS_PER_CHUNK", per_chunk)
            monkeypatch.setattr(union_screen, "SETS_PER_BLOCK", per_block)
            with use_threads(threads):
                answers.append(everything(table, test, "observed", 0, size, 4.0))
        assert all(answer == answers[0] for answer in answers)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    tables(kinds=KINDS, n_rows=(1, 900), n_columns=(4, 7)),
    st.integers(1, 3),
    st.sampled_from([("auto", "observed"), ("g", "adjusted"), ("g-sci", "adjusted")]),
    st.floats(0.1, 20.0),  # with 0 bits, whatever is independent would be among the strong
    st.sampled_from([1, 4]),
)
def test_tables_that_are_read_for_all_tests_say_the_same(
    table: DiscreteTable, size: int, test: tuple[str, str], bits: float, threads: int
) -> None:
    arguments = table, *test, 0, size, bits
    expected = unscreened(*arguments)
    with pytest.MonkeyPatch.context() as patch, use_threads(threads):
        patch.setattr(sweep_counting, "UNIONS_PER_CHUNK", 5)
        patch.setattr(tabled_sweep, "LONG_ROWS", 1)
        patch.setattr(tabled_sweep, "_BLOCKS_PER_PART", 2)
        assert unscreened(*arguments) == expected
        patch.setattr(workspace, "LONG_ROWS", 1)
        assert unscreened(*arguments) == expected
        patch.setattr(union_tables, "MOST_CELLS", 60)  # larger ones are counted as ever
        assert unscreened(*arguments) == expected
        patch.setattr(screened_sweep, "LEAST_WORK", 1)  # tables are those of the screen
        patch.setattr(screened_sweep, "WORK_PER_THREAD", 1)
        patch.setattr(tabled_sweep, "POPCOUNT_CELLS", math.inf)
        assert everything(*arguments) == expected
        patch.setattr(union_screen, "TABLE_BYTES", 0)
        assert everything(*arguments) == expected


# ------------------------------------------------------------------------------------------- kernel


def counted_fit(codes: Any, y: Any) -> float:
    """``sum n_ay log2(n_ay / n_a)`` with dictionaries."""
    cells: dict[Any, int] = {}
    strata: dict[Any, int] = {}
    for stratum, level in zip(map(tuple, codes.T.tolist()), y.tolist(), strict=True):
        cells[stratum, level] = cells.get((stratum, level), 0) + 1
        strata[stratum] = strata.get(stratum, 0) + 1
    return math.fsum(n * math.log2(n / strata[stratum]) for (stratum, _), n in cells.items())


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    tables(kinds=KINDS, n_rows=(1, 1500), n_columns=(4, 8)),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.1]),
)
def test_the_kernel_lists_what_reaches_its_need(
    table: DiscreteTable, size: int, share: float
) -> None:
    """Every union's fit is exact, and just those tests are listed that gain enough."""
    table = with_missing(table, [0.0] + [share] * (table.n_columns - 1), seed=0)
    contingency = Contingency(table.codes, table.cardinalities, 0)
    test = make_test("g", "observed", alpha=0.05)
    n_y = contingency.target_levels
    needed = test.screen_by_g((n_y - 1) * np.arange(257), 0.05)
    assert needed is not None
    variables = np.arange(1, table.n_columns)
    sweep = ScreenedSweep(
        contingency,
        needed._replace(rows_per_cell=0.0),
        variables,
        np.ones(len(variables), dtype=np.bool_),
        size,
        256,
    )
    if not sweep.n_rows:
        return
    own = None
    sets = np.array(list(combinations(variables.tolist(), size)))
    sets = sets[np.lexsort(sets.T)]
    if not contingency.has_missing:
        own = contingency.summarise(sets, np.zeros(len(sets) + 1, np.int64), np.empty(0, np.int64))
    listed = {
        (tuple(sets[rank].tolist()), int(variables[place])): int(fit) / contingency.scale
        for part in sweep.run(own, 4)
        for rank, place, fit in zip(part.ranks, part.places, part.fit, strict=True)
    }
    for z in map(tuple, sets.tolist()):
        for x in set(variables.tolist()) - set(z):
            columns = [*z, x]
            if not sweep.has(np.array([sorted(columns)]) - 1)[0]:
                assert (z, x) not in listed
                continue
            codes = table.codes[[0, *columns]].astype(np.int64)
            codes = codes[:, (codes < table.cardinalities[[0, *columns]][:, None]).all(axis=0)]
            fit = counted_fit(codes[1:], codes[0])
            gain = fit - counted_fit(codes[1:-1], codes[0])
            strata = len({tuple(column) for column in codes[1:-1].T.tolist()})
            least = needed.smallest[(table.cardinalities[x] - 1) * strata] / (2 * math.log(2))
            if abs(gain - least) > 1e-4 * max(least, 1.0):
                assert ((z, x) in listed) == (gain > least)
            if (z, x) in listed:
                assert listed[z, x] == pytest.approx(fit, abs=1e-6)


def test_bitmaps_of_many_words_are_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screened_sweep, "LEAST_WORK", 1)
    table = make_table([2, 3, 3, "parity", 2, 4, "copy"], 3 * 64 * union_screens.WORDS_AT_ONCE, 5)
    for each in (table, with_missing(table, [0.0, 0.1, 0.0, 0.2, 0.0, 0.1, 0.3], seed=1)):
        arguments = each, "g-sci", "observed", 0, 2, 10.0
        assert everything(*arguments) == unscreened(*arguments)


# ------------------------------------------------------------------------------------------ others


def test_a_small_sweep_is_not_screened() -> None:
    """That would have another kernel compiled for nothing."""
    table = make_table([2, 3, 3, 2], 500, seed=0)
    session = DataSession(table, "g-sci")
    contingency = session.source._contingency(0)
    variables, asked = np.arange(1, 4), np.ones(3, dtype=np.bool_)
    test = make_test("g-sci", "observed", alpha=0.01)
    arguments = contingency, test, 0.01, variables, asked, 1, math.inf
    assert screened_sweep.screened_sweep(*arguments) is None


@pytest.mark.parametrize(("test", "df"), EVERY_TEST)
def test_what_g_rules_out_is_no_dependence(test: str, df: str) -> None:
    made = make_test(test, df, alpha=0.05)
    table = make_table(MIXED, 700, seed=1)
    contingency = Contingency(table.codes, table.cardinalities, 2)
    candidates = np.array([0, 1, 3, 4, 5, 6, 8, 9])
    sets = np.array([[11]])
    sums = contingency.summarise(
        sets,
        np.array([0, len(candidates)]),
        candidates,
        length_below=made.length_below,
        wants_tables=made.needs_tables,
    )
    set_of = np.zeros(len(candidates), dtype=np.int64)
    tested = measure.TestSums(
        measure.Tests(contingency, candidates, sets, set_of), sums, set_of, sums
    )
    freedom = (tested.levels - 1) * (tested.target_levels - 1) * tested.strata
    screen = made.screen_by_g(freedom, 0.05)
    if screen is None:
        return
    is_ruled_out = 2 * math.log(2) * tested.gain < screen.smallest
    is_ruled_out &= tested.has_rows_per_cell(screen.rows_per_cell)
    assert is_ruled_out.any()
    measured = made.measure(tested)
    assert not is_dependent(measured, 0.05)[is_ruled_out].any()


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_an_interrupted_sweep_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screened_sweep, "LEAST_WORK", 1)
    monkeypatch.setattr(screened_sweep, "WORK_PER_THREAD", 1)
    monkeypatch.setattr(sweep_counting, "UNIONS_PER_CHUNK", 20)
    table = DiscreteTable.from_codes(np.random.default_rng(0).integers(0, 3, (500, 60)))
    session = DataSession(table, "g-sci")

    def interrupt(done: int, total: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with use_threads(2), pytest.raises(KeyboardInterrupt):
        session.sweep(0, frozenset(range(1, 60)), 1, interrupt)
    assert not [each for each in threading.enumerate() if each.name.startswith("komb")]
    assert threading.current_thread() is threading.main_thread()


WITHOUT_COMPILER = """
from komb.sessions import screened_sweep
from tests.counts.tables import make_table, with_missing
from tests.sessions.test_screened_sweep import everything, unscreened

screened_sweep.LEAST_WORK = 1
table = make_table([2, 3, "parity", 4], 90, seed=1)
for each in (table, with_missing(table, [0.0, 0.1, 0.1, 0.2], seed=1)):
    arguments = each, "g", "observed", 0, 2, 3.0
    assert everything(*arguments) == unscreened(*arguments)
"""


def test_the_kernel_runs_without_a_compiler() -> None:
    """Vectors are written for the compiler; a debugger sees loops in their place."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-c", WITHOUT_COMPILER], check=True, env=environment)
