"""The session of a search on a table: given covariates, and as background knowledge has it.

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
from komb.data.knowledge import ColumnKnowledge
from komb.data.table import DiscreteTable
from komb.sessions.data import DataSession
from komb.sessions.given import GivenSource
from komb.sessions.informed import InformedSource
from komb.sessions.questions import EMPTY, Variables
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
    knowledge: ColumnKnowledge | None = None,
    **test: Any,
) -> Session:
    """Open a session that tests on a table.

    Parameters
    ----------
    table : DiscreteTable
    given : frozenset of int
        Columns in the condition of every test; they are never asked about.
    knowledge : ColumnKnowledge, optional
        What answers have to agree with.
    **test
        As in :class:`~komb.sessions.data.DataSession`.
    """
    session = _open(table, **test)
    if not given and knowledge is None:
        return session
    held = _hold(session.source, given)
    if knowledge is None:
        return Session(held)
    return Session(InformedSource(held, knowledge, frozenset(range(table.n_columns)) - given))


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


def _open(table: DiscreteTable, test: TestChoice | CITest = "g-sci", **options: Any) -> Session:
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
