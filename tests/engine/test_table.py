"""The engine of a table: answers of every test, on tables of every kind, in whatever order."""

from __future__ import annotations

import gc
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests.contract import RuleTest
from komb.citests.registry import make_test
from komb.engine.engine import Query
from komb.engine.questions import EMPTY, Variables, subsets
from komb.engine.rule import Rule
from komb.engine.table import TableEngine
from komb.errors import ParameterError
from tests.citests.kinds import RULE_TESTS
from tests.engine.random_answers import FunctionEngine
from tests.engine.tables import make_table, tables_with_missing
from tests.engine.tables import tables as random_tables
from tests.naive.counts import MISSING, Columns
from tests.naive.decision import run_test

KINDS = (1, 2, 2, 3, 4, 9, 30, 300, "id", "rare", "copy", "parity")
ALPHA = 0.05

Codes = npt.NDArray[np.uint8 | np.uint16]
Table = tuple[Codes, npt.NDArray[np.int64]]  # codes, and levels
Tests = tuple[int, list[tuple[int, Variables]]]  # target; candidates and given sets


def rule_of(test: str, df: str = "observed") -> Rule:
    made = make_test(test, df, 0, alpha=ALPHA)
    assert isinstance(made, RuleTest)
    return made.rule(ALPHA)


def open_engine(table: Table, test: str, df: str = "observed", **options: Any) -> TableEngine:
    return TableEngine(*table, rule_of(test, df), **options)


@st.composite
def tables(draw: st.DrawFn, most_rows: int = 400) -> Table:
    kinds: dict[str, Any] = {"kinds": KINDS, "n_rows": (1, most_rows), "n_columns": (3, 7)}
    table = draw(st.one_of(random_tables(**kinds), tables_with_missing(**kinds)))
    return table.codes, table.cardinalities


def columns_of(table: Table) -> Columns:
    codes, levels = table
    return [
        [code if code < own else MISSING for code in column]
        for column, own in zip(codes.tolist(), levels.tolist(), strict=True)
    ]


def is_close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-8, abs_tol=1e-8)


def draw_tests(n_columns: int, seed: int, n_tests: int = 12) -> Tests:
    rng = np.random.default_rng(seed)
    y, *others = rng.permutation(n_columns).tolist()
    tests = []
    for _ in range(n_tests):
        x, *rest = rng.permutation(others).tolist()
        tests.append((x, frozenset(rest[: int(rng.integers(0, min(len(rest), 5) + 1))])))
    return y, tests


