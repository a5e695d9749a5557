"""Sizes of separators, against all subsets of all blankets."""

from __future__ import annotations

from itertools import chain, combinations

import networkx as nx
import pytest

from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.table import DiscreteTable
from komb.reproduction.datasets import N_ROWS, Dataset
from komb.reproduction.journal import SeparatorRecord
from komb.reproduction.separators import measure_separators


class Graph(Dataset):
    """A network of which only the graph matters."""

    def table(self, sample: int, n_rows: int = N_ROWS) -> DiscreteTable:
        raise NotImplementedError


def naive_separators(dataset: Dataset, target: str, other: str) -> list[set[str]]:
    """All d-separators inside the blanket, by size."""
    blanket = dataset.truth[target]
    subsets = chain.from_iterable(combinations(blanket, n) for n in range(len(blanket) + 1))
    return [
        set(subset)
        for subset in subsets
        if nx.is_d_separator(dataset.graph, {target}, {other}, set(subset))
    ]


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs(seed: int) -> None:
    network = DiscreteNetwork.random(9, n_edges=9 + seed, seed=seed)
    dataset = Graph("random", network.graph)
    found = measure_separators(dataset)
    assert len(found) == sum(8 - len(network.blanket(name)) for name in network.names)
    for record in found:
        separators = naive_separators(dataset, record.target, record.other)
        minimal = [one for one in separators if not any(less < one for less in separators)]
        assert record.minimum_size == len(separators[0])
        assert record.size in {len(one) for one in minimal}


def test_a_minimal_separator_need_not_be_smallest() -> None:
    # From t either both a and b must be blocked, or c, where their paths to x meet.
    edges = [("a", "t"), ("b", "t"), ("c", "a"), ("c", "b"), ("x", "c"), ("c", "k"), ("t", "k")]
    found = {(r.target, r.other): r for r in measure_separators(Graph("g", nx.DiGraph(edges)))}
    assert found["t", "x"] == SeparatorRecord("g", "t", "x", 2, 1)


@pytest.mark.parametrize(
    ("edges", "size"),
    [
        ([("t", "m"), ("m", "x")], 1),  # path
        ([("m", "t"), ("m", "x")], 1),  # fork
        ([("t", "m"), ("s", "m"), ("s", "x")], 0),  # collider: nothing to block
    ],
)
def test_small_graphs(edges: list[tuple[str, str]], size: int) -> None:
    found = {(r.target, r.other): r for r in measure_separators(Graph("g", nx.DiGraph(edges)))}
    assert found["t", "x"] == SeparatorRecord("g", "t", "x", size, size)
