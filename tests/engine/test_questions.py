"""Subsets, in the order in which they are asked about."""

from __future__ import annotations

from itertools import combinations

from komb.engine.questions import subsets


def test_subsets_come_by_size_then_in_order() -> None:
    for n in range(6):
        for most in range(8):
            expected = [
                frozenset(c) for size in range(most + 1) for c in combinations(range(n), size)
            ]
            assert list(subsets(set(range(n)), most)) == expected
            for least in range(4):
                larger = [subset for subset in expected if len(subset) >= least]
                assert list(subsets(set(range(n)), most, least)) == larger


def test_there_are_no_subsets_of_less_than_nothing() -> None:
    assert list(subsets({1, 2}, -1)) == []
    assert list(subsets({1, 2}, 1, 2)) == []
