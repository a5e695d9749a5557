from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.models import markov_field as field_module
from komb.data.models.markov_field import MarkovField
from komb.errors import ParameterError, UnknownNameError

AGREE = [[3.0, 1.0], [1.0, 3.0]]


def loop() -> MarkovField:
    """Build a square with a triple factor on top, which no Bayesian network can represent."""
    triple = np.exp(np.random.default_rng(0).normal(size=(2, 3, 2)))
    return MarkovField(
        {"a": 2, "b": 2, "c": 2, "d": 2, "e": 3, "alone": 2},
        [
            (("a", "b"), AGREE),
            (("b", "c"), AGREE),
            (("d", "c"), [[1.0, 2.0], [4.0, 1.0]]),
            (("a", "d"), AGREE),
            (("a", "e", "b"), triple),
            (("e",), [1.0, 2.0, 3.0]),
        ],
    )


def test_structure() -> None:
    field = loop()
    assert field.names == ("a", "b", "c", "d", "e", "alone")
    assert field.cardinalities.tolist() == [2, 2, 2, 2, 3, 2]
    assert field.blanket("a") == ("b", "d", "e")
    assert field.blanket("c") == ("b", "d")
    assert field.blanket("alone") == ()
    assert repr(field) == "MarkovField(6 variables, 6 factors)"
    assert repr(MarkovField({"x": 2}, [(("x",), [1, 2])])) == "MarkovField(1 variable, 1 factor)"


def test_graph() -> None:
    field = loop()
    assert list(field.graph.nodes) == list(field.names)
    expected = nx.Graph(["ab", "bc", "cd", "ad", "ae", "be"])
    assert {frozenset(edge) for edge in field.graph.edges} == {frozenset(e) for e in expected.edges}


def test_the_joint_distribution_is_the_product_of_the_factors() -> None:
    weights = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    field = MarkovField({"x": 3, "y": 2}, [(("y", "x"), weights), (("x",), [1, 1, 2])])
    product = weights.T * np.array([[1], [1], [2]])
    assert np.allclose(field.joint(), product / product.sum())
    assert np.allclose(MarkovField({"x": 4}, []).joint(), 0.25)


def test_extreme_factors_do_not_overflow() -> None:
    field = MarkovField({"x": 2}, [(("x",), [1e300, 1e299])] * 3)
    assert field.joint() == pytest.approx([1000 / 1001, 1 / 1001])


@settings(deadline=None, max_examples=30)
@given(
    st.builds(
        MarkovField.random,
        st.integers(1, 6),
        degree=st.floats(0, 4),
        cardinality=st.just((2, 3)),
        seed=st.integers(0, 10**6),
    )
)
def test_the_blanket_screens_off_everything_else(field: MarkovField) -> None:
    joint = field.joint()
    for axis, name in enumerate(field.names):
        blanket = field.blanket(name)
        others = [
            i for i, other in enumerate(field.names) if other not in blanket and other != name
        ]
        conditional = joint / joint.sum(axis=axis, keepdims=True)
        for other in others:  # the conditional does not change along the axes outside
            assert np.allclose(conditional, conditional.take([0], axis=other))


@pytest.mark.parametrize("largest_table", [1 << 18, 0])
def test_samples_agree_with_the_joint_distribution(
    largest_table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field_module, "_TABLE_CELLS", largest_table)
    field = loop()
    n_rows = 40_000
    table = field.sample(n_rows, seed=3, sweeps=40)
    assert table.names == field.names
    shape = tuple(field.cardinalities.tolist())
    cells = np.ravel_multi_index(tuple(table.codes.astype(int)), shape)
    exact = field.joint().ravel()
    found = np.bincount(cells, minlength=exact.size)
    # Pearson's statistic has mean 95 and standard deviation 13.8 here.
    statistic = ((found - n_rows * exact) ** 2 / (n_rows * exact)).sum()
    assert statistic < 95 + 5 * 13.8


