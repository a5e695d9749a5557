"""Which engine answers for a table and a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from komb.citests.contract import CITest, RuleTest
from komb.citests.registry import TestChoice, find_test, make_test
from komb.data.kinds import NUMERIC
from komb.data.table import DiscreteTable
from komb.engine.engine import Engine
from komb.engine.fixed_point import FloatArray
from komb.engine.questions import EMPTY, Variables
from komb.engine.rule import Rule

if TYPE_CHECKING:
    from komb.engine.features.columns import FeatureColumns
    from komb.engine.features.feature_engine import FeatureEngine
    from komb.engine.journal import Journal
    from komb.engine.table import TableEngine

LONG_ROWS = 1 << 16
"""Rows from which on a table in memory is counted in blocks, too."""


def ranked_numbers(table: DiscreteTable, test: TestChoice) -> dict[int, FloatArray]:
    """Return the columns that a test takes as numbers, by position, with their values."""
    if not (find_test(test).takes_numbers and table.has_ranks):
        return {}
    return {table.index(name): values for name, values in table.numbers.items()}


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
    kind = _kind_for(table)
    if isinstance(made, CITest):
        from komb.engine.plugin import MeasuredEngine

        return MeasuredEngine(kind.open(table, Rule(alpha, "g")), made, alpha, given)
    assert isinstance(made, RuleTest)
    rule = made.rule(alpha)
    if ranked_numbers(table, test):
        from komb.engine.features.feature_engine import FeatureEngine

        levels = kind.open(table, rule)
        return FeatureEngine(_feature_columns(table), levels, alpha=alpha, fixed=given)
    engine = kind.open(table, rule, given)
    engine.journal = journal
    return engine


def open_counts(table: DiscreteTable) -> TableEngine:
    """Open an engine that counts, also for numbers, whose bins it sees."""
    made = make_test("auto")
    assert isinstance(made, RuleTest)
    return _kind_for(table).open(table, made.rule(0.01))


def open_features(table: DiscreteTable, *, alpha: float, given: Variables = EMPTY) -> FeatureEngine:
    """Open an engine that tests on features only, which takes conditions by the dozen."""
    from komb.engine.features.feature_engine import FeatureEngine

    return FeatureEngine(_feature_columns(table), alpha=alpha, fixed=given)


def _kind_for(table: DiscreteTable) -> type[TableEngine]:
    from komb.engine.block_engine import BlockEngine
    from komb.engine.table import TableEngine

    is_long = not table.is_in_memory or table.n_rows >= LONG_ROWS
    return BlockEngine if is_long else TableEngine


def _feature_columns(table: DiscreteTable) -> FeatureColumns:
    from komb.engine.features.columns import FeatureColumns

    ordered = [
        table.index(name)
        for name, found in table.types.items()
        if found.kind in NUMERIC and not found.is_left_out
    ]
    return FeatureColumns.of(table, ranked_numbers(table, "auto"), ordered)
