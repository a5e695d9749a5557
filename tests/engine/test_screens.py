"""Screens against counts with dictionaries, in any number of parts and threads."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.table import DiscreteTable
from komb.engine import screens
from komb.engine.fixed_point import scale_for
from komb.engine.rule import Rule
from komb.engine.screens import Need, Screen, colex_subsets, make_screen, sum_sets
from komb.engine.sweep import MOST_COMBINATIONS, least_gain
from komb.engine.threads import map_in_order
from tests.engine.bits import MOST_LEVELS, bits_of
from tests.engine.tables import make_table, tables, with_missing

KINDS = (1, 2, 2, 3, 3, 4, 5, 6, "rare", "copy", "parity", "parity")
WIDE: list[int | str] = [2, 3, 2, 3, "parity", 2, 3, "copy", 4, 3, 3, 2, "parity", 3, 2]

Test = tuple[int, tuple[int, ...]]


def counted_fit(codes: Any, y: Any) -> float:
    """``sum n_ay log2(n_ay / n_a)`` with dictionaries."""
    strata = list(zip(*codes.tolist(), strict=True)) if len(codes) else [()] * len(y)
    cells, sizes = Counter(zip(strata, y.tolist(), strict=True)), Counter(strata)
    return math.fsum(n * math.log2(n / sizes[stratum]) for (stratum, _), n in cells.items())


def need_of(table: DiscreteTable, rule: Rule, least_bits: float) -> Need:
    need = least_gain(
        rule, int(table.cardinalities[0]), scale_for(table.n_rows), least_bits, table.n_rows
    )
    assert need is not None
    return need


def make(table: DiscreteTable, need: Need, size: int, asked: Any = None) -> Screen:
    bits = bits_of(table, 0)
    columns = np.flatnonzero(bits.first_bitmap[1:] >= 0) + 1
    is_asked = np.isin(columns, columns if asked is None else asked)
    return make_screen(bits, columns, is_asked, size, need, threads=1)


def listed_by(screen: Screen, threads: int = 1) -> set[Test]:
    listed: list[Test] = []
    for part in map_in_order(screen.run, screen.cut(), threads):
        sets = map(tuple, part.given.tolist())
        listed += zip(part.candidates.tolist(), sets, strict=True)
    assert len(listed) == len(set(listed))
    return set(listed)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    tables(kinds=KINDS, n_rows=(1, 1500), n_columns=(4, 8)),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.1]),
    st.sampled_from(
        [Rule(0.05, "g"), Rule(0.05, "g", coded_below=5.0), Rule(0.05, "auto", has_moments=True)]
    ),
    st.sampled_from([0.0, 3.0, 12.0]),
)
def test_a_screen_lists_what_gains_enough(
    table: DiscreteTable, size: int, share: float, rule: Rule, least_bits: float
) -> None:
    table = with_missing(table, [0.0] + [share] * (table.n_columns - 1), seed=0)
    if table.cardinalities[0] < 2 or (table.cardinalities[1:] == 0).any():
        return
    need, scale = need_of(table, rule, least_bits), scale_for(table.n_rows)
    asked = range(1, table.n_columns, 1 + table.n_rows % 2)
    listed = listed_by(make(table, need, size, asked))
    for z in combinations(range(1, table.n_columns), size):
        for x in set(asked) - set(z):
            columns = [0, x, *z]
            levels = table.cardinalities[columns]
            if levels[1:].prod() > MOST_COMBINATIONS or levels.max() > MOST_LEVELS:
                assert (x, z) not in listed
                continue
            codes = table.codes[columns].astype(np.int64)
            codes = codes[:, (codes < levels[:, None]).all(axis=0)]
            gain = counted_fit(codes[1:], codes[0]) - counted_fit(codes[2:], codes[0])
            n_strata = len(set(zip(*codes[2:].tolist(), strict=True)))
            least = need.gain[(levels[1] - 1) * n_strata]
            if codes.shape[1] < rule.coded_below * levels[1] * n_strata * levels[0]:
                least = need.sparse_gain
            if abs(gain - least / scale) > 1e-4 * max(least / scale, 1.0):
                assert ((x, z) in listed) == (gain > least / scale)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(3, 40), st.integers(1, 2), st.integers(1, 200), st.integers(1, 20))
def test_every_union_is_in_one_part(n_columns: int, size: int, room: int, per_tile: int) -> None:
    codes = np.random.default_rng(0).integers(0, 2, (50, n_columns + 1))
    everything = Need(np.full(MOST_COMBINATIONS + 1, -screens.NEVER), 0, 0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screens, "UNIONS_PER_PART", room)
        patch.setattr(screens, "SETS_PER_TILE", per_tile)
        screen = make(DiscreteTable.from_codes(codes), everything, size)
        n_unions = 0
        for part in screen.cut():
            found = screen.run(part)
            assert screen.count(part) == found.n_unions == found.n_counted
            n_unions += found.n_unions
        assert n_unions == math.comb(n_columns, size + 1)
        assert len(listed_by(screen)) == (size + 1) * n_unions


@pytest.mark.parametrize("share", [0.0, 0.02])
@pytest.mark.parametrize("size", [1, 2])
def test_parts_and_threads_do_not_matter(size: int, share: float) -> None:
    table = with_missing(make_table(WIDE, 3000, seed=3), [0.0, *[share] * 14], seed=2)
    need = need_of(table, Rule(0.05, "g", coded_below=5.0), 1.0)
    expected = listed_by(make(table, need, size))
    assert 0 < len(expected) < (size + 1) * math.comb(14, size + 1)
    for threads, room, per_tile in [(2, 7, 3), (4, 1, 1), (4, 40, 2)]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(screens, "UNIONS_PER_PART", room)
            patch.setattr(screens, "SETS_PER_TILE", per_tile)
            assert listed_by(make(table, need, size), threads) == expected
    assert listed_by(pickle.loads(pickle.dumps(make(table, need, size)))) == expected


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_bitmaps_of_many_words_are_counted_in_turn(share: float) -> None:
    """Rows that are there twice have twice the fit."""
    from komb.engine.kernels.screens import WORDS_AT_ONCE

    table = make_table([2, 3, 3, "parity", 2, 4, "copy"], 64 * WORDS_AT_ONCE, 5)
    table = with_missing(table, [0.0, *[share] * 6], seed=1)
    often = table.take(np.tile(np.arange(table.n_rows), 3))
    need = need_of(table, Rule(1e-4, "g"), 0.0)
    factor = 3 * scale_for(often.n_rows) / scale_for(table.n_rows)
    threefold = need._replace(gain=(need.gain * factor).astype(np.int64))
    assert listed_by(make(table, need, 2)) == listed_by(make(often, threefold, 2)) != set()


@pytest.mark.parametrize("n_columns", [100, 5_000, 100_000])
def test_parts_of_wide_tables_have_many_sets(n_columns: int) -> None:
    """A block of columns is read once for all given sets of a part, so few would be slow."""
    codes = np.random.default_rng(0).integers(0, 2, (3, 4))
    screen = make(DiscreteTable.from_codes(codes), Need(np.zeros(257, np.int64), 0, 0.0), 1)
    screen.columns = np.arange(n_columns)
    screen._fields["sets"] = colex_subsets(n_columns, 1)
    parts = [part for part, _ in zip(screen.cut(), range(20), strict=False)]
    assert min(part.end_set - part.first_set for part in parts) >= min(128, n_columns)
    assert max(map(screen.count, parts)) <= screens.UNIONS_PER_PART


def test_sums_over_sets() -> None:
    table = make_table([3, 2, 3, "parity", 4], 700, seed=0)
    bits = bits_of(table, 0)
    for size in (1, 2, 3):
        fit, strata = sum_sets(bits, np.arange(1, 5), size, 256, threads=1)
        for rank, members in enumerate(1 + colex_subsets(4, size)):
            codes = table.codes[members].astype(np.int64)
            expected = counted_fit(codes, table.codes[0].astype(np.int64))
            assert fit[rank] / scale_for(700) == pytest.approx(expected, abs=1e-6)
            assert strata[rank] == len(set(zip(*codes.tolist(), strict=True)))


def test_subsets_come_by_rank() -> None:
    for n in range(1, 8):
        for size in range(1, n + 2):
            expected = sorted(combinations(range(n), size), key=lambda c: c[::-1])
            assert colex_subsets(n, size).tolist() == [list(c) for c in expected]


WITHOUT_COMPILER = """
from komb.engine.rule import Rule
from tests.engine.tables import make_table, with_missing
from tests.engine.test_screens import listed_by, make, need_of

table = make_table([2, 3, "parity", 4], 90, seed=1)
for each in (table, with_missing(table, [0.0, 0.1, 0.1, 0.2], seed=1)):
    print(sorted(listed_by(make(each, need_of(each, Rule(0.05, "g"), 0.0), 2))))
"""


def test_the_kernel_runs_without_a_compiler() -> None:
    """Vectors are written for the compiler; a debugger sees loops in their place."""
    answers = [
        subprocess.check_output(
            [sys.executable, "-c", WITHOUT_COMPILER],
            env=os.environ | {"NUMBA_DISABLE_JIT": disabled},
        )
        for disabled in "01"
    ]
    assert answers[0] == answers[1]
