"""Checks of parameters that several generators share."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from komb.data.names import Name
from komb.errors import Argument, ParameterError

if TYPE_CHECKING:
    import numpy as np

MAX_CELLS = 1 << 24
"""The largest exact joint distribution that is computed, in cells."""


def check_count(
    parameter: str,
    value: object,
    minimum: int = 0,
    maximum: int | None = None,
    *,
    column: Name = None,
) -> int:
    """Return ``value`` as an ``int``, or raise unless it is a whole number in range.

    Where a parameter has a number for each of some columns, ``column`` says whose it is.
    """
    at_most = "" if maximum is None else f" and at most {maximum}"
    of_column = "" if column is None else f", for {column!r}"
    rule = f"be a whole number, at least {minimum}{at_most}{of_column}"
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = minimum - 1
    if isinstance(value, bool) or number < minimum or (maximum is not None and number > maximum):
        nearest = minimum if maximum is None or number < minimum else maximum
        advice = Argument(parameter, nearest if column is None else {column: nearest})
        raise ParameterError.because(parameter, rule, value, ("Try ", advice, "."))
    return number


def check_number(parameter: str, value: object, low: float, high: float, example: float) -> float:
    """Return ``value`` as a ``float``, or raise unless it lies between two bounds."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not low <= number <= high:
        rule = f"be a number from {low} to {high}" if high < math.inf else f"be a number from {low}"
        raise ParameterError.because(
            parameter, rule, value, ("Try ", Argument(parameter, example), ".")
        )
    return number


def check_cardinality(value: object) -> tuple[int, int]:
    """Return the fewest and most levels, given as one number or as a pair."""
    pair = value if isinstance(value, Sequence) and len(value) == 2 else (value, value)
    low = check_count("cardinality", pair[0], 2)
    return low, check_count("cardinality", pair[1], low)


def check_cells(cardinalities: Iterable[int]) -> None:
    """Raise if an exact joint distribution would be too large to be computed."""
    sizes = list(cardinalities)
    cells = math.prod(sizes)
    if cells > MAX_CELLS or len(sizes) > 32:  # numpy arrays have no more than 32 or 64 axes
        raise ParameterError(
            f"The exact joint distribution must have at most {MAX_CELLS:,} cells and 32 variables; "
            f"got {float(cells):.3g} cells of {len(sizes)} variables.",
            "Take a smaller network, or work from a sample: .sample(n_rows).",
        )


def random_pairs(
    n_variables: int, n_edges: int | None, degree: float, rng: np.random.Generator
) -> tuple[list[tuple[int, int]], int]:
    """Shuffle all pairs of variables, and settle how many of them shall become edges."""
    pairs = list(combinations(range(n_variables), 2))
    if n_edges is None:
        mean = check_number("degree", degree, 0, math.inf, 2.0)
        wanted = min(round(n_variables * min(mean, n_variables) / 2), len(pairs))
    else:
        wanted = check_count("n_edges", n_edges, 0, len(pairs))
    return [pairs[position] for position in rng.permutation(len(pairs))], wanted


def find_cycle(edges: Iterable[tuple[Name, Name]]) -> list[Name]:
    """Return causes that lead back to the first of them, along edges; empty if there are none."""
    import networkx as nx

    try:
        found = nx.find_cycle(nx.DiGraph(list(edges)))
    except nx.NetworkXNoCycle:
        return []
    return [found[0][0], *(effect for _, effect in found)]


def check_progress(progress: object) -> None:
    """Raise if a progress callback cannot be called."""
    if progress is not None and not callable(progress):
        rule = "be a function of one argument, or None"
        raise ParameterError.because("progress", rule, progress, "Try progress=print.")
