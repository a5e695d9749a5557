"""What a search has to say besides the members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from komb.data.frozen_mapping import FrozenMapping
from komb.data.names import Name
from komb.results.record import Record
from komb.search.task import Leak, Omission, Sight
from komb.views.choices_text import omission_in_words


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
