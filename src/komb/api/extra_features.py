"""The columns that a selector adds to a blanket because they help to predict.

:mod:`komb.search.structure.predictors` says why and how; here are the bounds on what it may cost.
"""

from __future__ import annotations

from collections.abc import Mapping

from komb.data.arrange.strata import held_columns
from komb.data.knowledge import Knowledge
from komb.data.names import Name
from komb.data.table import DiscreteTable
from komb.results.blanket import Blanket
from komb.search.structure.predictors import add_predictors
from komb.sessions.table_session import open_features

MOST_CANDIDATES = 60
"""Columns that are looked at, those with most evidence of their own."""

MOST_ROWS = 20_000
"""On more rows a search sees by itself what is worth having."""

ANY_LEVEL = 1 - 1e-12
"""Level of a test that reports every p-value."""


def find_predictors(
    blanket: Blanket,
    table: DiscreteTable,
    scores: Mapping[Name, float],
    sizes: Mapping[Name, int],
    room: int,
) -> list[Name]:
    """Return the columns to add to a blanket, the first of them first.

    Examples
    --------
    >>> import komb
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> table = boolean_table("or", 500, n_parents=3, noise=0.1)
    >>> alone = komb.markov_blanket(table, "Y", exclude=["X3"])
    >>> alone.members
    ('X1', 'X2')
    >>> find_predictors(alone, table, {"X3": 9.0}, {"X3": 1}, room=1)
    ['X3']
    >>> find_predictors(alone, table, {"X3": 9.0}, {"X3": 1}, room=0)
    []
    """
    if {*blanket.members} <= {*blanket.parameters["include"]} or table.n_rows > MOST_ROWS:
        return []
    banned = _forbidden(blanket)
    allowed = [name for name in table.names if name in scores and name not in banned]
    likeliest = sorted(allowed, key=lambda name: -scores[name])[:MOST_CANDIDATES]
    held = frozenset(map(table.index, held_columns(table, blanket.parameters.get("given") or ())))
    session = open_features(table, alpha=ANY_LEVEL, given=held)
    added = add_predictors(
        session,
        table.index(blanket.target),
        frozenset(map(table.index, blanket.members)),
        {table.index(name): sizes[name] for name in likeliest},
        room,
        n_others=len(allowed),
    )
    return [table.names[x] for x in added]


def _forbidden(blanket: Blanket) -> set[Name]:
    """Columns that are known to be no neighbours of the target."""
    knowledge = blanket.parameters.get("knowledge")
    if knowledge is None:
        return set()
    pairs = Knowledge.of(knowledge).forbidden
    return {name for pair in pairs if blanket.target in pair for name in pair}
