"""One test of two columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import komb
from komb.errors import InputError, ParameterError, UnknownNameError
from tests.engine.engines import on_table
from tests.engine.tables import make_table

TABLE = make_table([2, 3, "parity", 4], 300, seed=3)


@pytest.mark.parametrize("test", list(komb.tests()))
@pytest.mark.parametrize("given", [[], [1], [0, 1]])
def test_it_is_the_test_of_the_searches(test: str, given: list[int]) -> None:
    names = [TABLE.names[v] for v in given]
    result = komb.ci_test(TABLE, TABLE.names[3], TABLE.names[2], names, test=test, alpha=0.05)
    outcome = on_table(TABLE, test, alpha=0.05).outcome(2, 3, frozenset(given))
    for key in ("independent", "statistic", "df", "p_value", "test", "reliable"):
        assert getattr(result, key) == getattr(outcome, key)
    assert result.given == tuple(names)
    assert result.n_rows == 300
    assert komb.TestResult.from_dict(result.to_dict()) == result


def test_other_columns_are_not_looked_at() -> None:
    data: dict[str, Any] = {
        "x": [0, 1] * 50,
        "y": [0, 1] * 50,
        "junk": [0.1 * i for i in range(100)],
    }
    data["gone"] = [None, 1] * 50
    assert not komb.ci_test(data, "x", "y").independent
    assert komb.ci_test(data, "x", "y", ["gone"]).n_rows == 100
    matrix = np.array([[0, 1, 2], [1, 0, 2]] * 20)
    assert not komb.ci_test(matrix, 0, 1).independent
    table = komb.DiscreteTable.from_data({"x": [0, 1] * 9, "y": [0, 1] * 9, "z": [0, 0, 1] * 6})
    assert not komb.ci_test(table, "x", "y").independent


def test_columns_are_cut() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    data = {"x": x, "y": x + rng.normal(size=400)}
    assert komb.ci_test(data, "x", "y").test == "linear"
    cut = komb.ci_test(komb.table(data, discretize="quantile"), "x", "y")
    assert not cut.independent
    assert cut.test == "g"


def test_a_model_answers() -> None:
    network = komb.boolean_network("parity", n_parents=2)
    for model in (network, network.graph):
        assert komb.ci_test(model, "X1", "X2").independent
        assert not komb.ci_test(model, "X1", "X2", ["Y"]).independent
    result = komb.ci_test(network, "X1", "Y")
    assert (result.independent, result.n_rows, result.test) == (True, 0, "distribution")
    assert "X1 and Y: independent" in str(result)
    assert not komb.ci_test(network.graph, "X1", "Y").independent
    with pytest.raises(ParameterError, match="'alpha' must be left out for a network"):
        komb.ci_test(network, "X1", "Y", alpha=0.05)
    with pytest.raises(UnknownNameError, match="In 'given': There is no variable 'Z'"):
        komb.ci_test(network, "X1", "Y", ["Z"])


def test_what_it_prints() -> None:
    xor = komb.boolean_table("parity", 500, n_parents=2)
    dependent = str(komb.ci_test(xor, "X1", "Y", ["X2"]))
    assert dependent.startswith("X1 and Y given X2: dependent (chi-square = ")
    assert dependent.endswith("df 2, p = 1.4e-86)")
    assert "X1 and Y: independent" in str(komb.ci_test(xor, "X1", "Y", test="sci"))


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        (("x", "x"), {}, ParameterError, ["'y'", "another column"]),
        (("x", "y", ["y"]), {}, ParameterError, ["'given'", "'y'"]),
        (("x", "y", "z"), {}, ParameterError, ["'given'", "list of column names"]),
        (("q", "y"), {}, UnknownNameError, ["no column 'q'"]),
        (("x", "y", ["q"]), {}, UnknownNameError, ["given", "no column 'q'", "'z'"]),
        (("x", "y"), {"test": "G"}, UnknownNameError, ["Did you mean 'g'"]),
        (("x", "y"), {"alpha": 2}, ParameterError, ["'alpha'", "between 0 and 1"]),
        (("x", "y"), {"test": "g", "df": "both"}, ParameterError, ["'df' must be 'observed' or"]),
        (("x", "y"), {"df": "adjusted"}, ParameterError, ["for test 'auto', which", "chi2, cress"]),
        (("x", "y"), {"order": 1}, UnknownNameError, ["no option 'order'"]),
        (("x", "y"), {"include": ["z"]}, UnknownNameError, ["no option 'include'"]),
    ],
)
def test_bad_input(arguments: Any, options: Any, error: type[InputError], words: list[str]) -> None:
    data = {"x": [0, 1] * 9, "y": [0, 1] * 9, "z": [0, 0, 1] * 6}
    with pytest.raises(error) as caught:
        komb.ci_test(data, *arguments, **options)
    for word in words:
        assert word in str(caught.value)
