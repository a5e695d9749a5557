"""Blankets of one target over a grid of orders and separator bounds, work shared between them.

>>> import komb
>>> path = komb.blanket_path(komb.boolean_table("parity", 500, n_parents=2), "Y", orders=[0, 1])
>>> {cell: blanket.members for cell, blanket in path.items() if cell[1] == 1}
{(0, 1): (), (1, 1): ('X1', 'X2')}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Unpack

from komb.api.keywords import complete, takes_options
from komb.api.options import (
    DEFAULTS,
    FIXED_ALPHA,
    PAPER_TEST,
    CommonKeywords,
    SearchOptions,
    check_bound,
)
from komb.api.preparation import Prepared, prepare
from komb.api.progress import Observer, check_progress
from komb.api.run import Run
from komb.api.settings import check_order
from komb.data.checks import check_count
from komb.data.encode.codes import Name
from komb.errors import Argument, InPython, Interrupted, ParameterError
from komb.results.blanket import Blanket
from komb.results.path import BlanketPath, Cell
from komb.sessions.session import Session
from komb.views.text import plural

_HIGHEST_ORDER = 3  # of the default grid, which is the paper's


@takes_options(
    *(name for name in DEFAULTS if name in CommonKeywords.__annotations__),
    alpha=FIXED_ALPHA,
    test=PAPER_TEST,
)
def blanket_path(
    data: object,
    target: Name,
    *,
    orders: Iterable[int] | None = None,
    max_separators: Iterable[int] = range(1, 4),
    progress: Observer | None = None,
    **keywords: Unpack[CommonKeywords],
) -> BlanketPath:
    """Find the kOMB blanket of a column for several orders and separator bounds.

    No test is computed twice, so the whole grid takes little longer than its largest cells; the
    blankets are those of separate runs. The options are those of :func:`komb.markov_blanket`, which
    says more about them.

    Parameters
    ----------
    data, target
        As in :func:`komb.markov_blanket`.
    orders
        Orders to try; if left out, 0 to 3, or as far as the number of columns allows.
    max_separators
        Bounds on separators to try with each order.
    progress
        Called now and then with a :class:`komb.api.progress.Progress`, in which position and number
        of targets count cells of the grid.
    **keywords

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
    check_progress(progress)
    grid = open_path(
        data,
        target,
        orders=orders,
        max_separators=max_separators,
        **complete(blanket_path, keywords),
    )
    finished: dict[Cell, Blanket] = {}
    try:
        for number, cell in enumerate(grid.cells):
            finished[cell] = grid.find(cell, progress, number)
    except KeyboardInterrupt:
        message = (
            f"Interrupted after {len(finished)} of {plural(len(grid.cells), 'cell')}",
            InPython("; 'finished' holds their blankets"),
            ".",
        )
        raise Interrupted(message, grid.gather(finished)) from None
    return grid.gather(finished)


def open_path(
    data: object,
    target: Name,
    *,
    orders: Iterable[int] | None,
    max_separators: Iterable[int],
    session: Session | None = None,
    **keywords: Unpack[CommonKeywords],
) -> Grid:
    """Check everything; parameters are those of :func:`blanket_path`.

    Grids that differ in where they start may share the ``session`` of the first.
    """
    prepared = prepare(data, [target], SearchOptions(method="komb", **keywords))
    table = prepared.table
    if orders is None:
        orders = range(max(1, min(_HIGHEST_ORDER, table.n_columns - 2)) + 1)
    cells = [
        (order, bound)
        for order in _check_axis(
            "orders", orders, lambda order: check_order(check_bound("order", order), table)
        )
        for bound in _check_axis("max_separators", max_separators, _check_bound)
    ]
    return Grid(prepared, cells, session)


def _check_bound(bound: object) -> int:
    return check_count("max_separators", bound)


def _check_axis(parameter: str, values: Iterable[int], check: Callable[[object], int]) -> list[int]:
    """Return the values of one axis of the grid in order, each once."""
    remedy = "Try ", Argument(parameter, [1, 2]), "."
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError.because(parameter, "be a list of whole numbers", values, remedy)
    checked = sorted({check(value) for value in values})
    if not checked:
        raise ParameterError.because(parameter, "have at least one value", [], remedy)
    return checked


class Grid:
    """Cells of a path and the session that all of them share."""

    def __init__(
        self, prepared: Prepared, cells: list[Cell], session: Session | None = None
    ) -> None:
        self.cells = cells
        self.session = session or Run(prepared.table, prepared.settings).open_session()
        self._table = prepared.table
        self._settings = prepared.settings
        self._target = prepared.targets[0]

    def find(self, cell: Cell, progress: Observer | None = None, number: int = 0) -> Blanket:
        """Find the blanket of one cell, with what other cells have left to do."""
        order, bound = cell
        settings = replace(self._settings, options={"order": order, "max_separator": bound})
        run = Run(self._table, settings, progress, len(self.cells))
        return run.find(self._target, number, self.session)

    def gather(self, finished: Mapping[Cell, Blanket]) -> BlanketPath:
        """Make a path of the cells that are complete."""
        found = {name for blanket in finished.values() for name in blanket}
        members = tuple(name for name in self._table.names if name in found)
        return BlanketPath(self._table.names[self._target], dict(finished), members)
