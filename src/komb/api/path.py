"""Blankets of one target over a grid of orders and separator bounds, work shared between them.

>>> import komb
>>> path = komb.blanket_path(komb.boolean_table("parity", 500, n_parents=2), "Y", orders=[0, 1])
>>> {cell: blanket.members for cell, blanket in path.items() if cell[1] == 1}
{(0, 1): (), (1, 1): ('X1', 'X2')}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from komb.api.options import PAPER_TEST, Search, check_absent
from komb.api.oracle import find_oracle
from komb.api.progress import Observer, Reporter
from komb.api.run import Run
from komb.citests.option import check_bound
from komb.data.checks import check_count, check_progress
from komb.data.names import Name
from komb.errors import Argument, InPython, Interrupted, ParameterError, Text
from komb.results.blanket import Blanket
from komb.results.path import BlanketPath, Cell
from komb.search.options import ORDER
from komb.views.text import plural

_HIGHEST_ORDER = 3  # of the default grid, which is the paper's
_OTHERWISE: dict[str, Text] = {
    "method": "A path is always of method 'komb'.",
    "order": ("List several: ", Argument("orders", [1, 2]), "."),
    "max_separator": ("List several: ", Argument("max_separators", [1, 2]), "."),
}


def blanket_path(
    data: object,
    target: Name,
    *,
    orders: Iterable[int] | None = None,
    max_separators: Iterable[int] = range(1, 4),
    progress: Observer | None = None,
    **search: Any,
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
    progress
        Called now and then with a :class:`komb.api.progress.Progress`, in which position and number
        of targets count cells of the grid.
    **search
        The other keywords of :func:`komb.markov_blanket`, but for ``method``, ``order``,
        ``max_separator``, ``n_jobs`` and ``resume``. The test is ``"g-sci"``, that of the paper, if
        left out.

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
    check_absent(search, _OTHERWISE)
    if find_oracle(data) is None:
        search.setdefault("test", PAPER_TEST)
    run, [position] = Run.open(data, [target], Search.of(method="komb", **search))
    cells = _check_grid(run, orders, max_separators)
    engine = run.open_engine()
    reporter = Reporter(progress, n_targets=len(cells))
    finished: dict[Cell, Blanket] = {}
    try:
        for number, cell in enumerate(cells):
            finished[cell] = _at(run, cell).find(position, reporter.at(number), engine)
    except KeyboardInterrupt:
        message = (
            f"Interrupted after {len(finished)} of {plural(len(cells), 'cell')}",
            InPython("; 'finished' holds their blankets"),
            ".",
        )
        raise Interrupted(message, _gather(run, position, finished)) from None
    return _gather(run, position, finished)


def _at(run: Run, cell: Cell) -> Run:
    """Return the run of one cell."""
    bounds = dict(zip(("order", "max_separator"), cell, strict=True))
    options = {**run.search.options, **bounds}
    return replace(run, search=replace(run.search, options=options))


def _gather(run: Run, target: int, finished: dict[Cell, Blanket]) -> BlanketPath:
    found = {name for blanket in finished.values() for name in blanket}
    members = tuple(name for name in run.names if name in found)
    return BlanketPath(run.names[target], finished, members)


def _check_grid(
    run: Run, orders: Iterable[int] | None, max_separators: Iterable[int]
) -> list[Cell]:
    n_columns = run.data.n_columns

    def check_order(order: object) -> int:
        ORDER.check_fit(checked := check_bound("order", order), n_columns)
        return checked

    if orders is None:
        orders = range(max(1, min(_HIGHEST_ORDER, n_columns - 2)) + 1)
    return [
        (order, bound)
        for order in _check_axis("orders", orders, check_order)
        for bound in _check_axis("max_separators", max_separators, _check_separator)
    ]


def _check_separator(bound: object) -> int:
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
