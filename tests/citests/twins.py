"""Outcomes of tests compared with those of their naive twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from komb.data.table import DiscreteTable
from komb.engine.engine import Engine
from tests import naive
from tests.engine.engines import on_table
from tests.engine.tables import columns_of


def check_against_twin(
    table: DiscreteTable, target: int, x: int, members: frozenset[int], session: Engine, **kind: Any
) -> None:
    twin = naive.decision.run_test(columns_of(table), target, x, members, **kind)
    outcome = session.outcome(target, x, frozenset(members))
    assert outcome.statistic == pytest.approx(twin.statistic, rel=1e-9, abs=1e-9)
    assert outcome.df == (twin.df and pytest.approx(twin.df, rel=1e-9))
    if twin.df is None or twin.p_value is None:
        assert outcome.p_value is None
    else:
        assert outcome.p_value == pytest.approx(twin.p_value, rel=1e-8, abs=1e-10)
        if twin.df > 0 and isinstance(twin.df, int):
            own = float(chi2.sf(outcome.statistic, twin.df))
            assert outcome.p_value == pytest.approx(own, rel=1e-10, abs=1e-300)
    assert outcome.test == twin.test
    assert outcome.independent == twin.independent
    assert outcome.reliable == twin.reliable
    assert session.is_dependent(target, x, members) is not twin.independent


def check_some_against_twins(
    test: str, df: str, table: DiscreteTable, seed: int, alpha: float
) -> None:
    """Compare the outcomes of some tests, drawn at random, with what is obvious."""
    rng = np.random.default_rng(seed)
    session = on_table(table, test, alpha=alpha, df=df)
    for _ in range(6):
        target, x, *others = rng.permutation(table.n_columns).tolist()
        members = frozenset(others[: rng.integers(0, min(4, len(others)) + 1)])
        kind = {"test": test, "df": df, "alpha": alpha}
        check_against_twin(table, target, x, members, session, **kind)
