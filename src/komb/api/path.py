"""Blankets of one target over a grid of orders and separator bounds, work shared between them.

>>> import komb
>>> path = komb.blanket_path(komb.boolean_table("parity", 500, n_parents=2), "Y", orders=[0, 1])
>>> {cell: blanket.members for cell, blanket in path.items() if cell[1] == 1}
{(0, 1): (), (1, 1): ('X1', 'X2')}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, overload

from komb.api.find import Progress, Run, check_progress
from komb.api.settings import Settings, check_exclude, check_order, check_settings, check_table
from komb.api.settings import check_target as check_target_position
from komb.data import defaults
from komb.data.checks import check_count
from komb.data.encode.codes import Name
from komb.data.encode.treatment import Bins, Discretize
from komb.data.table import DiscreteTable
from komb.errors import Interrupted, ParameterError
from komb.results.blanket import Blanket
from komb.results.comparison import Comparison
from komb.results.dataframe import Backend
from komb.sessions.data import DataSession
from komb.views.text import plural

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes
    from rich.console import RenderableType

Cell = tuple[int, int]  # order, max_separator

_HIGHEST_ORDER = 3  # of the default grid, which is the paper's


def blanket_path(
    data: object,
    target: Name,
    *,
    orders: Iterable[int] | None = None,
    max_separators: Iterable[int] = range(1, 4),
    alpha: float = defaults.FIXED_ALPHA,
    test: str = defaults.PAPER_TEST,
    df: str = defaults.DF,
    start: Iterable[Name] | str = (),
    include: Iterable[Name] = (),
    exclude: Iterable[Name] = (),
    discretize: Discretize = None,
    bins: Bins = defaults.BINS,
    missing: str = defaults.MISSING,
    seed: int = defaults.SEED,
    progress: Callable[[Progress], None] | None = None,
) -> BlanketPath:
    """Find the kOMB blanket of a column for several orders and separator bounds.

    No test is computed twice, so the whole grid takes little longer than its largest cells; the
    blankets are those of separate runs.

    Parameters
    ----------
    data, target
        As in :func:`komb.markov_blanket`.
    orders
        Orders to try; if left out, 0 to 3, or as far as the number of columns allows.
    max_separators
        Bounds on separators to try with each order.
    alpha, test, df, start, include, exclude, discretize, bins, missing, seed
        As in :func:`komb.markov_blanket`.
    progress
        Called now and then with a :class:`komb.api.find.Progress`, in which position and number of
        targets count cells of the grid.

    Returns
    -------
    BlanketPath
        A mapping from (order, max_separator) to :class:`Blanket`, by growing order. Tests and
        seconds of a cell are those that the cells before it had left to do.

    Raises
    ------
    komb.errors.InputError
        If anything passed in cannot be used; nothing has been counted then.
    komb.errors.Interrupted
        If it is interrupted; ``finished`` holds the :class:`BlanketPath` of the cells that are
        complete.

    See Also
    --------
    markov_blanket : One blanket, with one order and one bound.

    Examples
    --------
    >>> import komb
    >>> table = komb.boolean_table("parity", 500, n_irrelevant=2)  # Y is the parity of X1, X2, X3
    >>> path = blanket_path(table, "Y", orders=range(3), max_separators=[1])
    >>> {order: blanket.members for (order, _), blanket in path.items()}
    {0: (), 1: (), 2: ('X1', 'X2', 'X3')}
    """
    grid = open_path(
        data, target, orders=orders, max_separators=max_separators, alpha=alpha, test=test, df=df,
        start=start, include=include, exclude=exclude, discretize=discretize, bins=bins,
        missing=missing, seed=seed,
    )  # fmt: skip
    observer = check_progress(progress)
    finished: dict[Cell, Blanket] = {}
    try:
        for number, cell in enumerate(grid.cells):
            finished[cell] = grid.find(cell, observer, number)
    except KeyboardInterrupt:
        message = (
            f"Interrupted after {len(finished)} of {plural(len(grid.cells), 'cell')}; "
            "'finished' holds their blankets."
        )
        raise Interrupted(message, grid.gather(finished)) from None
    return grid.gather(finished)


def open_path(
    data: object,
    target: Name,
    *,
    orders: Iterable[int] | None,
    max_separators: Iterable[int],
    alpha: float,
    test: str,
    df: str,
    start: Iterable[Name] | str,
    include: Iterable[Name],
    exclude: Iterable[Name],
    discretize: Discretize = None,
    bins: Bins = defaults.BINS,
    missing: str = defaults.MISSING,
    seed: int = defaults.SEED,
    session: DataSession | None = None,
) -> Grid:
    """Check everything; parameters are those of :func:`blanket_path`.

    Grids that differ in where they start may share the ``session`` of the first.
    """
    excluded = check_exclude(exclude, [target], start=start, include=include)
    table = DiscreteTable.from_data(
        data, exclude=excluded, discretize=discretize, bins=bins, missing=missing, target=target
    )
    check_table(table)
    settings = check_settings(
        table, method="komb", order=1, max_separator=1, alpha=alpha, test=test, df=df, start=start,
        include=include, exclude=excluded, discretize=discretize, bins=bins, missing=missing,
        seed=seed,
    )  # fmt: skip
    position = check_target_position(table, target, settings)
    if orders is None:
        orders = range(max(1, min(_HIGHEST_ORDER, table.n_columns - 2)) + 1)
    cells = [
        (order, bound)
        for order in _check_axis("orders", orders, lambda order: check_order(order, table))
        for bound in _check_axis("max_separators", max_separators, _check_bound)
    ]
    return Grid(table, settings, position, cells, session)


def _check_bound(bound: object) -> int:
    return check_count("max_separators", bound)


def _check_axis(parameter: str, values: Iterable[int], check: Callable[[object], int]) -> list[int]:
    """Return the values of one axis of the grid in order, each once."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        remedy = f"Try {parameter}=[1, 2]."
        raise ParameterError.because(parameter, "be a list of whole numbers", values, remedy)
    checked = sorted({check(value) for value in values})
    if not checked:
        remedy = f"Try {parameter}=[1, 2]."
        raise ParameterError.because(parameter, "have at least one value", [], remedy)
    return checked


class Grid:
    """Cells of a path and the session that all of them share."""

    def __init__(
        self,
        table: DiscreteTable,
        settings: Settings,
        target: int,
        cells: list[Cell],
        session: DataSession | None = None,
    ) -> None:
        self.cells = cells
        self.session = session or Run(table, settings, None, 1).open_session()
        self._table = table
        self._settings = settings
        self._target = target

    def find(
        self, cell: Cell, progress: Callable[[Progress], None] | None = None, number: int = 0
    ) -> Blanket:
        """Find the blanket of one cell, with what other cells have left to do."""
        order, bound = cell
        options = {"order": order, "max_separator": bound}
        settings = replace(self._settings, options=options)
        run = Run(self._table, settings, progress, len(self.cells))
        return run.find(self._target, number, self.session)

    def gather(self, finished: Mapping[Cell, Blanket]) -> BlanketPath:
        """Make a path of the cells that are complete."""
        found = {name for blanket in finished.values() for name in blanket}
        members = tuple(name for name in self._table.names if name in found)
        return BlanketPath(self._table.names[self._target], dict(finished), members)


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
