"""The blankets of one target over a grid of orders and separator bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from komb.data.encode.codes import Name
from komb.results.blanket import Blanket
from komb.results.comparison import Comparison
from komb.results.dataframe import Backend
from komb.views.text import plural

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes
    from rich.console import RenderableType

Cell: TypeAlias = tuple[int, int]  # order, max_separator


@dataclass(frozen=True, slots=True, repr=False)
class BlanketPath(Mapping[Cell, Blanket]):
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

    def __repr__(self) -> str:
        return f"BlanketPath({self.target!r}: {plural(len(self), 'cell')})"

    def __str__(self) -> str:
        return str(self.compare())

    def _repr_html_(self) -> str:
        return self.compare()._repr_html_()

    def __rich__(self) -> RenderableType:
        return self.compare().__rich__()

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
        """Return everything as dictionaries and lists, as :meth:`Comparison.to_dict` does.

        Examples
        --------
        >>> import komb
        >>> path = komb.blanket_path(komb.boolean_table("and", 500, n_parents=2), "Y", orders=[1])
        >>> list(path.to_dict()["blankets"])
        ['k=1 l=1', 'k=1 l=2', 'k=1 l=3']
        """
        return self.compare().to_dict()

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON.

        Examples
        --------
        >>> import komb
        >>> path = komb.blanket_path(komb.boolean_table("and", 500, n_parents=2), "Y", orders=[1])
        >>> path.to_json()[:14]
        '{"target": "Y"'
        """
        return self.compare().to_json(indent=indent)

    @overload
    def to_frame(self, backend: Literal["polars"] = ...) -> pl.DataFrame: ...

    @overload
    def to_frame(self, backend: Literal["pandas"]) -> pd.DataFrame: ...

    def to_frame(self, backend: Backend = "polars") -> pl.DataFrame | pd.DataFrame:
        """Return a dataframe with a row for each cell, as :meth:`Comparison.to_frame` does.

        Examples
        --------
        >>> import komb
        >>> path = komb.blanket_path(komb.boolean_table("and", 500, n_parents=2), "Y", orders=[1])
        >>> path.to_frame()["size"].to_list()
        [2, 2, 2]
        """
        return self.compare().to_frame(backend)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw which cell has which member, as :meth:`Comparison.plot` does.

        Examples
        --------
        >>> import komb
        >>> path = komb.blanket_path(komb.boolean_table("and", 500, n_parents=2), "Y", orders=[1])
        >>> path.plot().get_title(loc="left")
        'Markov blanket of Y'
        """
        return self.compare().plot(ax)
