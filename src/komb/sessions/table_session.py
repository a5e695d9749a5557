"""The session of a search on a table, given covariates.

Numbers with many values are tested by their values where the test knows how to, and the table has
them: it is in memory, and its types were found. On many rows bins do nearly as well, and counting
them is much quicker.
"""

from __future__ import annotations

import math
from typing import Any

from komb.citests.contract import CITest, RuleTest
from komb.citests.registry import TestChoice, find_test, make_test
from komb.counts.fixedpoint import FloatArray
from komb.counts.long_contingency import LONG_ROWS
from komb.data.encode.column_types import NUMERIC, ColumnType
from komb.data.table import DiscreteTable
from komb.engine.engine import Engine
from komb.engine.features.columns import FeatureColumns
from komb.engine.features.feature_engine import FeatureEngine
from komb.engine.journal import Journal
from komb.engine.plugin import MeasuredEngine
from komb.engine.questions import EMPTY, Variables
from komb.engine.table import TableEngine
from komb.sessions.bridge import CountingSession, SessionEngine
from komb.sessions.data import DataSession
from komb.sessions.given import GivenSource
from komb.sessions.session import Session
from komb.sessions.source import Source


def ranked_numbers(table: DiscreteTable, test: TestChoice) -> dict[int, FloatArray]:
    """Return the columns that a test takes as numbers, by position, with their values."""
    if not (find_test(test).takes_numbers and table.is_in_memory and table.has_ranks):
        return {}
    return {table.index(name): values for name, values in table.numbers.items()}


def open_table(
    table: DiscreteTable,
    *,
    given: Variables = EMPTY,
    **test: Any,
) -> Session:
    """Open a session that tests on a table.

    Parameters
    ----------
    table : DiscreteTable
    given : frozenset of int
        Columns in the condition of every test; they are never asked about.
    **test
        As in :class:`~komb.sessions.data.DataSession`.
    """
    session = DataSession(table, **test)
    return Session(_hold(session.source, given)) if given else session


def open_engine(
    table: DiscreteTable,
    test: TestChoice = "g-sci",
    *,
    given: Variables = EMPTY,
    alpha: float = 0.01,
    df: str = "observed",
    seed: int = 0,
    journal: Journal | None = None,
) -> Engine:
    """Open the engine of a search on a table, given covariates."""
    made = make_test(test, df, seed, alpha=alpha)
    assert isinstance(made, CITest | RuleTest)
    if isinstance(made, CITest):
        return MeasuredEngine(CountingSession(table), made, alpha, given)
    if ranked_numbers(table, test):
        levels = TableEngine.open(table, made.rule(alpha))
        return FeatureEngine(_feature_columns(table), levels, alpha=alpha, fixed=given)
    if table.is_in_memory and table.n_rows < LONG_ROWS:
        engine = TableEngine.open(table, made.rule(alpha), given)
        engine.journal = journal
        return engine
    options = {"alpha": alpha, "df": df, "seed": seed, "journal": journal}
    return SessionEngine(open_table(table, given=given, test=test, **options))


def open_features(table: DiscreteTable, *, alpha: float, given: Variables = EMPTY) -> FeatureEngine:
    """Open an engine that tests on features only, which takes conditions by the dozen."""
    return FeatureEngine(_feature_columns(table), alpha=alpha, fixed=given)


def _feature_columns(table: DiscreteTable) -> FeatureColumns:
    return FeatureColumns(table, ranked_numbers(table, "auto"), _ordered(table))


def _hold(source: Source, given: Variables) -> GivenSource:
    """Put covariates into the condition of every test."""
    return GivenSource(source, given, math.prod(source.n_levels[x] for x in given))


def _ordered(table: DiscreteTable) -> list[int]:
    """Columns whose levels are in an order that counts."""
    return [table.index(name) for name, found in table.types.items() if _is_ordered(found)]


def _is_ordered(found: ColumnType) -> bool:
    """Whether the levels of a column are in an order that counts."""
    return found.kind in NUMERIC and not found.is_left_out
