"""Engines that tests open: where it changes how that is done, this file changes, alone."""

from __future__ import annotations

from typing import Any

from komb.citests.engines import open_engine, open_features
from komb.citests.registry import TestChoice
from komb.data.table import DiscreteTable
from komb.engine.engine import Engine
from komb.engine.knowledge import KnowledgeEngine
from komb.engine.questions import EMPTY, Variables
from tests.engine.random_answers import FunctionEngine


def on_table(table: DiscreteTable, test: TestChoice = "g-sci", **options: Any) -> Engine:
    """Tests on a table; ``given`` and ``knowledge`` are among the options."""
    known, given = options.pop("knowledge", None), options.get("given", EMPTY)
    engine = open_engine(table, test, **options)
    if known is None:
        return engine
    return KnowledgeEngine(engine, known, frozenset(range(table.n_columns)) - given)


def on_features(table: DiscreteTable, alpha: float) -> Engine:
    """Tests on features of columns, numbers and levels alike."""
    return open_features(table, alpha=alpha)


def recorder(table: DiscreteTable, **options: Any) -> FunctionEngine:
    """The same answers, one by one; ``asked`` lists them."""
    engine = on_table(table, **options)

    def strength(y: int, x: int, given: Variables) -> float:
        return engine.evidence(y, [({x}, given)])[0].get(x, 0.0)

    return FunctionEngine(table.n_columns, strength)
