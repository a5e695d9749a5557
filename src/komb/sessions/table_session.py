"""The session of a search on a table: given covariates, and as background knowledge has it."""

from __future__ import annotations

import math
from typing import Any

from komb.data.knowledge import ColumnKnowledge
from komb.data.table import DiscreteTable
from komb.sessions.data import DataSession
from komb.sessions.given import GivenSource
from komb.sessions.informed import InformedSource
from komb.sessions.questions import EMPTY, Variables
from komb.sessions.session import Session


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
    session = DataSession(table, **test)
    if not given and knowledge is None:
        return session
    source = GivenSource(session.source, given, math.prod(table.cardinalities[sorted(given)]))
    if knowledge is None:
        return Session(source)
    return Session(InformedSource(source, knowledge, frozenset(range(table.n_columns)) - given))
