"""The automatic search against its twin: the same members, witnesses and separators.

Whether they are the right ones is asked in ``test_auto_truth.py``, of samples in
``test_auto_data.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.citests import tests as registered
from komb.data.models.boolean_functions import boolean_network, boolean_table
from komb.data.table import DiscreteTable
from komb.engine import plain
from komb.engine.engine import Engine
from komb.engine.oracle import DistributionEngine
from komb.engine.questions import Variables
from komb.search import _effort, _region, auto
from komb.search._automatic import Budget
from komb.search._effort import work_of_order
from komb.search._thresholds import LEVEL, family_bits, share_of_level
from komb.search.auto import find_blanket
from komb.search.task import GroundedChoice, GroundedOmission, Kind, Progress, Task, fact
from tests.data.models.graphs import ASIA, CHILD, draw_from
from tests.engine.answers import SIZES_OF_BATCHES, Dice
from tests.engine.engines import on_table
from tests.engine.tables import with_missing
from tests.search.automatic_twin import ALPHA, check_twin
from tests.search.running import NaiveOnTable, OneByOne, Witnesses, everyone, tasks

#: The search wants small p-values, which shuffles do not give.
ACCEPTED = [name for name in registered() if name != "perm"]


def search(engine: Engine, task: Task, alpha: float | None = ALPHA, **options: Any) -> Witnesses:
    return dict(find_blanket(engine, task, alpha=alpha, **options).witnesses)


def on_data(table: DiscreteTable, test: str = "auto", alpha: float = ALPHA) -> Engine:
    return on_table(table, test, alpha=alpha)


def check_table(
    table: DiscreteTable, test: str, task: Task, alpha: float = ALPHA, **options: Any
) -> Witnesses:
    twin = NaiveOnTable(table, test, alpha)
    return check_twin(on_data(table, test, alpha), twin, task, alpha, **options)


# ------------------------------------------------------------------------------------------- dice


def draw_task(n: int, seed: int) -> Task:
    """Variable 0 is the target; some of the others are to start with, some to stay."""
    roles = np.random.default_rng(seed).choice(["free"] * 4 + ["start", "include"], n).tolist()
    start, include = (
        frozenset(x for x in range(1, n) if roles[x] == role) for role in ("start", "include")
    )
    return Task(0, frozenset(range(1, n)), start, include)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.integers(1, 8),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.1, 0.3, 0.6, 0.9]),
    st.sampled_from([8, 20, 40]),
    st.sampled_from([None, 0, 1, 2]),
    st.integers(0, 4),
)
def test_dice(n: int, seed: int, bias: float, sides: int, order: int | None, most: int) -> None:
    """Answers without rhyme or reason lead both the same way."""
    dice = Dice(n, seed, bias, sides)
    check_twin(
        dice, Dice(n, seed, bias, sides), draw_task(n, seed), 0.4, order=order, max_separator=most
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.integers(5, 10), st.integers(0, 10**6), st.sampled_from([0.0, 0.01, 0.1]), st.integers(1, 4)
)
def test_dice_with_small_pools(n: int, seed: int, bias: float, pool: int) -> None:
    """Separators are made of some of the members only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_region, "LARGEST_POOL", pool)
        patch.setattr(_region, "FEW_WAITING", 0)
        dice, twin = Dice(n, seed, bias, sides=30), Dice(n, seed, bias, sides=30)
        check_twin(dice, twin, draw_task(n, seed), 0.4, order=1)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(3, 7), st.integers(0, 10**6), st.sampled_from([0.1, 0.3, 0.6]))
def test_either_of_two_searches_settles_whether_they_are_joined(
    n: int, seed: int, bias: float
) -> None:
    def begin() -> _region.Region:
        return _region.Region(Dice(n, seed, bias, sides=30), frozenset(range(n)), 2)

    one, other = begin(), begin()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_region, "FEW_WAITING", 0)
        for a in range(n):
            for b in one.alone(a):
                expected = one.joint_bits(one.search_from(a), b) > 0
                assert begin().are_joined(a, b) == other.are_joined(a, b) == expected


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(2, 8), st.integers(0, 10**6), st.sampled_from([0.001, 0.05, 0.3, 0.9]))
def test_dice_at_other_levels(n: int, seed: int, level: float) -> None:
    dice, twin = Dice(n, seed, 0.4, sides=15), Dice(n, seed, 0.4, sides=15)
    check_twin(dice, twin, draw_task(n, seed), 0.4, level=level)


class LoudDice(Dice):
    """What depends does so strongly."""

    def strength(self, y: int, x: int, given: Variables) -> float:
        bits = super().strength(y, x, given)
        return bits + 20 if bits else 0.0


@pytest.mark.parametrize("bias", [0.0, 0.0002])
def test_separators_out_of_many_neighbours(bias: float) -> None:
    """Nearly everything is a neighbour of everything, and so more than a pool has room for."""
    n = _region.LARGEST_POOL + 4
    task = Task(0, frozenset(range(1, n)))
    options: dict[str, Any] = {"order": 0, "max_separator": 2}
    assert check_twin(LoudDice(n, 0, bias), LoudDice(n, 0, bias), task, **options)


