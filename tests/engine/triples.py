"""All questions about a few variables."""

from __future__ import annotations

from itertools import product

from tests import naive


def triples(n: int) -> list[tuple[int, int, frozenset[int]]]:
    return [
        (y, x, z)
        for y, x in product(range(n), repeat=2)
        if x != y
        for z in naive.steps.subsets(frozenset(range(n)) - {x, y}, n)
    ]
