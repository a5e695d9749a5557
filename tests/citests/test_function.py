"""Tests that are functions of the user's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import chi2

import komb
from komb.citests.contract import CITest
from komb.citests.function import SMALLEST
from komb.errors import ParameterError, UnknownNameError
from tests.engine.engines import on_table
from tests.engine.tables import make_table, with_missing

Codes = npt.NDArray[np.int64]

XOR = komb.boolean_table("parity", 400, n_parents=2, n_irrelevant=2)


def likelihood_ratio(x: Codes, y: Codes, z: Codes) -> float:
    """G with adjusted degrees of freedom, row by row."""
    _, strata = np.unique(z, axis=0, return_inverse=True) if z.shape[1] else (None, 0 * x)
    statistic, freedom = 0.0, 0
    for stratum in np.unique(strata):
        rows = strata.ravel() == stratum
        table = np.zeros((x.max() + 1, y.max() + 1))
        np.add.at(table, (x[rows], y[rows]), 1)
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        seen = table > 0
        statistic += 2 * float((table[seen] * np.log(table[seen] / expected[seen])).sum())
        freedom += (table.shape[0] - 1) * (table.shape[1] - 1)
    return float(chi2.sf(statistic, freedom)) if freedom else 1.0


@pytest.mark.parametrize("method", list(komb.algorithms()))
def test_a_function_does_for_every_method(method: str) -> None:
    own = komb.markov_blanket(XOR, "Y", method=method, alpha=0.01, test=likelihood_ratio)
    ours = komb.markov_blanket(XOR, "Y", method=method, alpha=0.01, test="g", df="adjusted")
    assert own.members == ours.members
    for member in own.evidence:
        assert member.witness == ours[member.name].witness
        assert member.test == "likelihood_ratio"
    assert own.parameters["test"] == "likelihood_ratio"
    assert "test likelihood_ratio" in str(own.details())


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_p_values_are_those_of_the_function(share: float) -> None:
    table = make_table([2, 3, "parity", 4, 2], 200, seed=1)
    if share:
        table = with_missing(table, [share] * 5, seed=1)
    asked = on_table(table, likelihood_ratio)
    for given in (frozenset[int](), frozenset({3}), frozenset({1, 3})):
        rows = [[table.codes[v].astype(int) for v in (0, 4, *sorted(given))]]
        present = np.all([c < table.cardinalities[v] for c, v in
                          zip(rows[0], (0, 4, *sorted(given)), strict=True)], axis=0)  # fmt: skip
        y, x, *z = (column[present] for column in rows[0])
        conditions = np.stack(z, axis=1) if z else np.empty((len(y), 0), dtype=int)
        expected = likelihood_ratio(x, y, conditions)
        assert asked.outcome(0, 4, frozenset(given)).p_value == pytest.approx(expected, rel=1e-12)


def test_every_test_is_computed_once() -> None:
    calls: list[tuple[bytes, bytes, bytes]] = []

    def counted(x: Codes, y: Codes, z: Codes) -> float:
        calls.append((x.tobytes(), y.tobytes(), z.tobytes()))
        return likelihood_ratio(x, y, z)

    blanket = komb.markov_blanket(XOR, "Y", test=counted)
    assert len(calls) == len(set(calls)) <= blanket.tests + len(blanket)


def test_explanations_ask_the_function_again() -> None:
    blanket = komb.markov_blanket(XOR, "Y", test=likelihood_ratio)
    explained = blanket.explain()
    assert "likelihood_ratio = " in str(explained["X1"])
    assert "likelihood_ratio = " in str(blanket.with_table(XOR, likelihood_ratio).explain()["X1"])
    with pytest.raises(UnknownNameError, match="no test 'likelihood_ratio'"):
        komb.Blanket.from_dict(blanket.to_dict()).with_table(XOR)


def test_workers_have_the_function_too() -> None:
    own = komb.markov_blankets(XOR, test=likelihood_ratio, n_jobs=2)
    here = komb.markov_blankets(XOR, test=likelihood_ratio)
    assert own == here
    assert own["Y"].members == ("X1", "X2")


@pytest.mark.parametrize(
    "value", [1.5, -0.1, float("nan"), None, "small", "0.3", b"1", True, np.True_, [0.5, 0.5]]
)
def test_what_is_no_p_value_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="must return a p-value, a number from 0 to 1"):
        komb.markov_blanket(XOR, "Y", test=lambda x, y, z: value)


def test_a_p_value_of_zero_is_very_small() -> None:
    result = komb.ci_test(XOR, "X1", "Y", test=lambda x, y, z: 0)
    assert result.p_value == pytest.approx(SMALLEST)
    assert not result.independent


def test_no_complete_row_means_no_evidence() -> None:
    data = {"x": ["a", None] * 9, "y": [None, "b"] * 9, "z": [0, 1] * 9}
    result = komb.ci_test(data, "x", "y", test=likelihood_ratio)
    assert result.independent
    assert not result.reliable


def test_cell_counts_are_those_of_the_twin() -> None:
    table = with_missing(make_table([2, 3, "parity", 4, 2], 150, seed=2), [0.1] * 5, seed=2)
    seen: list[Any] = []

    class Shown(CITest):
        def measure(self, sums: Any) -> Any:
            seen.extend(sums.table(test) for test in range(len(sums.levels)))
            raise InterruptedError

    for given in (frozenset[int](), frozenset({1, 3})):
        seen.clear()
        with pytest.raises(InterruptedError):
            on_table(table, Shown).is_dependent(0, 4, given)
        [counts] = seen
        columns = [table.codes[v].astype(int) for v in (0, 4, *sorted(given))]
        levels = table.cardinalities[[0, 4, *sorted(given)]]
        rows = [
            r
            for r in zip(*columns, strict=True)
            if all(c < n for c, n in zip(r, levels, strict=True))
        ]
        strata = sorted({row[2:] for row in rows})
        expected = np.zeros((len(strata), levels[1], levels[0]), dtype=int)
        for y, x, *z in rows:
            expected[strata.index(tuple(z)), x, y] += 1
        assert sorted(counts.tolist()) == sorted(expected.tolist())


def test_a_class_need_not_be_registered() -> None:
    implementation = komb.tests()["g"].implementation
    own = komb.markov_blanket(XOR, "Y", method="komb", test=implementation)
    assert own.members == komb.markov_blanket(XOR, "Y", method="komb", test="g").members
    assert own.parameters["test"] == implementation.__name__


@pytest.mark.parametrize("wrong", [lambda x, y: 0.5, lambda: 0.5, dict])
def test_a_function_takes_x_y_and_z(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="'test' must be a function of x, y and z"):
        komb.markov_blanket(XOR, "Y", test=wrong)


@pytest.mark.parametrize("wrong", [3, None, ["g"]])
def test_other_things_are_no_tests(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="be the name of a test, or a function"):
        komb.markov_blanket(XOR, "Y", test=wrong)
