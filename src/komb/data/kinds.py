"""What kinds of columns there are, and what was decided about each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

NOMINAL = "nominal"
ORDINAL = "ordinal"
CONTINUOUS = "continuous"
TIME = "time"
IDENTIFIER = "identifier"
TEXT = "text"
NESTED = "nested"
EMPTY = "empty"

NUMERIC = (ORDINAL, CONTINUOUS, TIME)
"""Kinds whose values have an order, so that they can be cut or ranked."""

KINDS = (NOMINAL, ORDINAL, CONTINUOUS, TIME, IDENTIFIER, TEXT)
"""The kinds that a caller can name; the last two are left out of the search."""

LEVELS = "levels"
BINS = "bins"
RANKS = "ranks"
LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class ColumnType:
    """What a column was found to be, and how it is treated.

    Attributes
    ----------
    kind
        ``"nominal"`` (unordered levels), ``"ordinal"`` (numbers whose order counts),
        ``"continuous"`` (measurements), ``"time"`` (dates and times), ``"identifier"`` (names
        rows), ``"text"`` (free text), ``"nested"`` (lists, records) or ``"empty"`` (no value at
        all).
    treatment
        ``"levels"``: each distinct value is a level. ``"bins"``: cut into levels. ``"ranks"``: by
        its values, of which tests take the ranks. ``"left out"``: not part of the table.
    missing
        Number of missing values.
    reason
        Why, where that is not obvious; empty otherwise.

    Examples
    --------
    >>> print(ColumnType("continuous", "bins", missing=3))
    continuous, by bins, 3 missing values
    >>> print(ColumnType("identifier", "left out", reason="a different value in each of 90 rows"))
    identifier, left out (a different value in each of 90 rows)
    """

    kind: str
    treatment: str
    missing: int = 0
    reason: str = ""

    @property
    def is_left_out(self) -> bool:
        """Whether the column is no part of the table."""
        return self.treatment == LEFT_OUT

    def __str__(self) -> str:
        how = self.treatment if self.is_left_out else f"by {self.treatment}"
        values = "value" if self.missing == 1 else "values"
        missing = f", {self.missing:,} missing {values}" if self.missing else ""
        return f"{self.kind}, {how}{missing}{f' ({self.reason})' if self.reason else ''}"


class Place(NamedTuple):
    """Where a variant is in the genome.

    >>> print(Place("7", 140_453_136))
    7:140453136
    """

    chromosome: str
    position: int | None

    def __str__(self) -> str:
        return f"{self.chromosome}:{self.position}"
