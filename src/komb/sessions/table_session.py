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
from komb.data.encode.column_types import NUMERIC, ColumnType
from komb.data.table import DiscreteTable
from komb.engine.block_engine import LONG_ROWS, BlockEngine
from komb.engine.engine import Engine
from komb.engine.plugin import MeasuredEngine
from komb.engine.questions import EMPTY, Variables
from komb.engine.rule import Rule
from komb.engine.table import TableEngine
from komb.sessions.bridge import CountingSession, SessionEngine
from komb.sessions.data import DataSession
from komb.sessions.given import GivenSource
from komb.sessions.session import Session
from komb.sessions.source import Source
from komb.sessions.sweep_journal import SweepJournal


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
    session = _open(table, **test)
    return Session(_hold(session.source, given)) if given else session


def open_engine(
    table: DiscreteTable,
    test: TestChoice = "g-sci",
    *,
    given: Variables = EMPTY,
    alpha: float = 0.01,
    df: str = "observed",
    seed: int = 0,
    journal: SweepJournal | None = None,
) -> Engine:
    """Open the engine of a search on a table, given covariates."""
    made = make_test(test, df, seed, alpha=alpha)
    is_long = not table.is_in_memory or table.n_rows >= LONG_ROWS
    if isinstance(made, CITest):
        counter = BlockEngine(table, Rule(alpha, "g")) if is_long else CountingSession(table)
        return MeasuredEngine(counter, made, alpha, given)
    is_counted = journal is None and not ranked_numbers(table, test)
    if is_counted and isinstance(made, RuleTest):
        kind = BlockEngine if is_long else TableEngine
        return kind.open(table, made.rule(alpha), given)
    options = {"alpha": alpha, "df": df, "seed": seed, "journal": journal}
    return SessionEngine(open_table(table, given=given, test=test, **options))


def open_features(table: DiscreteTable, *, alpha: float, given: Variables = EMPTY) -> Session:
    """Open a session that tests on features only, which takes conditions by the dozen."""
    from komb.sessions.mixed import MixedSource
    from komb.sessions.mixed_columns import MixedColumns

    columns = MixedColumns(table, ranked_numbers(table, "auto"), _ordered(table))
    discrete = DataSession(table, "auto", alpha=alpha).source
    source = MixedSource(columns, discrete, are_levels_counted=False)
    return Session(_hold(source, given) if given else source)


def _hold(source: Source, given: Variables) -> GivenSource:
    """Put covariates into the condition of every test."""
    return GivenSource(source, given, math.prod(source.n_levels[x] for x in given))


def _open(table: DiscreteTable, test: TestChoice = "g-sci", **options: Any) -> Session:
    """Open a session that counts, or one that takes numbers as they are."""
    numbers = ranked_numbers(table, test)
    if not numbers:
        return DataSession(table, test, **options)
    from komb.sessions.mixed import MixedSession

    return MixedSession(table, numbers, test=test, ordered=_ordered(table), **options)


def _ordered(table: DiscreteTable) -> list[int]:
    """Columns whose levels are in an order that counts."""
    return [table.index(name) for name, found in table.types.items() if _is_ordered(found)]


def _is_ordered(found: ColumnType) -> bool:
    """Whether the levels of a column are in an order that counts."""
    return found.kind in NUMERIC and not found.is_left_out
