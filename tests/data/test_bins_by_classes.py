from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.bins import find_cuts_by_classes
from tests import naive


@st.composite
def labelled(draw: st.DrawFn) -> tuple[list[float], list[int]]:
    n_rows = draw(st.integers(1, 60))
    width = draw(st.sampled_from([2, 8, 40]))  # few values, so that there are ties
    values = draw(st.lists(st.integers(0, width), min_size=n_rows, max_size=n_rows))
    n_classes = draw(st.integers(1, 4))
    if draw(st.booleans()):  # classes that follow the values, with some noise
        noise = draw(st.lists(st.integers(0, 9), min_size=n_rows, max_size=n_rows))
        classes = [
            (value * n_classes // (width + 1) + (extra == 0)) % n_classes
            for value, extra in zip(values, noise, strict=True)
        ]
    else:
        classes = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows))
    return [value / 4 for value in values], classes


@settings(deadline=None, max_examples=100)
@given(labelled())
def test_it_agrees_with_its_twin(rows: tuple[list[float], list[int]]) -> None:
    values, classes = rows
    found = find_cuts_by_classes(np.array(values), np.array(classes))
    assert list(found) == naive.discretization.mdl_cuts(values, classes)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_it_agrees_with_its_twin_on_longer_columns(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    values = rng.normal(size=400).round(2)
    noisy = values + rng.normal(size=400) / 4
    classes = np.digitize(noisy, np.linspace(-1.5, 1.5, n_classes - 1))
    found = find_cuts_by_classes(values, classes.astype(np.uint8))
    assert len(found) >= n_classes - 1 - (n_classes > 3) * 3
    assert list(found) == naive.discretization.mdl_cuts(values.tolist(), classes.tolist())


def test_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 50, 500).astype(float)
    classes = (values > 20).astype(int) + (rng.random(500) < 0.1)
    shuffled = rng.permutation(500)
    assert (
        find_cuts_by_classes(values, classes)
        == find_cuts_by_classes(values[shuffled], classes[shuffled])
        != ()
    )


def test_unrelated_classes_give_no_cuts() -> None:
    rng = np.random.default_rng(1)
    assert find_cuts_by_classes(rng.normal(size=1000), rng.integers(0, 2, 1000)) == ()
    assert find_cuts_by_classes(np.array([1.0]), np.array([0])) == ()


@pytest.mark.parametrize("low", [1.0, 1e308, 5e-324, -1e308])
def test_neighbouring_floats_are_told_apart(low: float) -> None:
    high = float(np.nextafter(low, np.inf))
    values = np.array([low] * 10 + [high] * 10)
    (cut,) = find_cuts_by_classes(values, np.array([0] * 10 + [1] * 10))
    assert low < cut <= high
    (far,) = find_cuts_by_classes(
        np.array([-1e308] * 10 + [1e308] * 10), np.array([0] * 10 + [1] * 10)
    )
    assert far == 0


def test_many_classes() -> None:
    values = np.repeat(np.arange(2000.0), 3)
    cuts = find_cuts_by_classes(values, np.repeat(np.arange(2000), 3))
    assert list(cuts) == sorted(set(cuts))
