"""Compile the kernels before the clock starts, and say so when that takes long.

Numba compiles a kernel when it is first called and keeps the result on disk, so only the very first
search on a machine has to wait. A user who does not know that would think komb hangs.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

import numpy as np

from komb.citests.data_session import DataSession
from komb.data import DiscreteTable
from komb.search.registry import find_algorithm
from komb.search.task import Task

_log = logging.getLogger("komb")

PATIENCE = 1.5
"""Seconds of compiling after which the user is told; reading from disk takes less."""

NOTICE = "komb is compiling its kernels; this takes about 15 s and is kept for the next time"

_done: set[tuple[np.dtype[Any], bool]] = set()


def warm_up(dtype: np.dtype[Any], *, has_missing: bool = False) -> None:
    """Have the kernels for codes of one type ready; at once if they are.

    Parameters
    ----------
    dtype
        Of the codes of a table: each has kernels of its own.
    has_missing
        Whether values of the table are missing: that has a kernel of its own, too.

    Examples
    --------
    >>> warm_up(np.dtype(np.uint8))
    """
    if (dtype, has_missing) in _done:
        return
    import komb.counts.kernels  # noqa: F401  (loads numba, which is slow but no compiling)

    notice = threading.Timer(PATIENCE, _log.warning, [NOTICE])
    notice.daemon = True
    notice.start()
    try:
        _search_tiny_table(_tiny_table(dtype, has_missing))
    finally:
        notice.cancel()
    _done.add((dtype, has_missing))


def _tiny_table(dtype: np.dtype[Any], has_missing: bool) -> DiscreteTable:
    codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]], dtype)
    if has_missing:
        codes[0, 0] = 2
    return DiscreteTable((0, 1, 2), codes, ((0, 1),) * 3)


def _search_tiny_table(table: DiscreteTable) -> None:
    session = DataSession(table)
    task = Task(target=2, candidates=frozenset({0, 1}))
    find_algorithm("komb").search(session, task, order=1, max_separator=1)
