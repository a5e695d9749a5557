r"""Blocks of columns counted by the workers of a Dask cluster.

The rows stay where they are. A list of blocks goes out to the workers, each counts it in its pieces
of the table, counts are added up on the way back, a few at a time, and one list of them arrives:

    pieces     1   2   3   4   5   6   7   8   9
    counted    c   c   c   c   c   c   c   c   c      on the worker that has the piece
    added      \_______________/   \___________/      by whichever worker has most of them
    arrived               \______________/

Everything that a worker holds was made by a task that the scheduler can run again elsewhere, so a
worker that is lost costs time and no answer. Counts are whole numbers: they are the same however
they are added.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from typing import Any

from komb.data.parts import Piece
from komb.data.stored.dask import CodesOnWorkers, explained
from komb.engine.blocks import BlockCounter
from komb.engine.joint_counts import (
    CodesBeyondLevels,
    Columns,
    JointCounts,
    add_counts,
    count_in,
)

FAN_IN = 8
"""Lists of counts that are added in one task."""

TASKS_PER_THREAD = 2
"""Tasks that pieces of a file are dealt out in, for each thread of the cluster: few, because each
is a message; more than one, so that no worker waits long for the others."""


class ClusterCounter(BlockCounter):
    """Counts pieces in the memory of the workers, or on a disk that all of them see."""

    def count(self, blocks: Sequence[Columns]) -> list[JointCounts]:
        """Count each block, in one pass over the rows."""
        parts, client = self.table.parts, self.table.cluster
        n_tasks = TASKS_PER_THREAD * max(1, sum(client.nthreads().values()))
        pieces = parts.pieces(n_tasks)
        dealt_out = [pieces[start::n_tasks] for start in range(min(n_tasks, len(pieces)))]
        is_held = isinstance(parts, CodesOnWorkers)  # each piece by the worker that has it
        count = partial(_count_piece if is_held else _count_pieces, tuple(blocks), parts.places)
        futures: list[Any] = []
        try:
            work = partial(count, self.n_codes)
            level = _submit(client, "count", work, pieces if is_held else dealt_out)
            futures += level
            while len(level) > 1:
                groups = [level[start : start + FAN_IN] for start in range(0, len(level), FAN_IN)]
                level = _submit(client, "add", _add_all, groups)
                futures += level
            answer: list[JointCounts] = level[0].result()
        except CodesBeyondLevels as error:
            raise self.wrong_codes(error) from None
        except BaseException as error:  # an interrupt, too: nobody waits for the rest any more
            client.cancel(futures)
            raise explained(error) from error
        return answer


def _submit(client: Any, name: str, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Submit one task per item; names of their own keep Dask from hashing what is in them."""
    run = uuid.uuid4().hex
    keys = [f"komb-{name}-{run}-{number}" for number in range(len(items))]
    futures: list[Any] = client.map(work, items, key=keys, pure=False)
    return futures


def _count_piece(
    blocks: Sequence[Columns], places: Sequence[int], n_codes: Sequence[int], piece: Piece
) -> list[JointCounts]:
    """Count blocks in one piece, on a worker."""
    return count_in(piece.codes(), places, n_codes, blocks)


def _count_pieces(
    blocks: Sequence[Columns],
    places: Sequence[int],
    n_codes: Sequence[int],
    pieces: Iterable[Piece],
) -> list[JointCounts]:
    """Count blocks in some pieces, on a worker."""
    return reduce(add_counts, (_count_piece(blocks, places, n_codes, piece) for piece in pieces))


def _add_all(counts: Iterable[list[JointCounts]]) -> list[JointCounts]:
    return reduce(add_counts, counts)
