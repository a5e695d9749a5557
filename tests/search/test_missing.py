"""Every search on tables with missing values, against its naive twin."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.search.komb import find_blanket
from komb.search.task import Task
from tests import naive
from tests.citests.kinds import EVERY_TEST
from tests.engine.engines import on_table
from tests.engine.tables import LOW_KIND, columns_of, with_missing
from tests.search.running import compare_end_to_end, tasks

every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)


@st.composite
def tasks_with_missing(draw: Any) -> tuple[DiscreteTable, Task]:
    table, task = draw(tasks(kinds=LOW_KIND))
    share = st.sampled_from((0.0, 0.05, 0.2, 0.5))
    shares = draw(st.lists(share, min_size=table.n_columns, max_size=table.n_columns))
    return with_missing(table, shares, draw(st.integers(0, 10**6))), task


@every_test
@settings(max_examples=20, deadline=None, derandomize=True)
@given(tasks_with_missing(), st.integers(0, 2), st.integers(0, 2), st.sampled_from([0.01, 0.2]))
def test_komb(
    test: str, df: str, drawn: tuple[DiscreteTable, Task], k: int, most: int, alpha: float
) -> None:
    table, task = drawn
    engine = on_table(table, test, alpha=alpha, df=df)
    twin = naive.sessions.DataSession(columns_of(table), test, alpha, df)
    assert find_blanket(engine, task, order=k, max_separator=most).witnesses == naive.komb.komb(
        twin, task.candidates, task.target, k, most, task.start, task.include
    )


@every_test
@settings(max_examples=8, deadline=None, derandomize=True)
@given(tasks_with_missing(), st.integers(0, 3), st.sampled_from([0.01, 0.2]))
def test_every_classic(
    test: str, df: str, drawn: tuple[DiscreteTable, Task], which: int, alpha: float
) -> None:
    table, task = drawn
    compare_end_to_end(table, task, which, test, alpha, df)


def test_an_exclusive_or_is_found_though_few_rows_are_complete() -> None:
    """Of twelve columns with a tenth missing each, 28 % of the rows are complete; 73 % for a test
    of three. Order 1 finds both parents of the parity."""
    complete = boolean_table("parity", 400, n_parents=2, n_irrelevant=9, noise=0.1, seed=4)
    table = with_missing(complete, [0.1] * 12, seed=4)
    target = complete.names.index("Y")
    task = Task(target, frozenset(range(12)) - {target})
    engine = on_table(table, alpha=1e-4)
    found = find_blanket(engine, task, order=1, max_separator=1).witnesses
    assert {complete.names[member] for member in found} == {"X1", "X2"}
