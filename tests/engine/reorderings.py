"""A test twice: as it is, and with rows, levels and conditions in another order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from komb.data.table import DiscreteTable


class OneTest(NamedTuple):
    """What the sums of one test are computed from."""

    codes: npt.NDArray[np.uint16]
    cardinalities: list[int]
    target: int
    x: int
    members: list[int]


def reorder(table: DiscreteTable, share_missing: float, seed: int) -> tuple[OneTest, OneTest]:
    """Draw a test, with a share of all values missing; both have the same counts."""
    rng = np.random.default_rng(seed)
    levels = table.cardinalities
    missing = rng.random(table.codes.shape) < share_missing
    codes = np.where(missing, levels[:, None], table.codes).astype(np.uint16)
    target, x, *others = rng.permutation(table.n_columns).tolist()
    members = others[: rng.integers(0, len(others) + 1)]
    renamed = [
        np.append(rng.permutation(n), n)[column] for n, column in zip(levels, codes, strict=True)
    ]
    other = np.array(renamed, dtype=np.uint16)[:, rng.permutation(table.n_rows)]
    shuffled = rng.permutation(members).astype(int).tolist()
    test = OneTest(codes, levels.tolist(), target, x, members)
    return test, test._replace(codes=other, members=shuffled)
