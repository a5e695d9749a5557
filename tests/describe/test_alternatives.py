"""Blankets with the same information as the one that was found."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import komb
from komb.describe import alternatives
from komb.errors import ParameterError

N_ROWS = 1500


def sets(blanket: komb.Blanket, most: int = 10) -> set[frozenset[object]]:
    found = blanket.alternatives(most)
    assert found[0] == blanket.members
    assert len(set(found)) == len(found) <= most
    return {frozenset(each) for each in found}


def test_copies_of_two_members_in_all_combinations() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, N_ROWS))
    y = (a + b >= 2) ^ (rng.random(N_ROWS) < 0.1)
    columns = {"a": a, "b": b, "c": 2 - a, "d": (b + 1) % 3, "y": y.astype(int)}
    blanket = komb.markov_blanket(columns, "y")
    assert sets(blanket) == {frozenset({x, z}) for x in "ac" for z in "bd"}
    assert len(sets(blanket, most=2)) == 2


def test_two_columns_in_the_place_of_one() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, (2, N_ROWS))
    y = np.where(rng.random(N_ROWS) < 0.3, rng.integers(0, 3, N_ROWS), np.maximum(a, b))
    columns = {"a": a, "b": b, "both": 3 * a + b, "y": y}
    expected = {frozenset({"both"}), frozenset({"a", "b"})}
    assert sets(komb.markov_blanket(columns, "y")) == expected


def test_copies_of_a_group() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2, (2, N_ROWS))
    y = a ^ b ^ (rng.random(N_ROWS) < 0.1)
    columns = {"a": a, "b": b, "not a": 1 - a, "y": y}
    found = sets(komb.markov_blanket(columns, "y"))
    assert found == {frozenset({"a", "b"}), frozenset({"not a", "b"})}


def test_numbers() -> None:
    rng = np.random.default_rng(3)
    x, z, error = rng.normal(size=(3, 500))
    columns = {"x": x, "cube": x**3, "z": z, "noise": rng.normal(size=500), "y": x + z + error}
    blanket = komb.markov_blanket(columns, "y")
    assert sets(blanket) == {frozenset({"x", "z"}), frozenset({"cube", "z"})}


def test_a_blanket_that_is_the_only_one() -> None:
    blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
    assert blanket.alternatives() == (("X1", "X2"),)
    assert komb.markov_blanket({"a": [0, 1] * 50, "y": [0, 0, 1, 1] * 25}, "y").alternatives() == (
        (),
    )
    graph = nx.DiGraph([("a", "y"), ("y", "c"), ("b", "c"), ("c", "d")])
    assert komb.markov_blanket(graph, "y").alternatives() == (("a", "c", "b"),)


def test_what_is_included_stays() -> None:
    rng = np.random.default_rng(4)
    a = rng.integers(0, 3, N_ROWS)
    columns = {"a": a, "c": 2 - a, "y": (a > 0) ^ (rng.random(N_ROWS) < 0.1)}
    blanket = komb.markov_blanket(columns, "y", include=["a"])
    assert blanket.alternatives() == (("a",),)


def test_no_more_searches_than_there_is_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alternatives, "MOST_SEARCHES", 1)
    a = np.random.default_rng(5).integers(0, 3, N_ROWS)
    columns = {"a": a, "b": 2 - a, "c": (a + 1) % 3, "y": a // 2}
    assert len(komb.markov_blanket(columns, "y").alternatives()) == 2


def test_the_number_of_blankets_is_checked() -> None:
    blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
    with pytest.raises(ParameterError, match="'most' must be a whole number, at least 1; got 0"):
        blanket.alternatives(0)