def test_both_ways_of_sampling_draw_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    tabulated = loop().sample(500, sweeps=10)
    monkeypatch.setattr(field_module, "_TABLE_CELLS", 0)
    assert loop().sample(500, sweeps=10) == tabulated


def test_hubs_with_too_many_neighbours_for_a_table() -> None:
    sizes = {f"x{i}": 2 for i in range(40)}
    hub = MarkovField(sizes, [(("x0", f"x{i}"), AGREE) for i in range(1, 40)])
    table = hub.sample(200, sweeps=5)
    assert (table.n_rows, table.n_columns) == (200, 40)
    assert (table.codes[0] == table.codes[1]).mean() > 0.6


def test_seeds() -> None:
    field = loop()
    assert field.sample(50, seed=1, sweeps=3) == field.sample(50, seed=1, sweeps=3)
    assert field.sample(50, seed=1, sweeps=3) != field.sample(50, seed=2, sweeps=3)


def test_random_fields() -> None:
    field = MarkovField.random(12, n_edges=15, cardinality=(2, 4), seed=2)
    assert field.graph.number_of_edges() == 15
    assert set(field.cardinalities.tolist()) <= {2, 3, 4}
    again = MarkovField.random(12, n_edges=15, cardinality=(2, 4), seed=2)
    assert np.array_equal(field.joint(), again.joint())
    other = MarkovField.random(12, n_edges=15, cardinality=(2, 4), seed=3)
    assert set(other.graph.edges) != set(field.graph.edges)
    assert MarkovField.random(10, degree=3).graph.number_of_edges() == 15
    assert np.allclose(MarkovField.random(3, strength=0, cardinality=2).joint(), 1 / 8)


@pytest.mark.parametrize(
    ("cardinalities", "factors", "message"),
    [
        ({}, [], "'cardinalities' must map every variable"),
        (["x"], [], "'cardinalities' must map every variable"),
        ({"x": 0}, [], r"cardinalities\['x'\].* must be a whole number, at least 1"),
        ({"x": 65_536}, [], "at most 65535"),
        ({"x": 2}, [((), 1.0)], "be over one or more different variables each"),
        ({"x": 2}, [(("x", "x"), AGREE)], "Name each variable once"),
        ({"x": 2}, [(("x",), [1, 2, 3])], r"have shape \(2,\) over \('x',\); got \(3,\)"),
        ({"x": 2}, [(("x",), "text")], r"have shape \(2,\)"),
        ({"x": 2}, [(("x",), [1, 0])], r"be positive and finite over \('x',\); got 0.0"),
        ({"x": 2}, [(("x",), [1, -3])], "got -3.0. Use a small number"),
        ({"x": 2}, [(("x",), [1, np.inf])], "got inf"),
        ({"x": 2}, [(("x",), [1, np.nan])], "got nan"),
    ],
)
def test_fields_are_checked(cardinalities: Any, factors: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        MarkovField(cardinalities, factors)


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="no variable 'y'"):
        MarkovField({"x": 2}, [(("y",), [1, 2])])
    with pytest.raises(UnknownNameError, match=r"no variable 'alon'\. Did you mean 'alone'"):
        loop().blanket("alon")


def test_large_joint_distributions_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"at most 16,777,216 cells"):
        MarkovField.random(25, cardinality=2).joint()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_rows": 0}, "'n_rows'"),
        ({"sweeps": 0}, "'sweeps' must be a whole number, at least 1"),
        ({"seed": -1}, "'seed'"),
    ],
)
def test_sampling_parameters_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        loop().sample(**{"n_rows": 10, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_variables": 0}, "'n_variables'"),
        ({"n_edges": 11}, "'n_edges'"),
        ({"cardinality": 1}, "'cardinality'"),
        ({"strength": -1}, "'strength' must be a number from 0 to 100"),
    ],
)
def test_random_parameters_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        MarkovField.random(**{"n_variables": 5, **options})
