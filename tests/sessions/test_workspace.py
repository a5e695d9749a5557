"""What outlives a session: it saves time, and changes nothing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from komb.data.table import DiscreteTable
from komb.search.registry import find_algorithm
from komb.search.task import Found, Task
from komb.sessions import workspace
from komb.sessions.data import DataSession
from komb.sessions.questions import SessionCounts
from komb.sessions.workspace import borrow, return_after
from tests.counts.tables import make_table

LEVELS = [2, 3, 2, 12, 3, 40, 2, 5]


@pytest.fixture(autouse=True)
def no_spares() -> Iterator[None]:
    """Begin and end without what other tests have left."""
    workspace._spares.clear()
    yield
    workspace._spares.clear()


class Borrower:
    """Something that can go."""


def search(table: DiscreteTable, method: str, target: int) -> tuple[Found, SessionCounts]:
    session = DataSession(table, "g-sci", alpha=0.2)
    task = Task(target, frozenset(range(table.n_columns)) - {target})
    return find_algorithm(method).search(session, task), session.counts


@pytest.mark.parametrize("method", ["komb", "gs", "iamb", "mmmb", "pcmb", "bamb"])
def test_searches_find_the_same_by_as_much_work(method: str) -> None:
    """With a workspace that is new, that has served, and that another method has used."""
    targets = (0, 3, 7)
    fresh = [search(make_table(LEVELS, 300, seed=4), method, target) for target in targets]
    table = make_table(LEVELS, 300, seed=4)
    for _ in range(2):
        assert [search(table, method, target) for target in targets] == fresh
        assert len(workspace._spares) == 1
        search(table, "hiton-mb", 5)


def test_no_two_sessions_have_one() -> None:
    table = make_table([2] * 4, 50, seed=0)
    one, other = DataSession(table, "g"), DataSession(table, "g")
    assert one.source._workspace is not other.source._workspace
    kept = other.source._workspace
    del one, other  # in this order: the last one is kept
    assert DataSession(table, "g").source._workspace is kept


def test_threads_search_one_table() -> None:
    table = make_table(LEVELS, 300, seed=4)
    alone = [search(table, "komb", target) for target in range(8)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda target: search(table, "komb", target), range(8))) == alone


def test_nothing_is_kept_of_tables_that_are_gone_or_large(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table([2] * 4, 50, seed=0)
    DataSession(table, "g").dependents(0, {1}, frozenset({2}))
    assert len(workspace._spares) == 1
    del table
    gc.collect()
    assert not workspace._spares
    monkeypatch.setattr(workspace, "_SPARE_ROWS", 49)
    large = make_table([2] * 4, 50, seed=0)
    DataSession(large, "g").dependents(0, {1}, frozenset({2}))
    assert not workspace._spares


def test_only_a_few_are_kept() -> None:
    tables = [make_table([2] * 4, 50, seed=seed) for seed in range(6)]
    for table in tables:
        DataSession(table, "g").dependents(0, {1}, frozenset({2}))
    kept = [reference() for reference, _ in workspace._spares.values()]
    assert kept == tables[-workspace._SPARE_TABLES :]


def test_a_workspace_that_is_given_back_has_shed_what_is_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workspace, "_SPARE_BYTES", 0)
    monkeypatch.setattr("komb.sessions.formula_memory._SPARE_BYTES", 0)
    table = make_table([2] * 6, 200, seed=0)
    session = DataSession(table, "g")
    pool = frozenset(range(1, 6))
    session.separators.find(0, pool, pool, 2)
    used = session.source._workspace
    assert used.contingencies
    del session
    assert not used.contingencies
    assert not used._kept["hashes"]._spare


def test_who_borrows_may_outlive_the_table() -> None:
    table, borrower = make_table([2] * 4, 50, seed=0), Borrower()
    return_after(borrower, table, borrow(table))
    del table
    gc.collect()
    del borrower
    assert not workspace._spares
