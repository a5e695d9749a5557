"""What only kOMB sees: parents that matter together and not one by one.

The classic searches begin with single columns. On a parity every single column is independent of
the target, and so is every set that leaves out a parent: by the exact distribution they find
nothing at all. On data a parent can get in by chance, one in ``1 / alpha``; then those that
condition on all they have find the others. So the samples are tested at a level of 0.001, at which
no such chance occurs in them.
"""

from __future__ import annotations

import pytest

import komb
from komb.data.models.boolean_functions import boolean_network, boolean_table
from komb.data.table import DiscreteTable
from komb.engine.oracle import DistributionEngine
from komb.search.komb import find_blanket
from komb.search.task import Task
from tests.engine.engines import on_table
from tests.search.running import CLASSICS, everyone, search, unbounded

every_classic = pytest.mark.parametrize("name", CLASSICS)
parities = pytest.mark.parametrize("n_parents", [2, 3])  # exclusive or, and three ways


def sample(n_parents: int, seed: int) -> DiscreteTable:
    """A thousand rows, one in ten wrong, and twenty columns that have nothing to do with it."""
    return boolean_table("parity", 1000, n_parents=n_parents, n_irrelevant=20, seed=seed)


@every_classic
@parities
def test_by_the_exact_distribution_the_classics_find_nothing(name: str, n_parents: int) -> None:
    network = boolean_network("parity", n_parents=n_parents, n_irrelevant=2)
    oracle = DistributionEngine(network.joint())
    for target in range(n_parents + 3):
        assert search(name, oracle, everyone(oracle, target), unbounded(name, 6)) == {}


@parities
def test_on_samples_they_find_nothing_and_komb_finds_all(n_parents: int) -> None:
    parents, n_strangers = {f"X{i + 1}" for i in range(n_parents)}, 0
    for seed in range(10):
        table = sample(n_parents, seed)
        for name in CLASSICS:
            assert komb.markov_blanket(table, "Y", method=name, alpha=0.001).members == (), name
        members = set(komb.markov_blanket(table, "Y", order=n_parents - 1, alpha=0.001))
        assert parents <= members
        n_strangers += len(members - parents)
    assert n_strangers <= 1  # some come by chance, given all members: about one in fifty samples


@parities
@pytest.mark.parametrize("seed", range(10))
def test_at_the_default_level_strangers_may_come_but_no_parent(n_parents: int, seed: int) -> None:
    table = sample(n_parents, seed)
    parents = {f"X{i + 1}" for i in range(n_parents)}
    for name in CLASSICS:
        assert parents.isdisjoint(komb.markov_blanket(table, "Y", method=name)), name
    assert parents <= set(komb.markov_blanket(table, "Y", order=n_parents - 1))


@parities
def test_an_order_below_is_not_enough(n_parents: int) -> None:
    table = sample(n_parents, 0)
    assert komb.markov_blanket(table, "Y", order=n_parents - 2, alpha=0.001).members == ()


@pytest.mark.parametrize("name", ["gs", "iamb", "lrh"])
def test_one_parent_to_start_from_shows_the_other(name: str) -> None:
    """They condition on all they have: what kOMB finds by itself, they find with a hint."""
    engine = on_table(sample(2, 0), alpha=0.001)
    task = Task(2, frozenset(range(23)) - {2}, start=frozenset({0}))
    expected = find_blanket(engine, everyone(engine, 2), order=1).witnesses
    assert search(name, engine, task, 3) == expected
    assert expected == {0: frozenset({1}), 1: frozenset({0})}
