"""Where the codes of a table are: in one array here, in a file, or on the workers of a cluster.

Counts are additive: those of a table are the sums of those of its pieces. So what counts asks for
pieces, each some of the rows, and need not know where they are; what has to go through all rows at
any time asks for the codes as a whole.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from komb.data.levels import CodeArray, code_dtype
from komb.data.names import Name
from komb.errors import DataError

Int64Array = npt.NDArray[np.int64]

VALUES_PER_PIECE = 1 << 24
"""Codes in a piece, at most: what a thread has in memory of a file."""

_FEWEST_ROWS, _MOST_ROWS = 1 << 10, 1 << 22


class Piece(Protocol):
    """Some of the rows of a table; it can be sent to another process."""

    def codes(self) -> CodeArray:
        """Return their codes, of shape (columns, rows)."""


class Parts(ABC):
    """The codes of a table, in pieces.

    Attributes
    ----------
    n_rows : int
    dtype : numpy.dtype
    places : tuple of int
        Which of the columns that the pieces have are those of the table.
    where : str
        Where they are, for people; empty if they are here.
    """

    n_rows: int
    dtype: np.dtype[Any]
    places: tuple[int, ...]
    where: str = ""

    @property
    @abstractmethod
    def is_here(self) -> bool:
        """Whether kernels may go through all codes at any time."""

    @property
    @abstractmethod
    def whole(self) -> CodeArray:
        """All codes, of shape (columns, rows), brought here if there is memory for them."""

    @property
    def nbytes(self) -> int:
        """The memory that the codes take, or would take if they were here, in bytes."""
        return len(self.places) * self.n_rows * self.dtype.itemsize

    @abstractmethod
    def pieces(self, at_least: int = 1) -> Sequence[Any]:
        """Return pieces, or futures of pieces; ``at_least`` so many if there are the rows."""

    @abstractmethod
    def select(self, positions: Sequence[int]) -> Parts:
        """Return the same rows of some columns."""

    @abstractmethod
    def count_missing(self, n_levels: Int64Array) -> Int64Array:
        """Count the missing values of each column."""

    def wrong_codes(self, name: Name) -> Exception:
        """Return the error about codes of a column that no level belongs to."""
        return DataError(
            f"Column {name!r} has codes without levels.", "Make the table with komb.table."
        )

    def verify(self) -> None:  # noqa: B027 - only files have checksums
        """Compare what is on disk with its checksums."""

    def each(self, work: Callable[..., Any], *arguments: Sequence[Any]) -> Iterable[Any]:
        """Do some work on each piece, with its own of each list of arguments, where it is."""
        return map(work, self.pieces(), *arguments)

    def add_up(self, count: Callable[[Piece], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Add up what is counted in each piece."""
        total: npt.NDArray[Any] = np.sum([*self.each(count)], axis=0)
        return total

    def count_levels(self, position: int, n_codes: int) -> Int64Array:
        """Count the rows that have each code of a column."""
        return self.add_up(partial(count_codes, self.places[position], n_codes))


def count_codes(place: int, n_codes: int, piece: Piece) -> Int64Array:
    """Count the rows of a piece that have each code of a column."""
    return np.bincount(piece.codes()[place], minlength=n_codes)


def cut_rows(n_rows: int, n_columns: int, at_least: int) -> list[slice]:
    """Cut rows into pieces that are small enough for memory, and as many as are wanted."""
    most = min(max(VALUES_PER_PIECE // max(n_columns, 1), _FEWEST_ROWS), _MOST_ROWS)
    n_pieces = min(max(-(-n_rows // most), at_least), max(1, n_rows // _FEWEST_ROWS))
    ends = [n_rows * number // n_pieces for number in range(n_pieces + 1)]
    return [slice(lo, hi) for lo, hi in pairwise(ends)]


@dataclass(frozen=True, slots=True)
class ArrayPiece:
    """Rows that are in an array."""

    array: CodeArray

    def codes(self) -> CodeArray:
        """Return their codes, of shape (columns, rows)."""
        return self.array


class CodesHere(Parts):
    """Codes in one array, which is never changed."""

    def __init__(self, codes: CodeArray) -> None:
        self._codes = np.ascontiguousarray(codes)[:]  # a view: the caller's flag stays as it is
        self._codes.flags.writeable = False
        self.places = tuple(range(len(codes)))
        self.n_rows, self.dtype = codes.shape[1], codes.dtype

    @property
    def is_here(self) -> bool:
        """They are."""
        return True

    @property
    def whole(self) -> CodeArray:
        """All codes, of shape (columns, rows)."""
        return self._codes

    def pieces(self, at_least: int = 1) -> Sequence[ArrayPiece]:
        """Return slices."""
        slices = cut_rows(self.n_rows, len(self.places), at_least)
        return [ArrayPiece(self._codes[:, rows]) for rows in slices]

    def select(self, positions: Sequence[int]) -> CodesHere:
        """Return the same rows of some columns, copied."""
        return CodesHere(narrow(self._codes[list(positions)]))

    def count_missing(self, n_levels: Int64Array) -> Int64Array:
        """Count the missing values of each column."""
        counts = np.zeros(len(n_levels), np.int64)
        for place in np.flatnonzero(self._codes.max(axis=1) >= n_levels):
            counts[place] = np.count_nonzero(self._codes[place] == n_levels[place])
        return counts

    def __reduce__(self) -> tuple[type[CodesHere], tuple[CodeArray]]:
        # A pickled array comes back writeable; going through the constructor protects it again.
        return CodesHere, (self._codes,)


def narrow(codes: CodeArray) -> CodeArray:
    """Return codes in the smallest type that holds them."""
    return codes.astype(code_dtype(int(codes.max()) + 1), copy=False)
