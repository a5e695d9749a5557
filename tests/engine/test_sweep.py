"""Sweeps, screened or not, against one question at a time."""

from __future__ import annotations

import math
import os
import signal
import threading
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests.contract import RuleTest
from komb.citests.registry import make_test
from komb.data.table import DiscreteTable
from komb.engine import screens, sweep
from komb.engine.engine import AllSets
from komb.engine.questions import StrongDependence, Variables
from komb.engine.rule import Rule
from komb.engine.table import TableEngine
from komb.engine.threads import use_threads
from tests.citests.kinds import RULE_TESTS, df_rules_of
from tests.engine.tables import make_table, tables, with_missing

G = Rule(0.05, "g")
RULES = {
    f"{name} {df}": test.rule(0.05)
    for name in RULE_TESTS
    for df in df_rules_of(name)
    if isinstance(test := make_test(name, df), RuleTest)
}
KINDS = (1, 2, 2, 3, 3, 4, 5, 6, "rare", "copy", "parity", "parity")
#: Of two levels and of many; dense and sparse; a column with too many levels for bitmaps.
MIXED: list[int | str] = [2, 3, "parity", 2, 6, "copy", "parity", 1, 20, 3, "rare", 4]
SHARES = (0.0, 0.1, 0.0, 0.3, 0.02, 0.0, 0.0, 0.1, 0.0, 0.0, 0.5, 1.0)


