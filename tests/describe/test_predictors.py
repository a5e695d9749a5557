"""What is added to a blanket: as the rule says it, one test at a time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from komb.data.table import DiscreteTable
from komb.describe.predictors import CHANCE, FALSE_SHARE, add_predictors
from komb.engine.oracle import DSeparationEngine
from komb.engine.questions import EMPTY
from tests.data.models.graphs import random_dag, true_blanket
from tests.engine.engines import on_features


def weak_table(seed: int, n_rows: int = 150) -> DiscreteTable:
    """Draw a target, the last column, that many others have weak effects on, and some gaps."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 3))
    levels = rng.integers(0, 3, (n_rows, 5))
    weights = rng.choice([0.0, 0.4, 0.8], 8)
    signal = np.hstack([numbers, levels - 1]) @ weights
    y = (signal + rng.logistic(size=n_rows) > 0).astype(int)
    numbers[rng.random(numbers.shape) < 0.03] = np.nan
    columns = {f"n{i}": column for i, column in enumerate(numbers.T)}
    columns |= {f"l{i}": np.array(list("abc"))[column] for i, column in enumerate(levels.T)}
    return DiscreteTable.from_data({**columns, "y": y}, types="auto", missing="testwise")


def added_naively(
    table: DiscreteTable, blanket: frozenset[int], sizes: dict[int, int], room: int
) -> list[int]:
    """Test every column anew in each step, and compare p-values with their ranks."""
    added: list[int] = []
    while True:
        left = [x for x in sizes if x not in added]
        engine = on_features(table, alpha=0.999)
        p_values = {
            x: engine.outcome(table.n_columns - 1, x, blanket.union(added)).p_value or 1.0
            for x in left
        }
        if (
            not added
            and chi2.sf(-2 * np.log(list(p_values.values())).sum(), 2 * len(left)) > CHANCE
        ):
            return []
        passed: set[int] = set()
        for rank, x in enumerate(sorted(left, key=lambda x: p_values[x]), start=1):
            if p_values[x] <= FALSE_SHARE * rank / len(left):
                passed = set(sorted(left, key=lambda x: p_values[x])[:rank])
        used = sum(sizes[x] for x in added)
        fitting = [x for x in passed if used + sizes[x] <= room]
        if not fitting:
            return added
        added.append(min(fitting, key=lambda x: (p_values[x], x)))


@pytest.mark.parametrize("seed", range(4))
def test_the_rule(seed: int) -> None:
    table = weak_table(seed)
    sizes = {x: 1 + x % 2 for x in range(1, 8)}
    for room in (2, 20):
        engine = on_features(table, alpha=0.999)
        found = add_predictors(engine, 8, frozenset({0}), sizes, room)
        assert found == added_naively(table, frozenset({0}), sizes, room)


def test_nothing_helps_beyond_a_true_blanket() -> None:
    graph = random_dag(9, 0.3, np.random.default_rng(3))
    engine = DSeparationEngine(graph)
    for target in range(9):
        blanket = frozenset(true_blanket(graph, target))
        others = dict.fromkeys({*range(9)} - blanket - {target}, 1)
        assert add_predictors(engine, target, blanket, others, 9) == []


def test_noise_is_added_to_few_tables() -> None:
    n_tables, n_wrong = 40, 0
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 3, (10, 120))
        table = DiscreteTable.from_data({f"x{i}": column for i, column in enumerate(codes)})
        engine = on_features(table, alpha=0.999)
        n_wrong += bool(add_predictors(engine, 9, EMPTY, dict.fromkeys(range(9), 1), 9))
    assert 0 < n_wrong <= CHANCE * n_tables + 2 * (CHANCE * (1 - CHANCE) * n_tables) ** 0.5


def test_columns_that_were_chosen_for_their_evidence() -> None:
    """The best of many prove less than the same ones by themselves."""
    table = weak_table(1)
    sizes = dict.fromkeys(range(1, 8), 1)
    few, many = (
        add_predictors(on_features(table, alpha=0.999), 8, frozenset({0}), sizes, 9, n_others=n)
        for n in (0, 10**9)
    )
    assert few
    assert many == []
