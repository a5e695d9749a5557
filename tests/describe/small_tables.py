"""Tables that are small enough to know what is to be told about them."""

from __future__ import annotations

from typing import Any

import numpy as np

import komb
from komb.data.table import DiscreteTable

RNG = np.random.default_rng(7)


def flip(column: np.ndarray[Any, Any], noise: float) -> np.ndarray[Any, Any]:
    return np.where(RNG.random(len(column)) < noise, 1 - column, column)


def coin(n_rows: int = 2000) -> np.ndarray[Any, Any]:
    return RNG.integers(0, 2, n_rows)


def make_chain() -> dict[str, Any]:
    """Y - hall - weather, and a coin."""
    hall = coin()
    return {"Y": flip(hall, 0.2), "hall": hall, "weather": flip(hall, 0.2), "coin": coin()}


def make_collider() -> dict[str, Any]:
    """Y -> child <- spouse, and child -> below."""
    target, spouse = coin(), coin()
    child = flip(target | spouse, 0.1)
    return {"Y": target, "spouse": spouse, "child": child, "below": flip(child, 0.1)}


XOR = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=2)
PARITY = komb.boolean_table("parity", 1000, n_parents=3, n_irrelevant=1)
CHAIN = DiscreteTable.from_data(make_chain())
COLLIDER = DiscreteTable.from_data(make_collider())
PAPER: dict[str, Any] = {"method": "komb", "order": 1, "max_separator": 1, "test": "g-sci"}
