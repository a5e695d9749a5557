"""Cut columns of numbers into bins: where to cut, and what the bins are called.

A value on a cut point is in the bin above it. Values outside of what the cut points were found on
are in the outermost bins, and so are infinite ones.

Cuts by classes are those of Fayyad & Irani (1993), "Multi-Interval Discretization of
Continuous-Valued Attributes for Classification Learning": a column is split in two where the
classes of its parts are purest, and each part again, while a split saves more bits of class entropy
than it takes to describe it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from komb.data.problems import Unusable

Floats = npt.NDArray[np.float64]
Pieces = Callable[[], Iterator[Floats]]
"""The numbers of a column, none of them missing, some at a time and as often as wanted."""

EVEN = "even"
"""How columns are cut of which nothing was said."""

EVERYTHING = "any value"
"""The only level of a column without cut points."""

_FEW_CUTS = 16  # are compared one by one, which is quicker than a search
_SAMPLE = 1 << 22  # numbers that are looked at together; of more, these are a sample
_MARGIN = 10_000  # numbers of the sample on either side of an order statistic
_SAME = 1e-8  # of the range, about: quantiles this near are one
_SLACK = 1e-9  # bits per row; splits nearer than that are equally good, and the lowest is taken

_FEWEST_DIGITS = 4  # significant digits of a number, more where two would look alike
_EXACT_DIGITS = 6  # a number that needs no more than these is shown as it is
_MOST_DIGITS = 17  # tell any two numbers apart
_DAY = 86_400  # seconds
_EPOCH = datetime(1970, 1, 1)
_PLAIN_BELOW = 1e15  # larger numbers have an exponent


def find_cuts(pieces: Pieces, way: str, bins: int) -> tuple[float, ...]:
    """Find where to cut a column into bins of equally many rows, or of one width.

    The cut points of ``"even"`` bins are values of the column, so that they depend on nothing but
    its order; there are 1.25 times the sixth root of the number of rows, from 2 to 8, bins: 3 for
    200 rows, 4 for 1,000, 5 for 5,000. Few bins leave rows for tests that condition on others.
    """
    n_rows, low, high = _measure(pieces)
    if low == high:
        return ()
    # A power of two brings the numbers to the scale of 1 and back without any rounding.
    exponent = int(np.frexp(high / 2 - low / 2)[1])
    if way == "uniform":
        edges = np.linspace(math.ldexp(low, -exponent), math.ldexp(high, -exponent), bins + 1)
        return _inside(np.ldexp(edges[1:-1], exponent), low, high)
    if way == EVEN:
        bins = int(np.clip(np.rint(1.25 * n_rows ** (1 / 6)), 2, 8))
    # percentages, as scikit-learn has them; a rounding error more would move an even cut by a rank
    shares = np.linspace(0, 1, bins + 1) if way == EVEN else np.linspace(0, 100, bins + 1) / 100
    places = shares[1:-1] * (n_rows - 1)
    ranks = np.stack([np.floor(places), np.ceil(places)]).astype(np.int64)
    values = _order_statistics(pieces, sorted({*ranks.ravel().tolist()}), n_rows, (low, high))
    lower, points = np.array([[values[rank] for rank in row] for row in ranks.tolist()])
    if way != EVEN:
        lower, upper = np.ldexp(lower, -exponent), np.ldexp(points, -exponent)
        points = np.ldexp(_between(lower, upper, places - ranks[0]), exponent)
        edges = np.ldexp(np.concatenate(([low], points, [high])), -exponent)
        if (np.diff(edges) > _SAME).all():
            return _inside(points, low, high)
    if points.min() <= low:  # many rows have the lowest value: the next one is above it
        points = np.where(points > low, points, _next_above(pieces, low))
    return _inside(points, low, high)


def _measure(pieces: Pieces) -> tuple[int, float, float]:
    """Count numbers, and find the smallest and the largest finite one."""
    n_rows, low, high = 0, np.inf, -np.inf
    for piece in pieces():
        n_rows += len(piece)
        is_finite = np.isfinite(piece)
        finite = piece if is_finite.all() else piece[is_finite]
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    if low > high:
        raise Unusable("holds infinite values only, which cannot be cut. Leave it out.")
    return n_rows, low, high


def _inside(points: Floats, low: float, high: float) -> tuple[float, ...]:
    return tuple(x for x in np.unique(points + 0.0).tolist() if low < x <= high)  # no -0.0


def _between(lower: Floats, upper: Floats, shares: Floats) -> Floats:
    """Interpolate as numpy's quantiles do, from the nearer end."""
    spans = upper - lower
    return np.where(shares < 0.5, lower + spans * shares, upper - spans * (1 - shares))


