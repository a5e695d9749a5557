"""Tests of one part of a sweep that may be dependences, as a screen lists them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from komb.counts.fixedpoint import Int64Array


class ListedTables(NamedTuple):
    """The tables of what is listed."""

    unions: Int64Array  # [union, column]
    tables: npt.NDArray[np.int32]  # [union, cell]
    union_of: Int64Array  # of each test
    omitted: Int64Array  # which element of the union is tested


class Listed(NamedTuple):
    """Tests of one part of a sweep that may be dependences."""

    n_unions: int  # that the part stands for
    n_counted: int
    ranks: Int64Array  # of the given sets
    places: Int64Array  # of the candidates in the pool
    fit: Int64Array  # of the given set with the candidate
    tables: ListedTables | None = None  # if they were wanted, and not too large