@pytest.fixture(autouse=True)
def _screened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the smallest sweep screened, in parts, by as many threads as there may be."""
    monkeypatch.setattr(sweep, "LEAST_WORK", 1)
    monkeypatch.setattr(sweep, "WORK_PER_THREAD", 1)
    monkeypatch.setattr(screens, "UNIONS_PER_PART", 5)


def engine_of(table: DiscreteTable, rule: Rule) -> TableEngine:
    return TableEngine(table.codes, table.cardinalities, rule)


def pool_of(table: DiscreteTable, target: int) -> Variables:
    return frozenset(range(table.n_columns)) - {target}


def one_by_one(
    table: DiscreteTable, rule: Rule, target: int, asked: AllSets, bits: float
) -> list[StrongDependence]:
    """Ask about one given set after the other."""
    engine, levels = engine_of(table, rule), table.cardinalities
    found = []
    for z in map(frozenset, combinations(sorted(asked.pool), asked.size)):
        question = asked.candidates - z, z
        [answer] = engine.evidence(target, [question])
        [sure] = engine.evidence(target, [question], is_conservative=True)
        for x, own in answer.items():
            n_cells = math.prod(levels[[target, x, *z]].tolist())
            is_dense = asked.min_rows_per_cell * n_cells <= table.n_rows
            if is_dense and own >= bits and sure.get(x, 0.0) >= bits:
                found.append((own, x, z))
    return sorted(found, key=lambda each: (-each[0], each[1], sorted(each[2])))


def check(
    table: DiscreteTable, rule: Rule, target: int, asked: AllSets, bits: float
) -> list[StrongDependence]:
    expected = one_by_one(table, rule, target, asked, bits)
    reports: list[tuple[int, int]] = []
    engine = engine_of(table, rule)
    found = engine.strong(
        target, asked, bits, is_conservative=True, on_progress=lambda *done: reports.append(done)
    )
    assert found == expected
    assert reports == sorted(reports)
    assert not reports or reports[-1][0] == reports[-1][1]
    assert engine.work.tests == len(asked.candidates) * math.comb(len(asked.pool) - 1, asked.size)
    return found


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
@pytest.mark.parametrize("size", [0, 1, 2, 3])
@pytest.mark.parametrize("is_complete", [True, False])
def test_sweeps_answer_like_single_tests(rule: Rule, size: int, is_complete: bool) -> None:
    kinds = MIXED[:9] if size == 3 else MIXED  # 56 sets of three, not 165
    n_found = 0
    for n_rows, target in [(30, 2), (400, 8), (2000, 4)]:
        table = make_table(kinds, n_rows, seed=n_rows)
        if not is_complete:
            table = with_missing(table, SHARES[: len(kinds)], seed=1)
        pool = pool_of(table, target)
        n_found += len(check(table, rule, target, AllSets(pool, pool, size), 0.0))
        asked = AllSets(frozenset(sorted(pool)[::2]), pool, size, min_rows_per_cell=2.0)
        n_found += len(check(table, rule, target, asked, 6.0))
    assert n_found


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    tables(kinds=KINDS, n_rows=(1, 900), n_columns=(4, 7)),
    st.integers(1, 3),
    st.sampled_from(list(RULES)),
    st.lists(st.sampled_from([0.0, 0.0, 0.05, 0.4]), min_size=7, max_size=7),
    st.floats(0.0, 20.0),
)
def test_sweeps_answer_like_single_tests_on_any_table(
    table: DiscreteTable, size: int, name: str, shares: list[float], bits: float
) -> None:
    pool = pool_of(table, 0)
    for each in (table, with_missing(table, shares[: table.n_columns], seed=0)):
        check(each, RULES[name], 0, AllSets(pool, pool, size), bits)


@pytest.mark.parametrize("is_complete", [True, False])
def test_any_number_of_threads_says_the_same(
    monkeypatch: pytest.MonkeyPatch, is_complete: bool
) -> None:
    kinds: list[Any] = [3, 2, 3, "parity", 2, 3, "copy", 4, 3, 3, 2, "parity", 3, 2]
    table = make_table(kinds, 3000, seed=3)
    if not is_complete:
        table = with_missing(table, [0.0, *[0.02] * 13], seed=2)
    pool, answers = pool_of(table, 0), []
    for threads, per_part in [(1, 1 << 17), (2, 7), (4, 1), (4, 40)]:
        monkeypatch.setattr(screens, "UNIONS_PER_PART", per_part)
        with use_threads(threads):
            answers.append(engine_of(table, G).strong(0, AllSets(pool, pool, 2), 4.0))
    assert answers[0]
    assert all(answer == answers[0] for answer in answers)


def test_questions_of_any_kind() -> None:
    table = make_table(MIXED, 300, seed=0)
    questions = [({0, 1, 3}, frozenset({4})), (set(), frozenset()), ({5, 6}, frozenset({0, 1}))]
    engine = engine_of(table, G)
    expected = [
        (own, x, z)
        for xs, z in questions
        for x, own in engine.evidence(2, [(xs, z)])[0].items()
        if own >= 5.0
    ]
    assert engine.strong(2, questions, 5.0) == sorted(expected, key=lambda d: (-d[0], d[1]))
    assert engine.strong(2, [], 5.0) == []


@pytest.mark.parametrize(("n_pool", "size"), [(1, 1), (0, 1), (2, 3), (0, 0)])
def test_sweeps_of_nothing(n_pool: int, size: int) -> None:
    engine = engine_of(make_table(MIXED, 20, seed=0), G)
    pool = frozenset(range(1, 1 + n_pool))
    assert engine.strong(0, AllSets(pool, pool, size), 0.0) == []
    assert engine.work.tests == 0


def test_a_small_sweep_is_not_screened(monkeypatch: pytest.MonkeyPatch) -> None:
    """That would have another kernel compiled for nothing."""
    monkeypatch.setattr(sweep, "LEAST_WORK", 1 << 29)
    monkeypatch.setattr(sweep, "make_screen", None)
    table = make_table([2, 3, 3, 2], 500, seed=0)
    pool = pool_of(table, 0)
    check(table, G, 0, AllSets(pool, pool, 1), 0.0)


def test_what_g_does_not_tell_is_not_screened(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sweep.least_gain(Rule(0.05, "chi2", divergence=1.0), 2, 1.0, 3.0, 100) is None
    table = make_table(MIXED, 300, seed=0)
    covariates = TableEngine(table.codes, table.cardinalities, G, fixed=frozenset({1}))
    monkeypatch.setattr(sweep, "make_screen", None)
    pool = pool_of(table, 2) - {1}
    found = covariates.strong(2, AllSets(pool, pool, 1), 0.0)
    both = {(x, z | {1}) for _, x, z in found}
    two = {(x, z) for _, x, z in one_by_one(table, G, 2, AllSets(pool, pool | {1}, 2), 0.0)}
    assert both == {(x, z) for x, z in two if 1 in z} != set()


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_an_interrupted_sweep_leaves_nothing_running() -> None:
    table = DiscreteTable.from_codes(np.random.default_rng(0).integers(0, 3, (500, 60)))
    pool = pool_of(table, 0)

    def interrupt(done: int, total: int) -> None:
        if done:
            os.kill(os.getpid(), signal.SIGINT)

    with use_threads(2), pytest.raises(KeyboardInterrupt):
        engine_of(table, G).strong(0, AllSets(pool, pool, 1), 4.0, on_progress=interrupt)
    assert not [each for each in threading.enumerate() if each.name.startswith("komb")]
