"""Many arrays as one pointer."""

from __future__ import annotations

import numpy as np
import pytest

from komb.engine.compiling import inner, kernel
from komb.engine.records import Record


@inner
def _weigh(record, index):  # type: ignore[no-untyped-def]
    return record.inside.weights[index, 1] * record.scale


@kernel
def _sum(record):  # type: ignore[no-untyped-def]
    total = 0.0
    for index in range(record.inside.weights.shape[0]):
        total += _weigh(record, index)
        record.sums[index] = total
    return total if record.is_positive else -total


def make_record(*, is_positive: bool) -> Record:
    weights = np.arange(12, dtype=np.int32).reshape(6, 2)
    return Record(
        scale=0.5, is_positive=is_positive, inside=Record(weights=weights), sums=np.zeros(6)
    )


def test_kernels_read_and_write_fields() -> None:
    record = make_record(is_positive=True)
    assert _sum(record) == 18.0
    assert record.sums.tolist() == [0.5, 2.0, 4.5, 8.0, 12.5, 18.0]
    assert _sum(make_record(is_positive=False)) == -18.0


def test_other_values_of_the_same_kind() -> None:
    record = make_record(is_positive=True)
    longer = Record(weights=np.ones((9, 2), dtype=np.int32))
    other = record.replaced(scale=2.0, inside=longer, sums=np.zeros(9))
    assert _sum(other) == 18.0
    assert other.sums[-1] == 18.0
    assert _sum(record) == 18.0
    assert record.scale == 0.5
    with pytest.raises(TypeError, match="'scale' of a record must stay float64"):
        record.replaced(scale=1)


def test_arrays_that_cannot_be_written_are_read_all_the_same() -> None:
    weights = np.arange(12, dtype=np.int32).reshape(6, 2)
    weights.flags.writeable = False
    assert _sum(make_record(is_positive=True).replaced(inside=Record(weights=weights))) == 18.0


def test_only_contiguous_arrays() -> None:
    with pytest.raises(ValueError, match="the array 'x' of a record must be contiguous"):
        Record(x=np.zeros((4, 4))[:, ::2])
