"""Cut columns of numbers into bins.

A value on a cut point is in the bin above it. Values outside of what the cut points were found on
are in the outermost bins, and so are infinite ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.encode.bin_labels import label_bins
from komb.data.encode.codes import Encoded, compact
from komb.data.encode.column_errors import Unusable
from komb.data.encode.mdl import mdl_cuts

Floats = npt.NDArray[np.float64]


def find_cuts(
    numbers: Floats, way: str, bins: int, classes: npt.NDArray[Any] | None = None
) -> tuple[float, ...]:
    """Find where to cut a column."""
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        raise Unusable("holds infinite values only, which cannot be cut. Leave it out.")
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return ()
    clipped = np.clip(numbers, low, high)
    if way == "mdl":
        assert classes is not None
        return mdl_cuts(clipped, classes)
    cuts = _bin_edges(clipped, way, bins)
    if way == "quantile" and len(cuts) < bins - 1:
        cuts = _tied_quantiles(clipped, bins)
    return tuple(cut for cut in np.unique(cuts).tolist() if low < cut <= high)


def _bin_edges(numbers: Floats, way: str, bins: int) -> Floats:
    """Let scikit-learn find the edges between bins."""
    from sklearn.preprocessing import KBinsDiscretizer
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    # scikit-learn takes edges less than 1e-8 apart for one. A power of two brings the numbers to
    # the scale of 1 and back without any rounding.
    exponent = int(np.frexp(numbers.max() / 2 - numbers.min() / 2)[1])
    scaled = np.ldexp(numbers, -exponent).reshape(-1, 1)
    options: dict[str, Any] = {"encode": "ordinal", "strategy": way, "subsample": None}
    if "quantile_method" in signature(KBinsDiscretizer).parameters:
        options["quantile_method"] = "linear"  # what versions without a choice do
    if way == "kmeans":
        bins = min(bins, np.unique(numbers).size)
    # Sums of several threads depend on who comes first; bins that collapse are no news here.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        edges = KBinsDiscretizer(bins, **options).fit(scaled).bin_edges_[0]
    inner: Floats = np.ldexp(edges[1:-1], exponent)
    return inner


def _tied_quantiles(numbers: Floats, bins: int) -> Floats:
    """Find quantiles where many rows have one value.

    scikit-learn drops an edge that equals its neighbour, and may end with a single bin. A quantile
    at the largest value still splits it from the rest; one at the smallest has nothing below it and
    moves on to the next value.
    """
    quantiles = np.quantile(numbers, np.linspace(0, 1, bins + 1)[1:-1])
    low = numbers.min()
    return np.where(quantiles > low, quantiles, numbers[numbers > low].min())


def even_cuts(numbers: Floats) -> tuple[float, ...]:
    """Find cut points for a column of which nothing was said: equally many rows per bin.

    There are 1.25 times the sixth root of the number of rows, from 2 to 8, bins: 3 for 200 rows, 4
    for 1,000, 5 for 5,000. The cut points are values of the column, so that they depend on nothing
    but its order; few bins leave rows enough for tests that condition on other columns.
    """
    bins = int(np.clip(np.rint(1.25 * numbers.size ** (1 / 6)), 2, 8))
    low = numbers.min()
    above = numbers[numbers > low]
    if not above.size:
        return ()
    points = np.quantile(numbers, np.linspace(0, 1, bins + 1)[1:-1], method="higher")
    return tuple(np.unique(np.where(points > low, points, above.min())).tolist())


def cut(numbers: Floats, cuts: Sequence[float]) -> Encoded:
    """Encode a column by the bins its values are in."""
    bins = np.searchsorted(np.asarray(cuts, np.float64), numbers, side="right")
    codes, seen = compact(bins, len(cuts) + 1)
    labels = label_bins(cuts)
    return Encoded(codes, tuple(labels[position] for position in seen))
