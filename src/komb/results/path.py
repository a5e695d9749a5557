"""The blankets of one target over a grid of orders and separator bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from komb.data.names import Name
from komb.results.blanket import Blanket
from komb.results.comparison import Comparison
from komb.results.export import Drawn
from komb.views.comparison_text import comparison_sheet
from komb.views.text import Sheet, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
