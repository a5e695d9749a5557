"""Columns that are one."""

from __future__ import annotations

import numpy as np
import pytest

from komb.data.groups import find_blocks, group_columns
from komb.data.table import DiscreteTable
from komb.errors import ParameterError


def test_missing_values_make_a_combination_missing() -> None:
    data = {"a": [0, 1, None, 1], "b": ["u", "v", "u", "u"], "y": [0, 1, 1, 0]}
    table = group_columns(DiscreteTable.from_data(data, missing="testwise"), {"g": ("a", "b")})
    assert table.has_missing
    assert table.column("g") == [(0, "u"), (1, "v"), None, (1, "u")]


def test_a_group_takes_the_place_of_its_first_column() -> None:
    data = {name: [0, 1] for name in "abcd"}
    table = group_columns(DiscreteTable.from_data(data), {"b": ("d", "b"), "z": ("c",)})
    assert table.names == ("a", "b", "z")


def test_too_many_combinations() -> None:
    rng = np.random.default_rng(0)
    data = {name: rng.integers(0, 10, 100) for name in "abc"}
    with pytest.raises(ParameterError, match=r"at most 50 combinations.*got \d\d in 'g'"):
        group_columns(DiscreteTable.from_data(data), {"g": ("a", "b", "c")})


def test_blocks() -> None:
    data = {
        "c_x_1": [1, 0, 0], "c_x_2": [0, 1, 0],  # a prefix may have underscores
        "two_a": [1, 1, 0], "two_b": [1, 0, 0],  # both are set in a row
        "n_a": [1, 0, 2], "n_b": [0, 1, 0],  # no flag
        "k_a": [True, False, False], "k_b": [False, True, True], "k": [1, 2, 3],  # k is taken
        "t_a": [1, 0, 0], "t_b": [0, 1, 1], "_": [0, 1, 1],
    }  # fmt: skip
    table = DiscreteTable.from_data(data)
    assert find_blocks(table, []) == {"c_x": ("c_x_1", "c_x_2"), "t": ("t_a", "t_b")}
    assert find_blocks(table, ["t_b"]) == {"c_x": ("c_x_1", "c_x_2")}