# ----------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize("test", ACCEPTED)
@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    tasks(n_rows=(20, 120), n_columns=(3, 6)),
    st.sampled_from([0.05, 0.3]),
    st.sampled_from([None, 0, 1]),
    st.sampled_from([1, 3]),
)
def test_tables(
    test: str, drawn: tuple[DiscreteTable, Task], alpha: float, order: int | None, most: int
) -> None:
    table, task = drawn
    check_table(table, test, task, alpha, order=order, max_separator=most)


@pytest.mark.parametrize("test", ["auto", "g"])
@settings(max_examples=10, deadline=None, derandomize=True)
@given(tasks(n_rows=(20, 120), n_columns=(3, 6)), st.integers(0, 10**6))
def test_tables_with_missing_values(
    test: str, drawn: tuple[DiscreteTable, Task], seed: int
) -> None:
    table, task = drawn
    shares = np.random.default_rng(seed).choice([0, 0.1, 0.5], table.n_columns).tolist()
    check_table(with_missing(table, shares, seed), test, task, 0.3)


@pytest.mark.parametrize(
    ("table", "target"),
    [
        pytest.param(boolean_table("parity", 300, n_irrelevant=2, seed=1), 3, id="parity"),
        pytest.param(boolean_table("ex-1", 200, n_irrelevant=4, seed=1), 3, id="ex-1"),
        pytest.param(boolean_table("and", 200, n_irrelevant=4, seed=2), 0, id="and"),
        pytest.param(draw_from(ASIA, 400, seed=3), 3, id="asia"),
        pytest.param(draw_from(ASIA, 400, seed=4), 2, id="asia-2"),
    ],
)
@pytest.mark.parametrize("test", ["auto", "g"])
def test_sampled_tables(table: DiscreteTable, target: int, test: str) -> None:
    """With every answer of the engine, one by one, in place of the naive test."""
    twin = OneByOne(on_data(table, test))
    assert check_twin(on_data(table, test), twin, everyone(on_data(table), target))


@pytest.mark.parametrize("target", [4, 7, 12])
def test_a_network(target: int) -> None:
    table = draw_from(CHILD, 300, seed=0)
    engine, twin = on_data(table), OneByOne(on_data(table))
    check_twin(engine, twin, everyone(engine, target), order=1)


@pytest.mark.parametrize("pool", [2, 3])
def test_a_network_with_small_pools(monkeypatch: pytest.MonkeyPatch, pool: int) -> None:
    monkeypatch.setattr(_region, "LARGEST_POOL", pool)
    table = draw_from(CHILD, 1000, seed=1)
    for target in (4, 6):
        engine, twin = on_data(table, "g"), OneByOne(on_data(table, "g"))
        assert check_twin(engine, twin, everyone(engine, target), order=0)


# ---------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize("n_parents", [2, 3])
def test_parents_that_show_only_together(n_parents: int) -> None:
    network = boolean_network("parity", n_parents=n_parents, n_irrelevant=1)
    oracle = DistributionEngine(network.joint())
    task = everyone(oracle, n_parents)
    parents = frozenset(range(n_parents))
    found = check_twin(oracle, OneByOne(oracle), task, None)
    assert found == {x: parents - {x} for x in parents}


def test_an_order_that_is_too_low_shows_nothing() -> None:
    oracle = DistributionEngine(boolean_network("parity", n_parents=3).joint())
    found = find_blanket(oracle, everyone(oracle, 3), order=1)
    assert not found.witnesses
    assert (found.choices["order"].value, found.choices["threshold"].value) == (1, None)
    assert found.choices["order"] == GroundedChoice(1, facts=(fact(Kind.ASKED),))
    assert found.omissions == ()


