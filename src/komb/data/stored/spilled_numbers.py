"""The numbers of a column on disk, and where to cut them, in memory that is bounded.

Numbers that are to be cut are written to a file while levels are gathered, 8 bytes each. If they
fit into memory, cut points are found as for any table. If they do not, those of ``"uniform"`` need
the smallest and the largest number only, and those of ``"quantile"`` a few order statistics, which
are found exactly by counting leading bits in several passes. ``"kmeans"`` and ``"mdl"`` need all of
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from komb.data.encode.discretization import find_cuts
from komb.data.encode.numbers import Floats
from komb.data.memory_limit import refuse_beyond

BYTES_PER_NUMBER = 64
"""Memory that finding cut points takes for each number."""

_PIECE = 1 << 21  # numbers that are looked at in one go
_STEP = 16  # bits that one pass settles
_SIGN = np.uint64(1 << 63)


class SpilledNumbers:
    """The numbers of a column, in files of a folder; NaN is a missing value."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._files = tuple(files)

    def __len__(self) -> int:
        return sum(file.stat().st_size for file in self._files) // 8

    def pieces(self) -> Iterator[Floats]:
        """All numbers, some at a time."""
        for file in self._files:
            with file.open("rb") as stream:
                while len(piece := np.fromfile(stream, np.float64, _PIECE)):
                    yield piece

    def known(self) -> Iterator[Floats]:
        """All numbers but missing values, some at a time."""
        for piece in self.pieces():
            is_known = ~np.isnan(piece)
            yield piece if is_known.all() else piece[is_known]

    def find_cuts(self, name: object, way: str, bins: int, limit: int) -> tuple[float, ...]:
        """Find where to cut them; as :func:`~komb.data.encode.discretization.find_cuts`."""
        needed = BYTES_PER_NUMBER * len(self)
        if needed <= limit:
            return find_cuts(np.concatenate(list(self.known())), way, bins)
        if way == "uniform":
            return find_cuts(np.array(self._range()), way, bins)
        if way == "quantile":
            return self._quantile_cuts(bins)
        refuse_beyond(needed, limit, f"Cutting column {name!r} by {way!r}")
        raise AssertionError  # it is beyond

    def with_classes(
        self, name: object, classes: npt.NDArray[np.integer], n_levels: int, limit: int
    ) -> tuple[float, ...]:
        """Find where to cut them by the levels of a target, with its codes in all rows."""
        refuse_beyond(BYTES_PER_NUMBER * len(self), limit, f"Cutting column {name!r} by 'mdl'")
        numbers = np.concatenate(list(self.pieces()))
        is_used = ~np.isnan(numbers) & (classes < n_levels)
        if not is_used.any():
            return ()
        return find_cuts(numbers[is_used], "mdl", 0, classes[is_used])

    def _range(self) -> list[float]:
        """Return the smallest and the largest finite number, or what there is."""
        low, high = np.inf, -np.inf
        for piece in self.known():
            finite = piece[np.isfinite(piece)]
            if finite.size:
                low, high = min(low, float(finite.min())), max(high, float(finite.max()))
        return [low, high]

    def _quantile_cuts(self, bins: int) -> tuple[float, ...]:
        """Find quantiles as :func:`~komb.data.encode.discretization.find_cuts` does."""
        low, high = self._range()
        if not low < high:
            return find_cuts(np.array([low, high]), "quantile", bins)
        n_known = sum(len(piece) for piece in self.known())
        percentages = np.linspace(0, 100, bins + 1)
        edges = self._quantiles(np.true_divide(percentages, 100), n_known, low, high)
        exponent = int(np.frexp(high / 2 - low / 2)[1])
        scaled = np.ldexp(edges, -exponent)
        inner = np.ldexp(scaled[np.ediff1d(scaled, to_begin=np.inf) > 1e-8], exponent)[1:-1]
        if len(inner) < bins - 1:
            ties = self._quantiles(np.linspace(0, 1, bins + 1)[1:-1], n_known, low, high)
            inner = np.where(ties > low, ties, self._next_above(low, high))
        return tuple(cut for cut in np.unique(inner).tolist() if low < cut <= high)

    def _quantiles(
        self, shares: npt.NDArray[np.float64], n_known: int, low: float, high: float
    ) -> Floats:
        """Quantiles by numpy's default rule, linear between two order statistics."""
        places = (n_known - 1) * shares
        floors = np.floor(places).astype(np.int64)
        ranks = sorted({*floors.tolist(), *np.minimum(floors + 1, n_known - 1).tolist()})
        found = {
            rank: min(max(value, low), high)
            for rank, value in zip(ranks, self.order_statistics(ranks), strict=True)
        }
        pairs = [(found[rank], found[min(rank + 1, n_known - 1)]) for rank in floors.tolist()]
        parts = (places - floors).tolist()
        return np.array([np.quantile(pair, part) for pair, part in zip(pairs, parts, strict=True)])

    def _next_above(self, low: float, high: float) -> float:
        least = high
        for piece in self.known():
            above = piece[piece > low]
            if above.size:
                least = min(least, float(above.min()))
        return least

    def order_statistics(self, ranks: list[int]) -> list[float]:
        """Return the numbers of given ranks, 0 for the smallest, counting leading bits in passes.

        ``ranks`` are ascending.
        """
        prefixes = [0] * len(ranks)
        left = list(ranks)
        for shift in range(64 - _STEP, -1, -_STEP):
            wanted = sorted(set(prefixes))
            counts = {prefix: np.zeros(1 << _STEP, np.int64) for prefix in wanted}
            for piece in self.known():
                keys = _ordered_bits(piece)
                leading = keys >> np.uint64(shift + _STEP) if shift + _STEP < 64 else keys * 0
                digits = (keys >> np.uint64(shift)) & np.uint64((1 << _STEP) - 1)
                for prefix in wanted:
                    own = digits[leading == np.uint64(prefix)].astype(np.int64)
                    counts[prefix] += np.bincount(own, minlength=1 << _STEP)
            for place, prefix in enumerate(prefixes):
                ends = np.cumsum(counts[prefix])
                digit = int(np.searchsorted(ends, left[place], side="right"))
                left[place] -= int(ends[digit - 1]) if digit else 0
                prefixes[place] = prefix << _STEP | digit
        found: list[float] = _from_ordered_bits(np.array(prefixes, np.uint64)).tolist()
        return found


def _ordered_bits(numbers: Floats) -> npt.NDArray[np.uint64]:
    """Whole numbers in the order of the floats."""
    bits = (numbers + 0.0).view(np.uint64)  # adding zero turns -0.0 into 0.0
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _from_ordered_bits(keys: npt.NDArray[np.uint64]) -> Floats:
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)
