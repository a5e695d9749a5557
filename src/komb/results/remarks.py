"""What a search has to say besides the members: shown, written and read.

>>> from komb.search.task import Leak
>>> remarks = Remarks(leaks=(Leak("bwt", 1.0),))
>>> print(*remarks.warnings("low"))
Possible leak: 'bwt' determines 'low' completely. Leave it out (exclude=['bwt']) if it is not ...
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from komb.data.frozen_mapping import FrozenMapping
from komb.search.task import Leak, Omission, Sight
from komb.views.text import Grid, plural, show_names, show_p_value, show_seconds

Name: TypeAlias = Hashable

_NAMES_WIDTH = 60  # characters of a list of names
_SIGHT_HEADINGS = ("order>", "tests>", "p-value at most>", "weakest seen, bits per row>")


@dataclass(frozen=True, slots=True)
class Remarks:
    """What a search says about itself and the data, with names for columns.

    Attributes
    ----------
    equivalents
        For a member, other sets of columns that could stand in its place.
    leaks
        Columns that alone determine the target, or nearly do.
    sight
        For each order that was looked at, what could be seen.
    omissions
        What was left out, and what it would have cost.

    Examples
    --------
    >>> remarks = Remarks({"age": (("born",), ("year", "month"))})
    >>> remarks.equivalents["age"]
    (('born',), ('year', 'month'))
    >>> Remarks.from_records(remarks.to_records()) == remarks
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

    def warnings(self, target: Name) -> Iterator[str]:
        """Say what a reader must know before anything else: leaks first, then omissions.

        Examples
        --------
        >>> left_out = Omission(2, 1_000_000, 75.0, "the time budget of 10 s is spent")
        >>> list(Remarks(omissions=(left_out,)).warnings("low"))
        ['Not looked at: order 2, the time budget of 10 s is spent (1,000,000 tests, about 75 s).']
        """
        for leak in self.leaks:
            how = (
                f"determines {target!r} completely"
                if leak.share >= 1
                else f"explains {_percent(leak.share)} of the entropy of {target!r}"
            )
            yield (
                f"Possible leak: {leak.column!r} {how}. Leave it out (exclude=[{leak.column!r}]) "
                f"if it is not known before {target!r}."
            )
        for left_out in self.omissions:
            cost = f"{plural(left_out.n_tests, 'test')}, about {show_seconds(left_out.seconds)}"
            yield f"Not looked at: order {left_out.order}, {left_out.reason} ({cost})."

    def alternatives(self, member: Name) -> Iterator[str]:
        """Name what could stand in the place of a member, a line each.

        Examples
        --------
        >>> list(Remarks({"age": (("born",), ("year", "month"))}).alternatives("age"))
        ['or: born', 'or: year, month']
        """
        for names in self.equivalents.get(member, ()):
            yield f"or: {show_names(names, _NAMES_WIDTH)}"

    def grids(self) -> tuple[Grid, ...]:
        """Show what could be seen, a line per order; nothing if the search does not say.

        Examples
        --------
        >>> Remarks(sight=(Sight(1, 90, 0.00056, 0.0312),)).grids()[0].rows
        (('1', '90', '0.00056', '0.031'),)
        """
        rows = tuple(
            (
                str(seen.order),
                f"{seen.n_tests:,}",
                show_p_value(seen.threshold),
                f"{seen.effect:.2g}",
            )
            for seen in self.sight
        )
        return (Grid(_SIGHT_HEADINGS, rows),) if rows else ()

    def notes(self) -> Iterator[str]:
        """Say what the numbers of :meth:`grids` mean."""
        if self.sight:
            yield (
                "Weakest seen: a dependence of so many bits of information per row is found with "
                "80 % power at this order; weaker ones may be missed."
            )

    def to_records(self) -> dict[str, Any]:
        """Return everything as dictionaries and lists.

        Examples
        --------
        >>> Remarks({"age": (("born",),)}).to_records()["equivalents"]
        [{'column': 'age', 'value': [['born']]}]
        """
        return {
            "equivalents": [
                {"column": member, "value": [list(names) for names in sets]}
                for member, sets in self.equivalents.items()
            ],
            "leaks": [asdict(leak) for leak in self.leaks],
            "sight": [asdict(seen) for seen in self.sight],
            "omissions": [asdict(left_out) for left_out in self.omissions],
        }

    @classmethod
    def from_records(cls, record: Mapping[str, Any]) -> Remarks:
        """Rebuild remarks from :meth:`to_records`; what is not there is empty.

        Examples
        --------
        >>> Remarks.from_records({"leaks": [{"column": "bwt", "share": 1.0}]}).leaks
        (Leak(column='bwt', share=1.0),)
        """
        return cls(
            equivalents={
                entry["column"]: tuple(tuple(names) for names in entry["value"])
                for entry in record.get("equivalents", ())
            },
            leaks=tuple(Leak(**entry) for entry in record.get("leaks", ())),
            sight=tuple(Sight(**entry) for entry in record.get("sight", ())),
            omissions=tuple(Omission(**entry) for entry in record.get("omissions", ())),
        )


def _percent(share: float) -> str:
    """Show a share below 1 so that it is not taken for all.

    Examples
    --------
    >>> _percent(0.973), _percent(0.9999)
    ('97 %', '99.9 %')
    """
    return f"{100 * share:.0f} %" if share < 0.985 else f"{min(100 * share, 99.9):.1f} %"
