"""A blanket does not depend on the order of columns or rows, on codings or on names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import komb

Columns = Mapping[str, np.ndarray]


def shuffled(columns: Columns, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The same columns and rows in another order."""
    rows = rng.permutation(len(next(iter(columns.values()))))
    return {str(name): columns[str(name)][rows] for name in rng.permutation(list(columns))}


def found(columns: Columns, target: str, **options: Any) -> dict[str, Any]:
    """Members with their witnesses, and what could replace them."""
    blanket = komb.markov_blanket(dict(columns), target, **options)
    witnesses = {m.name: frozenset(m.witness or ()) for m in blanket.evidence}
    sets = {name: {frozenset(s) for s in own} for name, own in blanket.equivalents.items()}
    return {"members": witnesses, "equivalents": sets, "leaks": {x.column for x in blanket.leaks}}


def real(name: str) -> dict[str, np.ndarray]:
    datasets = pytest.importorskip("sklearn.datasets")
    data = getattr(datasets, f"load_{name}")()
    columns = {str(n): data.data[:, i] for i, n in enumerate(data.feature_names)}
    return {**columns, "class": data.target.astype(str)}


@pytest.mark.parametrize("name", ["breast_cancer", "wine"])
def test_real_tables(name: str) -> None:
    columns, rng = real(name), np.random.default_rng(1)
    first = found(columns, "class")
    assert first["members"]
    for _ in range(3):
        assert found(shuffled(columns, rng), "class") == first


def test_units_and_directions_of_measurements() -> None:
    columns, rng = real("wine"), np.random.default_rng(2)
    changes: list[Callable[[Any], Any]] = [np.negative, lambda v: v**3, lambda v: np.log(1 + v)]
    changed = {
        name: own if name == "class" else changes[rng.integers(3)](own)
        for name, own in columns.items()
    }
    assert found(shuffled(changed, rng), "class") == found(columns, "class")


def draw(seed: int, n_columns: int) -> dict[str, np.ndarray]:
    """Levels, each made of one or two of those before it, with noise."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2, 120)]
    for _ in range(n_columns - 1):
        causes = rng.choice(len(columns), min(len(columns), 2), replace=False)
        made = sum(columns[x] for x in causes) % (2 + int(rng.integers(2)))
        columns.append(np.where(rng.random(120) < 0.2, rng.integers(0, 2, 120), made))
    return {f"x{i}": own for i, own in enumerate(columns)}


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(4, 8))
def test_random_tables(seed: int, n_columns: int) -> None:
    columns, rng = draw(seed, n_columns), np.random.default_rng(seed)
    target = f"x{seed % n_columns}"
    coded = {}
    for name, own in columns.items():  # other words for the levels
        coded[name] = rng.permutation(["low", "high", "other"])[own]
    renamed = {f"{len(coded) - i} {name}": own for i, (name, own) in enumerate(coded.items())}
    first = found(columns, target)
    assert found(shuffled(columns, rng), target) == first
    assert found(shuffled(coded, rng), target) == first
    back = {name: name.split()[1] for name in renamed}
    blanket = komb.markov_blanket(
        shuffled(renamed, rng), next(name for name in renamed if back[name] == target)
    )
    assert {back[str(name)] for name in blanket.members} == set(first["members"])


def test_searches_for_several_targets_by_any_number_of_workers() -> None:
    columns = draw(5, 6)
    shuffle = shuffled(columns, np.random.default_rng(0))
    first = {b.target: set(b.members) for b in komb.markov_blankets(dict(columns)).values()}
    assert {b.target: set(b.members) for b in komb.markov_blankets(shuffle).values()} == first
    assert {
        b.target: set(b.members) for b in komb.markov_blankets(shuffle, n_jobs=2).values()
    } == first


def test_the_paper_s_search_goes_by_the_order_of_the_table() -> None:
    """Of two copies it takes the first, which is part of its contract."""
    values = np.random.default_rng(0).integers(0, 2, 300)
    columns = {"a": values, "b": values, "y": values ^ (np.arange(300) % 10 == 0)}
    swapped = {name: columns[name] for name in ("b", "a", "y")}
    for each, first in ((columns, "a"), (swapped, "b")):
        assert komb.markov_blanket(each, "y", method="komb").members == (first,)
        assert komb.markov_blanket(each, "y").members == ("a",)
