"""Features of single columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from komb.data.table import DiscreteTable
from komb.engine.features.columns import FeatureColumns, nominal_column, numeric_column
from komb.engine.features.screen import Features
from tests.naive import mixed as naive

KNOWN = np.array([0, 2, 3, 5])


def features_of(values: npt.NDArray[np.float64]) -> Features:
    """Make the features of numbers."""
    table = DiscreteTable.from_codes(np.zeros((len(values), 1), np.int64))
    columns = FeatureColumns.of(table, {0: values}, ())
    made = Features.of(columns, 0)
    back = np.argsort(np.lexsort([values]))  # rows are sorted
    return Features(
        made.own[:, back], made.degrees, made.joint[:, back], made.smooth[:, back], made.costs,
        made.is_nominal,
    )  # fmt: skip


@pytest.mark.parametrize("n_rows", [30, 700, 2600])
@pytest.mark.parametrize("n_distinct", [2, 3, 5, 9, 10_000])
def test_numbers_have_the_features_of_the_twin(n_rows: int, n_distinct: int) -> None:
    values = np.floor(n_distinct * np.random.default_rng(0).random(n_rows))
    made, twin = features_of(values), naive.numeric(values.tolist())
    for kind in ("own", "joint", "smooth"):
        expected = np.array([vector for _, vector in twin[kind]])
        assert getattr(made, kind) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert made.degrees.tolist() == [degree for degree, _ in twin["own"]]
    assert made.costs.tolist() == [cost for cost, _ in twin["smooth"]]


def test_contrasts_are_orthonormal_and_rare_levels_one() -> None:
    codes = np.repeat([0, 1, 2, 3, 4], [50, 30, 7, 6, 4])
    contrasts = nominal_column(codes, 5).contrasts[0][:, codes]
    assert len(contrasts) == 2  # of three levels: the rare ones are together
    assert contrasts @ contrasts.T / len(codes) == pytest.approx(np.eye(2))
    assert contrasts.sum(axis=1) == pytest.approx([0, 0], abs=1e-9)
    expected = np.array([vector for _, vector in naive.contrasts(codes.tolist(), 10)])
    assert np.abs(contrasts) == pytest.approx(np.abs(expected))


def test_few_values_have_few_features() -> None:
    assert numeric_column(np.zeros(30)).degrees == ()
    assert numeric_column(np.arange(30.0) % 2).degrees == (1,)
    column = numeric_column(np.arange(30.0) % 3)
    assert column.degrees == (1, 2)
    assert column.costs == (1.0, 2.0)


def test_missing_values_do_not_matter() -> None:
    values = np.array([5.0, np.nan, 1.0, 3.0, np.nan, 9.0])
    with_missing, without = numeric_column(values).take(KNOWN), numeric_column(values[KNOWN])
    assert with_missing.degrees == without.degrees
    for own, other in zip(with_missing.rows, without.rows, strict=True):
        assert np.array_equal(own, other)
    codes = np.array([0, 1, 2] * 12)
    column, known = nominal_column(codes, 2), codes < 2
    assert np.array_equal(column.contrasts[0], nominal_column(codes[known], 2).contrasts[0])
