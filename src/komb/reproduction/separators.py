"""How large separators are in the benchmark networks: what the bound l of kOMB has to hold.

For every target and every variable outside its true blanket there is a d-separator inside the
blanket. The paper measures one of which no element can be left out (inclusion-minimal); beside it
stands the size of the smallest one there is, which is what a bound has to allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from komb.reproduction.datasets import Dataset
from komb.reproduction.journal import SeparatorRecord

if TYPE_CHECKING:
    import networkx as nx


def measure_separators(dataset: Dataset) -> list[SeparatorRecord]:
    """Measure separators between every variable of a dataset and each one outside its blanket.

    Examples
    --------
    >>> from komb.reproduction.datasets import Dataset
    >>> import networkx as nx
    >>> class Chain(Dataset):
    ...     def table(self, sample, n_rows=5000): ...
    >>> chain = Chain("chain", nx.DiGraph([("a", "b"), ("b", "c")]))
    >>> measure_separators(chain)[0]
    SeparatorRecord(network='chain', target='a', other='c', size=1, minimum_size=1)
    """
    return [
        _measure(dataset, target, other)
        for target, blanket in dataset.truth.items()
        for other in dataset.truth
        if other != target and other not in blanket
    ]


def _measure(dataset: Dataset, target: str, other: str) -> SeparatorRecord:
    import networkx as nx

    blanket = set(dataset.truth[target])
    found = nx.find_minimal_d_separator(dataset.graph, target, other, restricted=blanket)
    # There always is one: the blanket separates its owner from everything else.
    smallest = _MoralGraph(dataset.graph, target, other).smallest_separator(blanket, len(found))
    return SeparatorRecord(dataset.name, target, other, len(found), smallest)


class _MoralGraph:
    """The graph in which d-separation of two nodes is plain separation.

    It has the two, their ancestors, and an edge between nodes with an edge or a common child in the
    directed graph. Neighbours are bits of an integer, which is what makes enumeration quick.
    """

    def __init__(self, graph: nx.DiGraph, one: Any, other: Any) -> None:
        import networkx as nx

        nodes = {one, other} | nx.ancestors(graph, one) | nx.ancestors(graph, other)
        self._bit = {node: 1 << position for position, node in enumerate(nodes)}
        self._neighbours = dict.fromkeys(self._bit.values(), 0)
        for child in nodes:
            for a, b in combinations((child, *graph.predecessors(child)), 2):
                self._neighbours[self._bit[a]] |= self._bit[b]
                self._neighbours[self._bit[b]] |= self._bit[a]
        self._one, self._other = self._bit[one], self._bit[other]

    def smallest_separator(self, pool: Iterable[Any], at_most: int) -> int:
        """Return the size of the smallest separator in a pool, if one of ``at_most`` is known.

        Nothing smaller is overlooked: a smallest separator is also minimal, and no minimal one has
        nodes that are not ancestors.
        """
        usable = [self._bit[node] for node in pool if node in self._bit]
        for size in range(at_most):
            if any(self._separates(nodes) for nodes in combinations(usable, size)):
                return size
        return at_most

    def _separates(self, nodes: Sequence[int]) -> bool:
        """Whether no path leads from the one to the other past some nodes."""
        reached = self._one | sum(nodes)  # those are never left again
        ahead = self._one
        while ahead:
            node = ahead & -ahead
            fresh = self._neighbours[node] & ~reached
            if fresh & self._other:
                return False
            reached |= fresh
            ahead = (ahead ^ node) | fresh
        return True
