"""Sums over the tables of a batch, and of some of its tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from komb.citests.measure import TestSums
from komb.data.table import DiscreteTable
from komb.sessions.data import DataSession
from tests.counts.tables import (
    make_table,
    with_missing,
)

MIXED: list[int | str] = [2, 3, "parity", 2, 4, "copy", "parity", "rare"]
PROPERTIES = (
    "gain", "target_saving", "candidate_saving", "adjusted_freedom", "pearson",
    "pearson_mean", "pearson_variance", "pearson_third", "cells", "is_thick",
    "is_codable", "levels", "strata",
)  # fmt: skip


def sums_of(table: DiscreteTable) -> TestSums:
    session = DataSession(table, "chi2", df="adjusted")
    return session.source._sums(2, [[0, 3, 4], [1], [3, 7]], [[1, 5], [3, 7], [0, 4]])


@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize("kept", [[], [0], [1, 3, 5], [5, 2], list(range(6))])
def test_only_some_of_the_sums(share: float, kept: list[int]) -> None:
    table = make_table(MIXED, 150, seed=0)
    sums = sums_of(with_missing(table, [share] * 8, seed=0) if share else table)
    some = sums.only(np.array(kept, dtype=np.int64))
    for name in PROPERTIES:
        expected: Any = getattr(sums, name)[kept]
        np.testing.assert_array_equal(getattr(some, name), expected)
    np.testing.assert_array_equal(
        np.broadcast_to(some.n_rows, len(kept)), np.broadcast_to(sums.n_rows, 6)[kept]
    )
    assert some.tests.candidates.tolist() == [sums.tests.candidates[place] for place in kept]
    assert some.tests.set_of.tolist() == [sums.tests.set_of[place] for place in kept]
    again = some.only(np.arange(len(kept))[::-1])
    np.testing.assert_array_equal(again.gain, some.gain[::-1])
