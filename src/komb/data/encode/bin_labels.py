"""Names for the bins of a column that was cut."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

EVERYTHING = "any value"
"""The only level of a column without cut points."""

_FEWEST_DIGITS = 4  # significant digits of a number, more where two would look alike
_EXACT_DIGITS = 6  # a number that needs no more than these is shown as it is
_MOST_DIGITS = 17  # tell any two numbers apart
_DAY = 86_400  # seconds
_EPOCH = datetime(1970, 1, 1)
_PLAIN_BELOW = 1e15  # larger numbers have an exponent


def label_bins(cuts: Sequence[float]) -> list[str]:
    """Name the bins between cut points, in order; a value on a cut point is in the bin above it."""
    return _label(show_numbers(cuts))


def label_times(cuts: Sequence[float]) -> list[str]:
    """Name the bins between instants, which are seconds since 1970."""
    return _label(show_times(cuts))


def show_times(cuts: Sequence[float]) -> list[str]:
    """Show instants as dates, with the time of day where they need it, or as that alone."""
    if all(0 <= cut < _DAY for cut in cuts) and any(cuts):
        return [str(timedelta(seconds=cut)).zfill(8) for cut in cuts]
    days = all(cut % _DAY == 0 for cut in cuts)
    instants = [_EPOCH + timedelta(seconds=cut) for cut in cuts]
    return [at.date().isoformat() if days else at.isoformat(" ", "seconds") for at in instants]


def _label(shown: Sequence[str]) -> list[str]:
    if not shown:
        return [EVERYTHING]
    inner = [f"{low} to {high}" for low, high in pairwise(shown)]
    return [f"< {shown[0]}", *inner, f">= {shown[-1]}"]


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