def test_columns_that_were_freed_are_put_in_order_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups of rows outlast the columns that they were made of."""
    monkeypatch.setattr("komb.engine.table.PREPARED_BYTES", 0)
    table = make_table([3] * 12, 2000, seed=0)
    engine = TableEngine(table.codes, table.cardinalities, rule_of("auto"))
    given, others = frozenset({1, 2, 3, 4, 5}), frozenset({1, 2, 7, 8, 9})
    engine.outcomes(0, [(11, given), (10, given)])  # groups rows
    for other in range(1, 6):
        engine.outcomes(other, [(11, EMPTY)])  # does not
    fresh = TableEngine(table.codes, table.cardinalities, rule_of("auto"))
    tests = [(11, others), (10, others)]
    assert engine.outcomes(0, tests) == fresh.outcomes(0, tests)


class TestOutcomes:
    @pytest.mark.parametrize("df", ["observed", "adjusted"])
    @pytest.mark.parametrize("test", RULE_TESTS)
    @settings(max_examples=15)
    @given(tables(), st.integers(0, 99))
    def test_they_are_those_of_the_twin(self, test: str, df: str, table: Table, seed: int) -> None:
        engine, columns = open_engine(table, test, df), columns_of(table)
        y, tests = draw_tests(len(columns), seed, 4)
        for (x, z), outcome in zip(tests, engine.outcomes(y, tests), strict=True):
            twin = run_test(columns, y, x, sorted(z), test, ALPHA, df)
            assert outcome.independent == twin.independent
            assert is_close(outcome.statistic, twin.statistic)
            assert is_close(outcome.df, twin.df)
            assert (outcome.test, outcome.reliable) == (twin.test, twin.reliable)
            assert engine.is_dependent(y, x, z) != twin.independent


class TestMemory:
    @pytest.mark.parametrize("test", RULE_TESTS)
    @settings(max_examples=20)
    @given(tables(), st.integers(0, 99))
    def test_answers_do_not_depend_on_what_was_asked_before(
        self, test: str, table: Table, seed: int
    ) -> None:
        y, tests = draw_tests(len(table[0]), seed)
        together = open_engine(table, test)
        answers = [together.evidence(y, [({x}, z)])[0] for x, z in tests]
        alone = [open_engine(table, test).evidence(y, [({x}, z)])[0] for x, z in tests[:4]]
        assert answers[:4] == alone
        assert together.evidence(y, [({x}, z) for x, z in tests]) == answers
        assert together.work.tests == len(set(tests))

    @settings(max_examples=20)
    @given(tables(), st.integers(0, 99))
    def test_answers_do_not_depend_on_the_order_of_rows(self, table: Table, seed: int) -> None:
        (codes, levels), (y, tests) = table, draw_tests(len(table[0]), seed)
        order = np.random.default_rng(seed).permutation(codes.shape[1])
        shuffled = np.ascontiguousarray(codes[:, order]), levels
        for test in ("auto", "g-sci"):
            one, other = open_engine(table, test), open_engine(shuffled, test)
            assert one.outcomes(y, tests) == other.outcomes(y, tests)

    def test_a_large_memory_grows_and_a_trimmed_one_is_filled_again(self) -> None:
        table = make_table([2, 3, 2, 2, 3, 2, 2, 3, 2, 2, 2, 2], 60, seed=1)
        engine = open_engine((table.codes, table.cardinalities), "g")
        others = frozenset(range(1, 12))
        questions = [(others - z, z) for z in subsets(others, 4)]
        found = engine.evidence(0, questions)
        n_tests = engine.work.tests
        assert n_tests == sum(len(candidates) for candidates, _ in questions)
        assert engine.evidence(0, questions) == found
        assert engine.work.tests == n_tests
        engine.trim(0)
        assert engine.evidence(0, questions) == found


class TestWeights:
    @settings(max_examples=20)
    @given(tables(120), st.integers(0, 99))
    def test_a_weight_is_so_many_rows(self, table: Table, seed: int) -> None:
        (codes, levels), (y, tests) = table, draw_tests(len(table[0]), seed)
        weight = np.random.default_rng(seed).integers(0, 4, codes.shape[1]).astype(np.int32)
        repeated = np.ascontiguousarray(np.repeat(codes, weight, axis=1))
        for test in ("auto", "g-sci", "g"):
            weighted = open_engine(table, test, weight=weight)
            if not repeated.shape[1]:
                return
            assert weighted.outcomes(y, tests) == open_engine((repeated, levels), test).outcomes(
                y, tests
            )


class TestLoops:
    @settings(max_examples=25)
    @given(tables(200), st.integers(0, 99), st.integers(0, 2), st.integers(0, 3))
    def test_they_are_those_of_plain_python(
        self, table: Table, seed: int, n_allies: int, most: int
    ) -> None:
        n = len(table[0])
        engine, asked = open_engine(table, "g"), open_engine(table, "g")
        plain = FunctionEngine(n, lambda y, x, z: asked.evidence(y, [({x}, z)])[0].get(x, 0.0))
        y, *others = np.random.default_rng(seed).permutation(n).tolist()
        pool, core = frozenset(others[: n // 2]), frozenset(others[n // 2 : n // 2 + 1])
        candidates = sorted(set(others) - core)
        bits = dict.fromkeys(candidates, math.inf)
        queries = [Query(candidates, core, n_allies), Query(candidates, EMPTY, n_allies)]
        assert engine.first_witness(y, queries, pool, most) == plain.first_witness(
            y, queries, pool, most
        )
        pools = {x: pool - {x} for x in candidates}
        how: list[dict[str, Any]] = [{}, {"min_size": 1}, {"is_in_turn": True}]
        for options in how:
            for own in (pool, pools):
                answer = engine.weakest(y, bits, own, most, core=core, **options)
                assert answer == plain.weakest(y, bits, own, most, core=core, **options)

    def test_covariates_are_in_every_condition(self) -> None:
        table = make_table([2, 3, 2, "parity", 4, "copy"], 300, seed=3)
        codes = table.codes, table.cardinalities
        engine, plain = open_engine(codes, "g", fixed=frozenset({1})), open_engine(codes, "g")
        assert engine.n_strata == 3
        assert engine.evidence(3, [({0, 2}, EMPTY)]) == plain.evidence(
            3, [({0, 2}, frozenset({1}))]
        )
        bits = dict.fromkeys((0, 2), math.inf)
        least, separated = engine.weakest(3, bits, frozenset({4, 5}), 2)
        assert (least, {x: z | {1} for x, z in separated.items()}) == plain.weakest(
            3, bits, frozenset({4, 5}), 2, core=frozenset({1})
        )

    def test_columns_that_are_not_there_are_refused(self) -> None:
        table = make_table([2, 2, 2], 20, seed=0)
        engine = open_engine((table.codes, table.cardinalities), "g")
        with pytest.raises(ParameterError, match="from 0 to 2"):
            engine.evidence(0, [({1, 3}, EMPTY)])


class TestBuffers:
    def test_the_next_engine_has_those_of_the_last_but_no_answers(self) -> None:
        table, rule = make_table([2, 3, 2, "parity"], 200, seed=5), rule_of("auto")
        first = TableEngine.open(table, rule)
        answer, buffers = first.evidence(3, [({0, 1, 2}, EMPTY)]), first._buffers
        second = TableEngine.open(table, rule)
        assert second._buffers is not buffers
        del first
        gc.collect()
        third = TableEngine.open(table, rule)
        assert third._buffers is buffers
        assert third.work.tests == 0
        assert third.evidence(3, [({0, 1, 2}, EMPTY)]) == answer
        assert third.work.tests == 3

    def test_tests_in_turn_share_columns_and_answer_as_if_alone(self) -> None:
        table = make_table([2, 3, 2, 2, "parity"], 300, seed=7)
        asked = [({0, 1, 2, 3} - z, z) for z in subsets(range(4), 2)]
        for target in (4, 0, 4):
            for test in RULE_TESTS * 2:
                rule = rule_of(test)
                questions = [(candidates - {target}, z - {target}) for candidates, z in asked]
                shared = TableEngine.open(table, rule).evidence(target, questions)
                alone = TableEngine(table.codes, table.cardinalities, rule)
                assert shared == alone.evidence(target, questions)
