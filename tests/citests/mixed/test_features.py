"""Features of single columns."""

from __future__ import annotations

import numpy as np
import pytest

from komb.citests.mixed.features import nominal_features, numeric_features


def test_contrasts_are_orthonormal_and_rare_levels_one() -> None:
    codes = np.repeat([0, 1, 2, 3, 4], [50, 30, 7, 6, 4])
    features = nominal_features(codes, 5)
    assert len(features.own) == 2  # of three levels: the rare ones are together
    assert features.own @ features.own.T / len(codes) == pytest.approx(np.eye(2))
    assert features.own.sum(axis=1) == pytest.approx([0, 0], abs=1e-9)


def test_few_values_have_few_features() -> None:
    assert len(numeric_features(np.zeros(30)).own) == 0
    assert len(numeric_features(np.arange(30.0) % 2).own) == 1
    features = numeric_features(np.arange(30.0) % 3)
    assert features.degrees.tolist() == [1, 2]
    assert len(features.smooth) == 2


def test_missing_values_have_zeros_and_do_not_matter() -> None:
    values = np.array([5.0, np.nan, 1.0, 3.0, np.nan, 9.0])
    with_missing, without = numeric_features(values), numeric_features(values[[0, 2, 3, 5]])
    assert not with_missing.own[:, [1, 4]].any()
    assert np.array_equal(with_missing.take(np.array([0, 2, 3, 5])).own, without.own)
    assert not nominal_features(np.array([0, 1, 2] * 12), 2).own[:, 2].any()