def _next_above(pieces: Pieces, low: float) -> float:
    return min(float(piece[piece > low].min(initial=np.inf)) for piece in pieces())


def _order_statistics(
    pieces: Pieces, ranks: Sequence[int], n_rows: int, ends: tuple[float, float]
) -> dict[int, float]:
    """Return the numbers of some ranks, 0 for the smallest; infinite ones count as the ends.

    Of many numbers a sample says between which values each is; those between are gathered.
    """
    step = -(-n_rows // _SAMPLE)
    sample = np.concatenate([np.clip(piece[::step], *ends) for piece in pieces()])
    if step == 1:
        return dict(zip(ranks, np.partition(sample, ranks)[ranks].tolist(), strict=True))
    sample.sort()
    found: dict[int, float] = {}
    margin = _MARGIN
    while len(found) < len(ranks):
        left = [rank for rank in ranks if rank not in found]
        places = np.array(left) // step
        lows = np.where(places < margin, ends[0], sample[np.maximum(places - margin, 0)])
        is_last = places + margin >= len(sample)
        highs = np.where(is_last, ends[1], sample[np.minimum(places + margin, len(sample) - 1)])
        for rank, (n_below, inner) in zip(left, _gather(pieces, lows, highs, ends), strict=True):
            if 0 <= rank - n_below < len(inner):
                found[rank] = float(np.partition(inner, rank - n_below)[rank - n_below])
        margin *= 8
    return found


def _gather(
    pieces: Pieces, lows: Floats, highs: Floats, ends: tuple[float, float]
) -> list[tuple[int, Floats]]:
    """Return for each pair of bounds how many numbers are below, and those between."""
    n_below = np.zeros(len(lows), np.int64)
    inner: list[list[Floats]] = [[] for _ in lows]
    for piece in pieces():
        values = np.clip(piece, *ends)
        for place, (low, high) in enumerate(zip(lows, highs, strict=True)):
            n_below[place] += np.count_nonzero(values < low)
            inner[place].append(values[(values >= low) & (values <= high)])
    return [(n, np.concatenate(each)) for n, each in zip(n_below.tolist(), inner, strict=True)]


def find_cuts_by_classes(numbers: Floats, classes: npt.NDArray[Any]) -> tuple[float, ...]:
    """Find where the classes of the rows change; as many bins as pay."""
    low, high = _measure(lambda: iter([numbers]))[1:]
    clipped = np.clip(numbers, low, high)
    order = np.argsort(clipped, kind="stable")
    ordered, classes = clipped[order], classes[order].astype(np.int64)
    parts, cuts = [(0, len(ordered))], []
    while parts:
        start, stop = parts.pop()
        middle = start + _best_split(ordered[start:stop], classes[start:stop])
        if middle > start:
            below, above = float(ordered[middle - 1]), float(ordered[middle])
            point = below / 2 + above / 2
            cuts.append(point if below < point <= above else above)  # of neighbouring floats
            parts += [(start, middle), (middle, stop)]
    return tuple(sorted(cuts))


def _best_split(values: Floats, classes: npt.NDArray[np.int64]) -> int:
    """Return the first row of the upper half of the best split of sorted values; 0 if none pays.

    The bits of n rows, n_c of them of class c, are f(n) less the sum of f(n_c), f(x) = x log2 x. A
    row that joins as number i of its class adds f(i) - f(i - 1), so running sums give all splits.
    """
    n, first = len(values), np.flatnonzero(values[1:] != values[:-1]) + 1  # where a value starts
    if not first.size:
        return 0
    totals = np.bincount(classes)
    number = np.empty(n, np.int64)  # of each row in its class
    by_class = np.argsort(classes, kind="stable")
    number[by_class] = np.arange(n) - np.repeat(np.cumsum(totals) - totals, totals)
    xlogx = np.arange(n + 1, dtype=np.float64)
    xlogx[1:] *= np.log2(xlogx[1:])
    step = np.diff(xlogx)
    up_to, from_on = step[number].cumsum(), step[totals[classes] - 1 - number][::-1].cumsum()
    lower, upper = xlogx[first] - up_to[first - 1], xlogx[n - first] - from_on[n - 1 - first]
    bits = lower + upper
    best = int(np.argmax(bits <= bits.min() + _SLACK * n))  # the first of the best
    row, whole = int(first[best]), float(xlogx[n] - xlogx[totals].sum())
    below = np.bincount(classes[:row], minlength=len(totals))
    k, *k_halves = (int(np.count_nonzero(x)) for x in (totals, below, totals - below))
    saved = k * whole / n - k_halves[0] * lower[best] / row - k_halves[1] * upper[best] / (n - row)
    cost = math.log2(n - 1) + math.log2(3**k - 2) - saved
    return row if whole - float(bits[best]) > cost else 0


def find_cuts_by_clusters(numbers: Floats, bins: int) -> tuple[float, ...]:
    """Let scikit-learn find clusters of values, and cut between them."""
    from sklearn.preprocessing import KBinsDiscretizer
    from threadpoolctl import threadpool_limits

    low, high = _measure(lambda: iter([numbers]))[1:]
    if low == high:
        return ()
    clipped = np.clip(numbers, low, high)
    # scikit-learn takes edges less than 1e-8 apart for one: bring numbers to the scale of 1
    exponent = int(np.frexp(high / 2 - low / 2)[1])
    n_clusters = min(bins, np.unique(clipped).size)
    cutter = KBinsDiscretizer(n_clusters, encode="ordinal", strategy="kmeans", subsample=None)
    # Sums of several threads depend on who comes first; bins that collapse are no news here.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        edges = cutter.fit(np.ldexp(clipped, -exponent).reshape(-1, 1)).bin_edges_[0]
    return _inside(np.ldexp(edges[1:-1], exponent), low, high)


def bins_of(numbers: Floats, cuts: Sequence[float]) -> npt.NDArray[Any]:
    """Return the number of the bin that each value is in; NaN is in the first or last."""
    if len(cuts) > _FEW_CUTS:
        return np.searchsorted(np.asarray(cuts, np.float64), numbers, side="right")
    bins = np.zeros(len(numbers), np.uint8)
    for point in cuts:
        bins += (numbers >= point).view(np.uint8)
    return bins


def label_bins(cuts: Sequence[float], *, are_times: bool = False) -> list[str]:
    """Name the bins between cut points, in order; times are seconds since 1970."""
    shown = show_times(cuts) if are_times else show_numbers(cuts)
    if not shown:
        return [EVERYTHING]
    inner = [f"{low} to {high}" for low, high in pairwise(shown)]
    return [f"< {shown[0]}", *inner, f">= {shown[-1]}"]


def show_times(cuts: Sequence[float]) -> list[str]:
    """Show instants as dates, with the time of day where they need it, or as that alone."""
    if all(0 <= cut < _DAY for cut in cuts) and any(cuts):
        return [(_EPOCH + timedelta(seconds=cut)).time().isoformat() for cut in cuts]
    days = all(cut % _DAY == 0 for cut in cuts)
    instants = [_EPOCH + timedelta(seconds=cut) for cut in cuts]
    return [at.date().isoformat() if days else at.isoformat(" ", "seconds") for at in instants]


def show_numbers(numbers: Sequence[float]) -> list[str]:
    """Show ascending numbers as briefly as still tells them apart."""
    shown: list[str] = []
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
        shown = [_show(number + 0.0, digits) for number in numbers]  # no negative zero
        if all(low < high for low, high in pairwise(map(float, shown))):
            break
    return shown


def _show(number: float, digits: int) -> str:
    if number.is_integer() and abs(number) < _PLAIN_BELOW:
        return str(int(number))
    exact = f"{number:.{_EXACT_DIGITS}g}"
    if float(exact) == number:
        return exact
    if 10**digits <= abs(number) < _PLAIN_BELOW:  # no exponent where the digits are whole ones
        return f"{number:.0f}"
    return f"{number:.{digits}g}"
