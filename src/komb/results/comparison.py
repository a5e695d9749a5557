"""What several methods, or a grid of bounds, found for one target, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from komb.data.names import FrozenMapping, Name
from komb.results.blanket import Blanket
from komb.results.export import Drawn, columns_of
from komb.results.record import Record
from komb.views.comparison_text import comparison_sheet
from komb.views.text import Mark, Sheet, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Score(NamedTuple):
    """How near a found blanket is to the true one.

    Attributes
    ----------
    precision
        Share of the found members that are true.
    recall
        Share of the true members that were found.
    f1
        Harmonic mean of the two.

    Notes
    -----
    A share of nothing is 1 if both blankets are empty, and 0 if only one of them is. So F1 is 1 for
    an empty blanket that was rightly found empty, and 0 whenever no true member was found.

    Examples
    --------
    >>> Score.of(found=["a", "b"], true=["b", "c", "d", "e"])
    Score(precision=0.5, recall=0.25, f1=0.3333333333333333)
    >>> Score.of(found=[], true=[])
    Score(precision=1.0, recall=1.0, f1=1.0)
    """

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, found: Iterable[Name], true: Iterable[Name]) -> Score:
        """Compare two sets of names.

        Examples
        --------
        >>> Score.of(found=[], true=["a"])
        Score(precision=0.0, recall=0.0, f1=0.0)
        """
        ours, theirs = set(found), set(true)
        if ours == theirs:  # both may be empty
            return cls(1.0, 1.0, 1.0)
        hits = len(ours & theirs)
        return cls(
            precision=hits / max(len(ours), 1),
            recall=hits / max(len(theirs), 1),
            f1=2 * hits / (len(ours) + len(theirs)),
        )


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Record, Drawn):
    """The blankets that several methods found for one target.

    Attributes
    ----------
    target
        Whose blanket it is.
    blankets
        What each method found: a read-only mapping from label to :class:`Blanket`.
    members
        Every column that a method found or that is true, in the order of the table.
    truth
        The true blanket, in the order of the table; ``None`` if it is not known.

    Examples
    --------
    >>> import komb
    >>> table = komb.boolean_table("parity", 500, n_parents=2)
    >>> comparison = komb.compare(table, "Y", methods=["iamb", "komb"], truth=["X1", "X2"])
    >>> comparison
    Comparison('Y': 2 methods)
    >>> comparison.blankets["iamb"].members, comparison.members
    ((), ('X1', 'X2'))
    >>> comparison.mark("iamb", "X1"), comparison.mark("komb", "X1")
    ('missed', 'hit')

    Notes
    -----
    ``to_frame`` has a row per method, with columns ``label``, ``method``, ``members`` (a list),
    ``size``, ``tests``, ``unreliable``, ``seconds``, ``precision``, ``recall`` and ``f1``; the last
    three are null where the truth is not known. ``from_dict`` computes the scores anew. In the
    picture true members have their names in bold.
    """

    target: Name
    blankets: Mapping[str, Blanket] = field(hash=False)
    members: tuple[Name, ...]
    truth: tuple[Name, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "blankets", FrozenMapping(self.blankets))

    @property
    def scores(self) -> dict[str, Score] | None:
        """How near each method came to the truth, by label; ``None`` if that is not known."""
        if self.truth is None:
            return None
        return {label: Score.of(found, self.truth) for label, found in self.blankets.items()}

    @property
    def library(self) -> str | None:
        """The dataframe library that the user came with; ``None`` if that was none."""
        return next((blanket.library for blanket in self.blankets.values()), None)

    @property
    def seconds(self) -> float:
        """Time of all searches together."""
        return sum(blanket.seconds for blanket in self.blankets.values())

    def __repr__(self) -> str:
        return f"Comparison({self.target!r}: {plural(len(self.blankets), 'method')})"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries and lists, names as they are in the table.

        Examples
        --------
        >>> import komb
        >>> table = komb.boolean_table("and", 500, n_parents=2)
        >>> comparison = komb.compare(table, "Y", methods=["komb"], truth=["X1", "X2"])
        >>> record = comparison.to_dict()
        >>> record["members"], record["scores"]["komb"]["f1"], list(record["blankets"])
        (['X1', 'X2'], 1.0, ['komb'])
        >>> Comparison.from_dict(record) == comparison
        True
        """
        record, scores = Record.to_dict(self), self.scores
        blankets = record.pop("blankets")
        record["scores"] = scores and {label: score._asdict() for label, score in scores.items()}
        return record | {"blankets": blankets}

    def _draw(self, ax: Axes | None) -> Axes:
        from komb.views.pictures.matrix import plot_comparison

        return plot_comparison(self, ax)

    def mark(self, label: str, member: Name) -> Mark:
        """Say whether a method found a column, and whether the truth agrees."""
        is_found = member in self.blankets[label]
        if self.truth is None:
            return "found" if is_found else "absent"
        if member in self.truth:
            return "hit" if is_found else "missed"
        return "extra" if is_found else "absent"

    def _sheet(self) -> Sheet:
        return comparison_sheet(self)

    def _columns(self) -> dict[str, list[Any]]:
        blankets = list(self.blankets.values())
        scores = None if self.scores is None else list(self.scores.values())
        unknown = {key: [None] * len(blankets) for key in Score._fields}
        return {
            "label": list(self.blankets),
            "method": [blanket.method for blanket in blankets],
            "members": [blanket.members for blanket in blankets],
            "size": [len(blanket) for blanket in blankets],
            **columns_of(blankets, ("tests", "unreliable", "seconds")),
            **(unknown if scores is None else columns_of(scores, Score._fields)),
        }