def test_orders_that_would_be_too_much_work(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = on_data(boolean_table("parity", 500, n_parents=3, n_irrelevant=3, seed=1))
    task = everyone(engine, 3)
    candidates, shares = task.candidates, [share_of_level(size) for size in (1, 2)]
    first, second = (
        work_of_order(
            engine, 3, candidates, size,
            family_bits(len(candidates) * math.comb(len(candidates) - 1, size), LEVEL * share), 2.0,
        )
        for size, share in zip((1, 2), shares, strict=True)
    )  # fmt: skip
    assert first < second
    monkeypatch.setattr(_effort, "MOST_WORK", (first + second) / 2)
    found = find_blanket(engine, task)
    assert not found.witnesses
    n_tests = 6 * math.comb(5, 2)
    limit = fact(Kind.TOO_MUCH_WORK, n_tests)
    facts = (fact(Kind.ORDER_SEARCHED, 1, 30), fact(Kind.ORDER_OMITTED, 2), limit)
    assert found.choices["order"] == GroundedChoice(1, facts=facts)
    seconds = second / _effort.WORK_PER_SECOND
    assert found.omissions == (GroundedOmission(2, n_tests, seconds, None, limit=limit),)
    assert find_blanket(engine, task, order=2).witnesses.keys() == {0, 1, 2}


def test_the_budget_bounds_orders_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = DistributionEngine(boolean_network("parity", n_parents=3).joint())
    task = everyone(oracle, 3)
    monkeypatch.setattr(auto, "Budget", partial(Budget, max_tests=5))
    [omitted] = find_blanket(oracle, task, order=2).omissions
    assert (omitted.order, omitted.n_tests) == (1, 6)
    monkeypatch.setattr(auto, "Budget", partial(Budget, max_tests=6))
    assert find_blanket(oracle, task, order=2).omissions == ()


def test_no_time_leaves_single_columns() -> None:
    engine = on_data(AND)
    found = find_blanket(engine, everyone(engine, 3), time_budget=1e-9)
    assert [omitted.order for omitted in found.omissions] == [1]
    assert found.witnesses.keys() == {0, 1, 2}


def test_the_order_is_said_with_what_was_looked_at() -> None:
    engine = on_data(AND)
    found = find_blanket(engine, everyone(engine, 3), order=1)
    assert [seen.order for seen in found.sight] == [0, 1]
    n = AND.n_columns - 1
    assert [seen.n_tests for seen in found.sight] == [n, n * (n - 1)]
    assert found.choices["order"].value == 1
    assert found.choices["max_separator"].value == auto.LARGEST_SEPARATOR
    assert find_blanket(engine, everyone(engine, 3), order=0).choices["order"].value == 0


def test_nobody_to_choose_from() -> None:
    engine = on_data(AND)
    assert find_blanket(engine, Task(3, frozenset())).witnesses == {}


# ----------------------------------------------------------------------------- start and include

AND = boolean_table("and", 500, n_irrelevant=3, seed=1)  # 0, 1, 2 are the parents of 3


def test_what_is_included_stays() -> None:
    engine = on_data(AND)
    others = frozenset(range(AND.n_columns)) - {3}
    plain = search(engine, Task(3, others))
    assert plain.keys() == {0, 1, 2}
    with_noise = search(engine, Task(3, others, include=frozenset({5})))
    assert with_noise.keys() == {0, 1, 2, 5}
    assert with_noise[5] is None
    assert search(engine, Task(3, others, include=frozenset({0}))) == plain


def test_a_start_may_be_dropped_again() -> None:
    engine = on_data(AND)
    others = frozenset(range(AND.n_columns)) - {3}
    plain = search(engine, Task(3, others))
    for start in ({4}, {2, 5}, {0, 1, 2}, others):
        assert search(engine, Task(3, others, start=frozenset(start))) == plain


# ------------------------------------------------------------------ nothing else makes a difference


def test_progress_is_reported() -> None:
    seen: list[Progress] = []
    engine = on_data(AND)
    find_blanket(engine, Task(3, frozenset({0, 1, 2, 4}), observer=seen.append), alpha=ALPHA)
    assert list(dict.fromkeys(progress.phase for progress in seen)) == [
        "neighbours",
        "spouses",
        "groups",
        "shrink",
    ]
    assert [progress.tests for progress in seen] == sorted(progress.tests for progress in seen)
    groups = [progress for progress in seen if progress.phase == "groups"]
    measured = [progress for progress in groups if progress.total]
    assert measured[-1].done == measured[-1].total
    assert seen[1].blanket == (0, 1, 2)


@pytest.mark.parametrize("size", [1, 1000])
def test_batches_make_no_difference(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    def found() -> list[Witnesses]:
        throws = [Dice(7, seed, 0.3, sides=20) for seed in range(5)]
        return [search(dice, everyone(dice, 5), order=1) for dice in throws]

    expected = found()
    for name in SIZES_OF_BATCHES:
        monkeypatch.setattr(plain, name, size)
    assert found() == expected
    assert any(expected)


def check_shared(make: Any, targets: Sequence[int], **options: Any) -> None:
    """Whatever a engine has learnt for other targets, it finds what a new one finds."""
    shared = make()
    for target in targets:
        fresh = make()
        task = everyone(fresh, target)
        found, alone = (find_blanket(each, task, **options) for each in (shared, fresh))
        assert found == alone


def test_a_session_that_knows_much_already_answers_the_same() -> None:
    table = draw_from(CHILD, 300, seed=0)
    check_shared(lambda: on_data(table), (*range(20), 5, 3), order=1)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(3, 7), st.integers(0, 10**6), st.sampled_from([0.1, 0.5, 0.8]))
def test_dice_that_have_fallen_before(n: int, seed: int, bias: float) -> None:
    check_shared(lambda: Dice(n, seed, bias, sides=12), range(n), alpha=0.4, order=1)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_columns_makes_no_difference(seed: int) -> None:
    for table, target in [(draw_from(CHILD, 400, seed=2), 4), (AND, 3)]:
        order = np.random.default_rng(seed).permutation(table.n_columns)
        shuffled = DiscreteTable.from_codes(table.codes[order].T)
        place = order.tolist().index(target)
        found = search(on_data(shuffled), everyone(on_data(shuffled), place), order=1)
        plain = search(on_data(table), everyone(on_data(table), target), order=1)
        assert {int(order[x]) for x in found} == plain.keys()
