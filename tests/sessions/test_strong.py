"""Strong dependences, quickly, against all strengths, one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from komb.citests import tests as registered
from komb.citests.contract import DF_RULES
from komb.citests.registry import make_test
from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.sessions import data, sweep_counting
from komb.sessions.data import DataSession, TableSource
from komb.sessions.questions import EMPTY, Variables
from komb.sessions.session import Session
from tests.counts.tables import (
    make_table,
    with_missing,
)

MIXED: list[int | str] = [2, 3, "parity", 2, 4, "copy", "parity", "rare"]
EVERY_KIND = [
    (name, df)
    for name, info in registered().items()
    for df in (DF_RULES if info.implementation.has_df_rule else DF_RULES[:1])
]
every_kind = pytest.mark.parametrize(("test", "df"), EVERY_KIND)

MIN_ROWS_PER_CELL = 2.0


class OneByOne(TableSource):
    """Knows no quicker way to strong dependences than to weigh everything."""

    def strong_in_pool(self, *_: object) -> None:  # type: ignore[override]
        return None

    def strong_among(self, *_: object, **__: object) -> None:  # type: ignore[override]
        return None


def one_by_one(table: DiscreteTable, test: str, df: str) -> Session:
    return Session(OneByOne(table, make_test(test, df, alpha=0.05), 0.05))


# ---------------------------------------------------------------------------------------- in a pool


def is_small(table: DiscreteTable, variables: list[int]) -> bool:
    cells: int = math.prod(table.cardinalities[variables].tolist())
    return MIN_ROWS_PER_CELL * cells <= table.n_rows


def check_strong(
    table: DiscreteTable, test: str, df: str, candidates: set[int], size: int, bits: float
) -> int:
    """Compare with all strengths, one by one; returns how many are strong."""
    target, pool = 2, frozenset(range(table.n_columns)) - {2}
    fast, plain = DataSession(table, test, alpha=0.05, df=df), one_by_one(table, test, df)
    found = fast.strong_dependences(
        target, candidates, pool, size, bits, min_rows_per_cell=MIN_ROWS_PER_CELL
    )
    everything = plain.strong_dependences(target, candidates, pool, size, bits)
    expected = [(own, x, z) for own, x, z in everything if is_small(table, [target, x, *sorted(z)])]
    assert [(x, z) for _, x, z in found] == [(x, z) for _, x, z in expected]
    assert [own for own, _, _ in found] == pytest.approx([own for own, _, _ in expected])
    assert fast.counts.tests == len(candidates) * math.comb(len(pool) - 1, size)
    return len(found)


@every_kind
@pytest.mark.parametrize("size", [1, 2])
def test_strong_dependences(monkeypatch: pytest.MonkeyPatch, test: str, df: str, size: int) -> None:
    monkeypatch.setattr(sweep_counting, "UNIONS_PER_CHUNK", 7)
    n_strong = 0
    for n_rows, candidates in [(60, {0, 3, 7}), (300, set(range(8)) - {2})]:
        table = make_table(MIXED, n_rows, seed=size)
        n_strong += check_strong(table, test, df, candidates, size, 6.0)
        n_strong += check_strong(table, test, df, candidates, size, 2.0)  # below the level
        check_strong(table, test, df, candidates, size, 10.5)
    assert n_strong


@every_kind
def test_strong_dependences_with_missing_values(test: str, df: str) -> None:
    table = with_missing(make_table(MIXED, 200, seed=0), [0.1, 0, 0.2, 0, 0.1, 0.5, 0, 0], seed=0)
    for size in (1, 2):
        check_strong(table, test, df, {0, 1, 3, 6}, size, 5.0)


def test_the_strongest_come_first() -> None:
    table = boolean_table("parity", 400, n_parents=2, n_irrelevant=2, seed=0)
    found = DataSession(table, "g").strong_dependences(2, {0, 1}, frozenset({0, 1, 3, 4}), 1, 20)
    assert {(x, z) for _, x, z in found} == {(0, frozenset({1})), (1, frozenset({0}))}
    assert found[0][0] >= found[1][0] > 20


def test_progress_of_a_sweep_for_strong_dependences() -> None:
    reports: list[tuple[int, int]] = []
    session = DataSession(make_table(MIXED, 100, seed=0), "g")
    pool = frozenset({0, 1, 3, 4, 5})
    session.strong_dependences(
        2, {0, 1}, pool, 1, 5.0, on_progress=lambda *done: reports.append(done)
    )
    assert reports[-1] == (10, 10)


# ---------------------------------------------------------------------------------- among questions


def draw_questions(n: int, seed: int) -> list[tuple[set[int], Variables]]:
    """Questions about column 2 with any number of candidates and conditions, some in both."""
    rng = np.random.default_rng(seed)
    others = [x for x in range(n) if x != 2]
    return [
        (
            set(rng.choice(others, rng.integers(0, 5), replace=False).tolist()),
            frozenset(rng.choice(others, rng.integers(0, 4), replace=False).tolist()),
        )
        for _ in range(25)
    ]


@every_kind
@pytest.mark.parametrize("batch", [1, 7, 20_000])
def test_strong_among(monkeypatch: pytest.MonkeyPatch, test: str, df: str, batch: int) -> None:
    """Not remembered, but the same as what is asked one by one, and each counted as a test."""
    monkeypatch.setattr(data, "_TESTS_PER_BATCH", batch)
    table = make_table(MIXED, 150, seed=batch)
    questions = list({given: (xs, given) for xs, given in draw_questions(8, batch)}.values())
    fast, plain = DataSession(table, test, alpha=0.05, df=df), one_by_one(table, test, df)
    for bits in (4.4, 8.0):
        found = fast.strong_among(2, questions, bits)
        expected = plain.strong_among(2, questions, bits)
        assert [(x, z) for _, x, z in found] == [(x, z) for _, x, z in expected]
        assert [own for own, _, _ in found] == pytest.approx([own for own, _, _ in expected])
    assert fast.counts.tests == 2 * sum(len(xs - given) for xs, given in questions)


def test_strong_among_with_missing_values() -> None:
    table = with_missing(make_table(MIXED, 200, seed=0), [0.1, 0, 0.2, 0, 0.1, 0.5, 0, 0], seed=0)
    questions = draw_questions(8, 0)
    fast, plain = DataSession(table, "auto", alpha=0.05), one_by_one(table, "auto", "observed")
    found = fast.strong_among(2, questions, 5.0)
    assert found == plain.strong_among(2, questions, 5.0)
    assert found == sorted(found, key=lambda each: (-each[0], each[1], sorted(each[2])))


def test_nothing_to_ask() -> None:
    session = DataSession(make_table(MIXED, 50, seed=0), "g")
    assert session.strong_among(2, [], 1.0) == []
    assert session.strong_among(2, [(set(), EMPTY), ({0}, frozenset({0}))], 1.0) == []
    assert session.counts.tests == 0


def test_progress_of_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_TESTS_PER_BATCH", 2)
    session = DataSession(make_table(MIXED, 50, seed=0), "g")
    reports: list[tuple[int, int]] = []
    questions = [({0}, frozenset({x})) for x in (1, 3, 4, 5, 6)]
    session.strong_among(2, questions, 1.0, lambda *done: reports.append(done))
    assert reports == [(0, 5), (2, 5), (4, 5)]
