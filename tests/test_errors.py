"""Errors carry what they say as data."""

from __future__ import annotations

import pickle

import pytest

import komb
from komb.errors import (
    Argument,
    DataError,
    Interrupted,
    KombError,
    MissingPackageError,
    ParameterError,
    UnknownNameError,
    WorkerError,
)

XOR = komb.boolean_table("parity", 100, n_parents=2)


def test_what_a_broken_rule_is_made_of() -> None:
    with pytest.raises(ParameterError) as caught:
        komb.markov_blanket(XOR, "Y", alpha=2)
    error = caught.value
    assert (error.parameter, error.value) == ("alpha", 2)
    assert error.rule == "be a number between 0 and 1, both excluded"
    assert isinstance(error.remedy, tuple)
    assert Argument("alpha", 0.01) in error.remedy


def test_what_an_unknown_name_is_made_of() -> None:
    with pytest.raises(UnknownNameError) as caught:
        komb.markov_blanket(XOR, "Y", include=["x1"])
    error = caught.value
    assert (error.kind, error.value, error.parameter) == ("column", "x1", "include")
    assert str(error).startswith("In 'include': There is no column 'x1'. Did you mean 'X1'?")


def test_two_parameters_that_do_not_fit() -> None:
    with pytest.raises(ParameterError) as caught:
        komb.markov_blanket(XOR, "Y", include=["X1"], exclude=["X1"])
    assert caught.value.parameters == {"include", "exclude"}


@pytest.mark.parametrize(
    "error",
    [
        ParameterError.because("alpha", "be below 1", 2, ("Try ", Argument("alpha", 0.1), ".")),
        UnknownNameError.among("column", "a", ["b"], "start"),
        DataError("there are no rows.").within("'x.csv'"),
        MissingPackageError("It needs matplotlib.", "Install it."),
        WorkerError("A worker was lost.", {"Y": 1}, "Try again."),
        Interrupted("Interrupted.", [1]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_they_travel(error: KombError) -> None:
    """Workers send them to whoever waits."""
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is type(error)
    assert str(found) == str(error)
    assert vars(found) == vars(error)
