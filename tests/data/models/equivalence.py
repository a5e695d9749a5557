"""Directions that all networks share in which the same variables are independent."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx

Edge = tuple[int, int]


def colliders(graph: Any) -> frozenset[tuple[int, int, int]]:
    """Triples of two causes, not joined, and their common effect in the middle."""
    return frozenset(
        (a, c, b)
        for c in graph
        for a, b in combinations(sorted(graph.predecessors(c)), 2)
        if not graph.has_edge(a, b) and not graph.has_edge(b, a)
    )


def shared_directions(graph: Any) -> set[Edge]:
    """Edges with the same direction in every graph with these edges and colliders.

    Slow and obvious: all of them are looked at.
    """
    edges, wanted = list(graph.edges), colliders(graph)
    shared = set(edges)
    for number in range(1 << len(edges)):
        turned = [e[::-1] if number >> i & 1 else e for i, e in enumerate(edges)]
        if set(turned) >= shared:
            continue  # nothing would be lost
        other = nx.DiGraph()
        other.add_nodes_from(graph)
        other.add_edges_from(turned)
        if nx.is_directed_acyclic_graph(other) and colliders(other) == wanted:
            shared &= set(turned)
    return shared
