"""Rows that are copies of others: when that is said, and when it is chance."""

from __future__ import annotations

import pickle

import numpy as np

import komb
from komb.data.row_sample import count_repeated_rows

RNG = np.random.default_rng(0)
NUMBERS = {"x": RNG.normal(size=120), "z": RNG.normal(size=120)}
NUMBERS["y"] = NUMBERS["x"] + RNG.normal(size=120)
LEVELS = {name: RNG.integers(0, 3, 120) for name in "abcdef"}


def count(columns: dict[str, np.ndarray]) -> int:
    return count_repeated_rows(komb.table(columns))


def test_all_rows_repeated() -> None:
    for columns in (NUMBERS, LEVELS, {**NUMBERS, **LEVELS}):
        n_copies = 120 - len(np.unique(np.array([*columns.values()]), axis=1).T)
        assert n_copies < 20
        assert count(columns) == 0
        repeated = {name: np.tile(values, 3) for name, values in columns.items()}
        assert count(repeated) == 240 + n_copies
        shuffle = RNG.permutation(360)
        assert count({name: own[shuffle] for name, own in repeated.items()}) == 240 + n_copies


def test_some_rows_repeated() -> None:
    few, many = np.r_[0:120, 0:3], np.r_[0:120, 0:40]
    assert count({name: values[few] for name, values in NUMBERS.items()}) == 0
    assert count({name: values[many] for name, values in NUMBERS.items()}) == 40
    assert count({name: values[many] for name, values in LEVELS.items()}) == 0  # could be chance


def test_few_patterns_are_there_equally_often_by_chance() -> None:
    assert count({"a": np.arange(400) // 2 % 2, "b": np.arange(400) % 2}) == 0


def test_a_blanket_warns() -> None:
    blanket = komb.markov_blanket({name: np.tile(own, 10) for name, own in NUMBERS.items()}, "y")
    assert "Caution: 1,080 of 1,200 rows are copies of others" in str(blanket)
    assert blanket.recurrence is None  # both halves have the same rows
    assert pickle.loads(pickle.dumps(blanket)).repeated_rows == 0
    assert "copies of others" not in str(komb.markov_blanket(NUMBERS, "y"))
