"""The session of a search on a table, given covariates.

Numbers with many values are tested by their values where the test knows how to, and the table has
them: it is in memory, and its types were found. On many rows bins do nearly as well, and counting
them is much quicker.
"""

from __future__ import annotations

import math
from typing import Any

from komb.citests.contract import CITest
from komb.citests.registry import TestChoice, find_test
from komb.counts.fixedpoint import FloatArray
from komb.data.encode.column_types import NUMERIC, ColumnType
from komb.data.table import DiscreteTable
from komb.engine.engine import Engine
from komb.engine.features.columns import FeatureColumns
from komb.engine.features.feature_engine import FeatureEngine
from komb.engine.questions import EMPTY, Variables
from komb.sessions.bridge import SessionEngine
from komb.sessions.data import DataSession
from komb.sessions.given import GivenSource
from komb.sessions.session import Session
from komb.sessions.source import Source


def ranked_numbers(table: DiscreteTable, test: TestChoice | CITest) -> dict[int, FloatArray]:
    """Return the columns that a test takes as numbers, by position, with their values."""
    implementation = type(test) if isinstance(test, CITest) else find_test(test)
    if not (implementation.takes_numbers and table.is_in_memory and table.has_ranks):
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


def open_engine(table: DiscreteTable, *, given: Variables = EMPTY, **test: Any) -> Engine:
    """Open the engine of a search on a table, given covariates."""
    if not ranked_numbers(table, test.get("test", "g-sci")):
        return SessionEngine(open_table(table, given=given, **test))
    levels = open_table(table, **test)
    assert levels.alpha is not None
    columns = _feature_columns(table)
    return FeatureEngine(columns, SessionEngine(levels), alpha=levels.alpha, fixed=given)


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
