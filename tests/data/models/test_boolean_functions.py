from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from komb.data.models.boolean_functions import BOOLEAN_FUNCTIONS, boolean_network, boolean_table
from komb.errors import ParameterError, UnknownNameError

TRUTH = {
    "parity": lambda ones, n: ones % 2 == 1,
    "ex-1": lambda ones, n: ones == 1,
    "ex-2": lambda ones, n: ones == 2,
    "and": lambda ones, n: ones == n,
    "or": lambda ones, n: ones > 0,
    "ex-3": lambda ones, n: ones == 3,
    "ex-0": lambda ones, n: ones == 0,
}


def test_every_listed_function_is_covered_here() -> None:
    assert list(BOOLEAN_FUNCTIONS) == ["parity", "ex-1", "ex-2", "and", "or"]
    assert set(BOOLEAN_FUNCTIONS) <= set(TRUTH)
    with pytest.raises(TypeError):
        BOOLEAN_FUNCTIONS["not"] = ""  # type: ignore[index]


@pytest.mark.parametrize("function", TRUTH)
@pytest.mark.parametrize("n_parents", [3, 4])
def test_the_table_of_the_network_is_the_truth_table(function: str, n_parents: int) -> None:
    network = boolean_network(function, n_parents, noise=0.2)
    for case in product((0, 1), repeat=n_parents):
        chance = 0.8 if TRUTH[function](sum(case), n_parents) else 0.2
        assert network.table("Y")[case] == pytest.approx([1 - chance, chance])


@pytest.mark.parametrize("function", TRUTH)
def test_samples_without_noise_follow_the_function(function: str) -> None:
    table = boolean_table(function, 500, noise=0, n_irrelevant=2)
    values = np.array([table.column(name) for name in table.names])
    expected = [TRUTH[function](ones, 3) for ones in values[:3].sum(axis=0)]
    assert values[3].tolist() == [int(value) for value in expected]
    opposite = boolean_table(function, 500, noise=1, n_irrelevant=2)
    assert [1 - y for y in table.column("Y")] == opposite.column("Y")  # type: ignore[operator]


@pytest.mark.parametrize("function", ["parity", "ex-1", "and"])
def test_samples_agree_with_the_joint_distribution(function: str) -> None:
    n_rows = 200_000
    codes = boolean_table(function, n_rows, noise=0.1, n_irrelevant=1, seed=4).codes
    found = np.bincount(np.ravel_multi_index(tuple(codes.astype(int)), (2,) * 5), minlength=32)
    exact = boolean_network(function, n_irrelevant=1).joint().ravel()
    assert np.abs(found / n_rows - exact).max() < 5 * np.sqrt(exact.max() / n_rows)


def test_names_and_blankets() -> None:
    network = boolean_network("or", 2, n_irrelevant=2)
    assert network.names == ("X1", "X2", "Y", "E1", "E2")
    assert network.blanket("Y") == ("X1", "X2")
    assert network.blanket("X1") == ("X2", "Y")
    assert network.blanket("E1") == ()
    assert boolean_table("or", 50, n_parents=2, n_irrelevant=2).names == network.names


def test_seeds() -> None:
    assert boolean_table("parity", 100, seed=3) == boolean_table("parity", 100, seed=3)
    assert boolean_table("parity", 100, seed=3) != boolean_table("parity", 100, seed=4)


def test_a_table_may_have_many_parents_and_few_rows() -> None:
    table = boolean_table("parity", 1, n_parents=100)
    assert (table.n_rows, table.n_columns) == (1, 101)
    with pytest.raises(ParameterError, match=r"'n_parents' must be at most 20 .* boolean_table"):
        boolean_network("parity", 21)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_parents": 0}, "'n_parents' must be a whole number, at least 1; got 0"),
        ({"n_parents": 2.5}, "got 2.5"),
        ({"n_parents": True}, "got True"),
        ({"noise": -0.1}, "'noise' must be a number from 0 to 1; got -0.1. Try noise=0.1"),
        ({"noise": "much"}, "got 'much'"),
        ({"noise": float("nan")}, "got nan"),
        ({"n_irrelevant": -1}, "'n_irrelevant' must be a whole number, at least 0"),
        ({"function": "ex-4"}, "at most 3 ones.*Try 'ex-3' or n_parents=4"),
    ],
)
def test_parameters_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        boolean_network(**{"function": "parity", **options})
    with pytest.raises(ParameterError, match=message):
        boolean_table(**{"function": "parity", "n_rows": 10, **options})


def test_rows_and_seed_are_checked() -> None:
    with pytest.raises(ParameterError, match="'n_rows' must be a whole number, at least 1"):
        boolean_table("parity", 0)
    with pytest.raises(ParameterError, match="'seed' must be"):
        boolean_table("parity", 10, seed=-1)


@pytest.mark.parametrize("function", ["xor", "ex-", "ex-x", "parity ", None])
def test_unknown_functions(function: Any) -> None:
    with pytest.raises(UnknownNameError, match="There is no Boolean function"):
        boolean_network(function)
