"""Drawing levels from many small distributions at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.levels import code_dtype

Codes = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


def thresholds(probabilities: Floats) -> Floats:
    """Return cumulated probabilities over the last axis, without the last entry.

    A level is the number of thresholds that a uniform number reaches. Rounding must not let a
    level of probability zero occur, so from the last possible level on they are out of reach.
    """
    cumulated = np.cumsum(probabilities, axis=-1)
    # What is still to come, summed from the other end, is exactly zero where nothing comes.
    to_come = np.cumsum(probabilities[..., ::-1], axis=-1)[..., ::-1]
    is_last = np.zeros(cumulated.shape, bool)
    is_last[..., :-1] = to_come[..., 1:] == 0
    cumulated[is_last] = 1.0
    return np.ascontiguousarray(np.minimum(cumulated, 1.0)[..., :-1])


def flat_index(codes: Codes, members: Sequence[int], sizes: Sequence[int]) -> npt.NDArray[np.intp]:
    """Return the number of the joint state of some variables in each row, the last one fastest."""
    index = np.zeros(codes.shape[1], np.intp)
    for member, size in zip(members, sizes, strict=True):
        index *= size
        index += codes[member]
    return index


def draw(uniform: Floats, limits: Floats, context: npt.NDArray[np.intp]) -> Codes:
    """Draw one level for each row."""
    levels = np.zeros(uniform.shape, code_dtype(limits.shape[1] + 1))
    for limit in limits.T:  # one level at a time: a row of thresholds per row would fill the memory
        levels += uniform >= limit.take(context)
    return levels


def spread(table: Floats, scope: Sequence[int], n_axes: int) -> Floats:
    """Lay the axes of a table out among those of a joint distribution, for multiplication."""
    order = np.argsort(scope)
    shape = [1] * n_axes
    for axis, size in zip(scope, table.shape, strict=True):
        shape[axis] = size
    return table.transpose(order).reshape(shape)
