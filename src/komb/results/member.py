"""What a blanket has: members with their evidence, types of columns, and remarks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from komb.data.kinds import ColumnType
from komb.data.names import FrozenMapping, Name
from komb.results.record import Record
from komb.search.task import Leak, Omission, Sight
from komb.views.choices_text import omission_in_words
from komb.views.types_text import types_sheet

MEMBER_COLUMNS = ("name", "witness", "statistic", "df", "p_value", "test", "reliable")
"""Of a frame."""


@dataclass(frozen=True, slots=True)
class Member(Record):
    """One column of a blanket, and why it is there.

    Attributes
    ----------
    name
        The column.
    witness
        The columns to condition on for the dependence on the target to become visible: empty for an
        ordinary dependence, ``None`` for a column that is there by request (``include``) alone.
    statistic
        Of the test of this column against the target given the witness; ``None`` without a test.
    df
        Degrees of freedom; ``None`` if the deciding test has none.
    p_value
        ``None`` if the deciding test has none.
    test
        Which test decided.
    reliable
        Whether the table was thick enough for that test to be trusted.

    Examples
    --------
    >>> Member("age", ("sex",), 12.5, 2, 0.0019, "g", True).name
    'age'
    """

    name: Name
    witness: tuple[Name, ...] | None
    statistic: float | None = None
    df: float | None = None
    p_value: float | None = None
    test: str | None = None
    reliable: bool | None = None

    @property
    def is_by_request(self) -> bool:
        """Whether nothing but the caller's ``include`` put the column there."""
        return self.witness is None

    @property
    def bits(self) -> float | None:
        """The evidence that the member depends on the target, in bits, whichever test decided.

        A p-value of 2^-b counts as b bits, and so does a code that is b bits shorter. ``None``
        without a test.

        Examples
        --------
        >>> Member("age", (), 9.0, 1, 0.25, "g", True).bits
        2.0
        """
        if self.statistic is None:
            return None
        if self.p_value is None:
            return max(self.statistic, 0.0)
        if self.p_value > 0 or not self.df:
            return -math.log2(self.p_value)
        import numpy as np

        from komb.engine.measurement import log2_tails

        return -float(log2_tails(np.array([self.statistic]), np.array([self.df]))[0])


@dataclass(frozen=True, slots=True)
class Remarks(Record):
    """What a search says about itself and the data, with names for columns.

    Attributes
    ----------
    equivalents
        For a member, other sets of columns that could replace it.
    leaks
        Columns that alone determine the target, or nearly do.
    sight
        For each order that was searched, the weakest dependence that could be found.
    omissions
        What was left out, and what it would have cost.

    Examples
    --------
    >>> remarks = Remarks({"age": (("born",), ("year", "month"))})
    >>> remarks.equivalents["age"]
    (('born',), ('year', 'month'))
    >>> Remarks.from_dict(remarks.to_dict()) == remarks
    True
    """

    equivalents: Mapping[Name, tuple[tuple[Name, ...], ...]] = field(
        default_factory=dict, hash=False
    )
    leaks: tuple[Leak, ...] = ()
    sight: tuple[Sight, ...] = ()
    omissions: tuple[Omission, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "equivalents", FrozenMapping(self.equivalents))
        object.__setattr__(self, "omissions", tuple(map(omission_in_words, self.omissions)))


class ColumnTypes(FrozenMapping[Name, ColumnType]):
    """The type of each column.

    Examples
    --------
    >>> print(ColumnTypes({"age": ColumnType("continuous", "ranks", missing=3)}))
    1 column
    <BLANKLINE>
      column  type        treatment  missing  why
      age     continuous  ranks            3
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return types_sheet(self).to_text()

    def _repr_html_(self) -> str:
        return types_sheet(self).to_html()

    def __reduce__(self) -> tuple[Any, ...]:
        return ColumnTypes, (dict(self),)
