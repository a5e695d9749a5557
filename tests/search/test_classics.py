"""Every classic search against its naive twin: the same blankets and the same witnesses.

All of them are asked the same, so a search that is added to the registry is tested as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import komb
from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.models.boolean_functions import BOOLEAN_FUNCTIONS, boolean_table
from komb.data.table import DiscreteTable
from komb.engine import plain
from komb.engine.questions import Variables
from komb.search.task import Task
from tests import naive
from tests.citests.kinds import EVERY_TEST
from tests.engine.answers import SIZES_OF_BATCHES, Dice
from tests.engine.engines import on_table, recorder
from tests.engine.tables import ANY_KIND, columns_of
from tests.search.running import (
    CLASSICS,
    OneByOne,
    bounds,
    compare_end_to_end,
    everyone,
    search,
    search_naively,
    tasks,
)

every_test = pytest.mark.parametrize(("test", "df"), EVERY_TEST)
every_classic = pytest.mark.parametrize("name", CLASSICS)

levels = st.sampled_from([0.01, 0.2])  # 0.2 makes many false alarms, and so more work all along
which_bound = st.integers(0, 4)


def compare_searches(
    table: DiscreteTable, task: Task, which: int, test: str, alpha: float, df: str
) -> None:
    """Both get the answers of komb sessions, the twin one by one: nothing can round."""
    one_by_one = OneByOne(on_table(table, test, alpha=alpha, df=df))
    for name in CLASSICS:
        bound = bounds(name)[which]
        found = search(name, on_table(table, test, alpha=alpha, df=df), task, bound)
        assert found == search_naively(name, one_by_one, task, bound), name


# -------------------------------------------------------------------------------------- any tables


@every_test
@settings(max_examples=25, deadline=None, derandomize=True)
@given(drawn=tasks(n_rows=(20, 300)), which=which_bound, alpha=levels)
def test_random_tables(
    test: str, df: str, drawn: tuple[DiscreteTable, Task], which: int, alpha: float
) -> None:
    compare_end_to_end(*drawn, which, test, alpha, df)


@every_test
@settings(max_examples=25, deadline=None, derandomize=True)
@given(drawn=tasks(kinds=ANY_KIND, n_rows=(1, 300)), which=which_bound, alpha=levels)
def test_random_tables_with_any_number_of_levels(
    test: str, df: str, drawn: tuple[DiscreteTable, Task], which: int, alpha: float
) -> None:
    compare_searches(*drawn, which, test, alpha, df)


def draw_roles(n_variables: int, target: int, rng: np.random.Generator) -> Task:
    """Leave out one variable in ten, start from one in five, fix one in ten."""
    free = frozenset(x for x in range(n_variables) if x != target and rng.random() < 0.9)
    start = frozenset(x for x in free if rng.random() < 0.2)
    return Task(target, free, start, frozenset(x for x in free if rng.random() < 0.1))


@pytest.mark.parametrize("seed", range(120))
def test_answers_that_are_pure_chance(seed: int) -> None:
    """No distribution would answer like this: every branch of every search is taken.

    Strengths are 1, 2 or 3, so that ties are as frequent as differences; or there are no ties.
    """
    rng = np.random.default_rng(seed)
    n, bias = int(rng.integers(3, 9)), float(rng.choice([0.05, 0.2, 0.4, 0.6, 0.8]))
    task = draw_roles(n, 0, rng)
    for sides in (3, 10**6):
        twin = Dice(n, seed, bias, sides)
        for name in CLASSICS:
            for bound in bounds(name):
                found = search(name, Dice(n, seed, bias, sides), task, bound)
                assert found == search_naively(name, twin, task, bound), (name, bound)


@pytest.mark.parametrize("seed", range(40))
def test_answers_that_are_hardly_ever_no(seed: int) -> None:
    """Sets of likely neighbours grow large, and the order in which they grow matters."""
    rng = np.random.default_rng(seed)
    task = draw_roles(9, 0, rng)
    bias = float(rng.choice([0.02, 0.05, 0.1]))
    for name in CLASSICS:
        found = search(name, Dice(9, seed, bias, 10**6), task, 3)
        assert found == search_naively(name, Dice(9, seed, bias, 10**6), task, 3), name


@pytest.mark.parametrize("seed", range(20))
def test_many_candidates(seed: int) -> None:
    """So many that they are asked about in lots, and so few dependent that twins can cope."""
    dice = Dice(100, seed, 0.96)
    task = everyone(dice, 50)
    for name in CLASSICS:
        found = search(name, Dice(100, seed, 0.96), task, 2)
        assert found == search_naively(name, dice, task, 2), name


# -------------------------------------------------------------------------------- real structure


@every_test
@pytest.mark.parametrize("seed", range(4))
def test_samples_of_random_networks(seed: int, test: str, df: str) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 8))
    network = DiscreteNetwork.random(n, degree=2.5, concentration=0.4, seed=seed)
    table = network.sample(int(rng.integers(100, 300)), seed)
    task = draw_roles(n, int(rng.integers(n)), rng)
    compare_end_to_end(table, task, int(rng.integers(1, 5)), test, 0.05, df)


@every_classic
@pytest.mark.parametrize("seed", [2, 6])
def test_samples_of_larger_networks(name: str, seed: int) -> None:
    network = DiscreteNetwork.random(10, degree=3, concentration=0.3, seed=seed)
    table = network.sample(1000, seed)
    one_by_one = OneByOne(on_table(table))
    sizes, n_spouses = [], 0
    for target in (0, 3, 4, 8):
        for bound in (1, 3):
            engine = on_table(table)
            found = search(name, engine, everyone(engine, target), bound)
            assert found == search_naively(name, one_by_one, everyone(engine, target), bound)
            sizes.append(len(found))
            n_spouses += sum(bool(witness) for witness in found.values())
    assert max(sizes) > 2  # not a test of empty sets
    assert n_spouses > 0


@every_classic
@pytest.mark.parametrize("function", BOOLEAN_FUNCTIONS)
def test_boolean_functions(name: str, function: str) -> None:
    table = boolean_table(function, 200, n_irrelevant=3, seed=7)
    for target in (3, 0):
        for bound in (1, 3):
            engine = on_table(table)
            task = everyone(engine, target)
            twin = naive.sessions.DataSession(columns_of(table))
            assert search(name, engine, task, bound) == search_naively(name, twin, task, bound)


@every_classic
def test_one_engine_serves_many_searches(name: str) -> None:
    """Whatever was asked before, by whichever search, for whichever target."""
    table = DiscreteNetwork.random(8, degree=3, concentration=0.3, seed=1).sample(500, 1)
    shared = on_table(table)
    for other, info in komb.algorithms().items():
        for target in (2, 5):
            task = everyone(shared, target)
            info.search(shared, task)
            expected = search(name, on_table(table), task, 2)
            assert search(name, shared, task, 2) == expected, other


@every_classic
def test_forgetting_does_not_matter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = DiscreteNetwork.random(8, degree=3, concentration=0.3, seed=1).sample(500, 1)
    tasks = [everyone(on_table(table), target) for target in range(4)]
    expected = [search(name, recorder(table), task, 2) for task in tasks]
    monkeypatch.setattr("komb.engine.plain.REMEMBERED_BYTES", 0)
    assert [search(name, recorder(table), task, 2) for task in tasks] == expected


@every_classic
@pytest.mark.parametrize("size", [1, 2, 3, 10**6])
def test_sizes_of_batches_do_not_matter(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> list[Any]:
        return [
            search(name, dice, everyone(dice, 0), 3)
            for dice in (Dice(8, seed, 0.3) for seed in range(5))
        ]

    expected = found()
    for constant in SIZES_OF_BATCHES:
        monkeypatch.setattr(plain, constant, size)
    assert found() == expected


# ---------------------------------------------------------------------------------- what they share


def test_lrh_without_rivals_is_iamb() -> None:
    for seed in range(100):
        dice = Dice(8, seed, 0.5)
        task = everyone(dice, 0)
        assert search("lrh", dice, task, 0) == search("iamb", dice, task, None)


def test_what_a_witness_says_is_true() -> None:
    """A member depends on the target given its witness; one without does not."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        dice = Dice(7, seed, 0.5)
        task = draw_roles(7, 0, rng)
        for name in CLASSICS:
            for x, witness in search(name, dice, task, 2).items():
                others: Variables = frozenset() if witness is None else witness
                assert x not in others
                assert others <= task.candidates
                if witness is None:
                    assert x in task.include, name
                else:
                    assert dice.is_dependent(0, x, witness), name