Cell: TypeAlias = tuple[int, int]  # order, max_separator


@dataclass(frozen=True, slots=True, repr=False)
class BlanketPath(Drawn, Mapping[Cell, Blanket]):
    """The blankets of one target: a mapping from (order, max_separator) to :class:`Blanket`.

    Attributes
    ----------
    target
        Whose blankets they are.
    cells
        The blankets by cell, in the order of the search.
    members
        Every column that is in one of them, in the order of the table.

    Examples
    --------
    >>> import komb
    >>> path = komb.blanket_path(komb.boolean_table("parity", 500, n_parents=2), "Y", orders=[0, 1])
    >>> path
    BlanketPath('Y': 6 cells)
    >>> path[1, 2].members
    ('X1', 'X2')

    Notes
    -----
    ``to_frame`` has a row per cell, with the columns of :meth:`Comparison.to_frame`.
    """

    target: Name
    cells: Mapping[Cell, Blanket]
    members: tuple[Name, ...]

    def __getitem__(self, cell: Cell) -> Blanket:
        return self.cells[cell]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def library(self) -> str | None:
        """The dataframe library that the user came with; ``None`` if that was none."""
        return self.compare().library

    def __repr__(self) -> str:
        return f"BlanketPath({self.target!r}: {plural(len(self), 'cell')})"

    def compare(self, truth: Iterable[Name] | None = None) -> Comparison:
        """Put the cells side by side, with scores if the true blanket is known.

        Examples
        --------
        >>> import komb
        >>> path = komb.blanket_path(komb.boolean_table("and", 500, n_parents=2), "Y", orders=[1])
        >>> path.compare(["X1", "X2"]).scores["k=1 l=1"].f1
        1.0
        """
        known = None if truth is None else tuple(truth)
        return Comparison(
            target=self.target,
            blankets={f"k={order} l={bound}": found for (order, bound), found in self.items()},
            members=tuple(dict.fromkeys([*self.members, *(known or ())])),
            truth=known,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries and lists, as :meth:`Comparison.to_dict` does."""
        return self.compare().to_dict()

    def _columns(self) -> dict[str, list[Any]]:
        return self.compare()._columns()

    def _sheet(self) -> Sheet:
        return comparison_sheet(self.compare())

    def _draw(self, ax: Axes | None) -> Axes:
        return self.compare().plot(ax)
