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


def ranked_numbers(table: DiscreteTable, test: TestChoice | CITest) -> dict[int, FloatArray]:
    """Return the columns that a test takes as numbers, by position, with their values.

    Examples
    --------
    >>> heights = {"height": [170.5 + i for i in range(30)], "sex": ["f", "m"] * 15}
    >>> table = DiscreteTable.from_data(heights, types="auto")
    >>> [*ranked_numbers(table, "auto")], [*ranked_numbers(table, "g")]
    ([0], [])
    """
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

    Examples
    --------
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> xor = boolean_table("parity", 500, n_parents=2, noise=0.1)  # columns X1, X2, Y
    >>> open_table(xor).is_dependent(2, 0, EMPTY)
    False
    >>> open_table(xor, given=frozenset({1})).is_dependent(2, 0, EMPTY)
    True
    """
    session = _open(table, **test)
    if not given and knowledge is None:
        return session
    levels = session.source.n_levels
    source = GivenSource(session.source, given, math.prod(levels[x] for x in given))
    if knowledge is None:
        return Session(source)
    return Session(InformedSource(source, knowledge, frozenset(range(table.n_columns)) - given))


def _open(table: DiscreteTable, test: TestChoice | CITest = "g-sci", **options: Any) -> Session:
    """Open a session that counts, or one that takes numbers as they are."""
    numbers = ranked_numbers(table, test)
    if not numbers:
        return DataSession(table, test, **options)
    from komb.sessions.mixed import MixedSession

    ordered = [table.index(name) for name, found in table.types.items() if _is_ordered(found)]
    return MixedSession(table, numbers, test=test, ordered=ordered, **options)


def _is_ordered(found: ColumnType) -> bool:
    """Whether the levels of a column are in an order that counts."""
    return found.kind in NUMERIC and not found.is_left_out
