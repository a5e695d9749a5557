"""Several methods, or a grid of bounds, on one table: who finds what, at what cost, how accurate.

>>> import komb
>>> table = komb.boolean_table("parity", 500, n_parents=2)
>>> comparison = komb.compare(table, "Y", truth=["X1", "X2"])
>>> comparison.scores["komb"].f1
1.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from komb.api.opening import find_columns
from komb.api.options import COLUMN_LISTS, PAPER_TEST, Search, check_absent, check_known
from komb.api.oracle import find_oracle
from komb.api.progress import Observer, Reporter, unfinished
from komb.api.run import Run
from komb.citests.option import check_bound
from komb.data.checks import check_count, check_progress
from komb.data.models.bayesian_network import DiscreteNetwork, graph_blanket
from komb.data.models.markov_field import MarkovField
from komb.data.names import Name, list_names
from komb.errors import Argument, Interrupted, ParameterError, Text, UnknownNameError
from komb.results.blanket import Blanket
from komb.results.comparison import BlanketPath, Cell, Comparison
from komb.search import algorithms
from komb.search.options import ORDER
from komb.search.registry import declared_options
from komb.views.text import plural

if TYPE_CHECKING:
    import networkx as nx


def compare(
    data: object,
    target: Name,
    *,
    methods: Iterable[str] | None = None,
    truth: object = None,
    progress: Observer | None = None,
    **search: Any,
) -> Comparison:
    """Find the Markov blanket of a column with several methods.

    The table is read once, and every method starts from nothing, so that tests and times can be
    compared.

    Parameters
    ----------
    data, target
        As in :func:`komb.markov_blanket`.
    methods
        Names of algorithms; all of :func:`komb.algorithms` if left out.
    truth
        The true blanket, if it is known: the names of its columns, or a
        :class:`komb.DiscreteNetwork`, :class:`komb.MarkovField` or ``networkx.DiGraph`` in which
        the target has one.
    progress
        Called now and then with a :class:`komb.api.progress.Progress`, in which the phase starts
        with the name of the method, and position and number of targets count methods.
    **search
        The other keywords of :func:`komb.markov_blanket`, but for ``method``, ``n_jobs`` and
        ``resume``; each method gets those that it takes. Where ``alpha`` is left out, each method
        runs as it does by itself: ``"auto"`` chooses it, and 0.01 holds for the others.

    Returns
    -------
    Comparison
        The blanket that each method found, and scores if the truth is known.

    Raises
    ------
    komb.errors.InputError
        If anything passed in cannot be used; nothing has been counted then.
    komb.errors.Interrupted
        If it is interrupted; ``finished`` holds the :class:`Comparison` of the methods that are
        complete.

    See Also
    --------
    markov_blanket : The blanket by one method, with the evidence for each member.
    blanket_path : The blankets by method ``"komb"`` for several orders.

    Examples
    --------
    >>> import komb
    >>> table = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=1)
    >>> comparison = compare(table, "Y", methods=["iamb", "komb"], truth=["X1", "X2"])
    >>> {method: blanket.members for method, blanket in comparison.blankets.items()}
    {'iamb': (), 'komb': ('X1', 'X2')}
    >>> comparison.scores["iamb"].f1, comparison.scores["komb"].f1
    (0.0, 1.0)
    """
    check_progress(progress)
    listed = list_methods(methods)
    if not listed:
        remedy = "Leave it out for all of them."
        raise ParameterError.because("methods", "name at least one method", [], remedy)
    searches = plan_searches(listed, search)
    first, [position] = Run.open(data, [target], next(iter(searches.values())))
    runs = {name: first.with_search(own) for name, own in searches.items()}
    true = None if truth is None else _true_blanket(truth, target, first)
    return _run_all(runs, position, true, progress)


def plan_searches(methods: list[str], search: Mapping[str, Any]) -> dict[str, Search]:
    """Give each method the options that it takes; one that none of them takes is an error."""
    check_absent(search, {"method": ("Name methods with ", Argument("methods", [*methods]), ".")})
    lists = {name: list_names(name, search[name]) for name in COLUMN_LISTS if name in search}
    search = {**search, **lists}  # whatever can be read only once is read here
    test = search.get("test", "auto")
    others = {name for info in algorithms().values() for name in info.defaults}
    taken = {method: declared_options(method, test) for method in methods}
    for name in others & search.keys():
        if search[name] is not None and not any(name in own for own in taken.values()):
            rule = "be left out: none of the methods takes it"
            remedy = f"These are compared: {', '.join(methods)}."
            raise ParameterError.because(name, rule, search[name], remedy)
    return {
        method: Search.of(
            method=method,
            **{key: value for key, value in search.items() if key not in others or key in own},
        )
        for method, own in taken.items()
    }


def _run_all(
    runs: Mapping[str, Run], target: int, truth: tuple[Name, ...] | None, progress: Observer | None
) -> Comparison:
    """Let one method after the other search."""
    finished: dict[str, Blanket] = {}
    reporter = Reporter(progress, n_targets=len(runs))
    names = next(iter(runs.values())).names

    def gather() -> Comparison:
        involved = {*chain.from_iterable(finished.values()), *(truth or ())}
        members = tuple(name for name in names if name in involved)
        return Comparison(names[target], finished, members, truth)

    try:
        for number, (method, run) in enumerate(runs.items()):
            finished[method] = run.find(target, reporter.at(number, method))
    except KeyboardInterrupt:
        total = plural(len(runs), "method")
        message = unfinished("Interrupted", len(finished), total, "comparison")
        raise Interrupted(message, gather()) from None
    return gather()


def list_methods(methods: Iterable[str] | None) -> list[str]:
    """Return the names of methods, each once; of all if nothing is said."""
    if methods is None:
        return list(algorithms())
    if isinstance(methods, str | bytes) or not isinstance(methods, Iterable):
        example = "Pass a list of names: ", Argument("methods", [methods]), "."
        raise ParameterError.because("methods", "be a list of methods", methods, example)
    names: list[str] = []
    for name in methods:
        check_known("method", name, algorithms(), "methods")
        if name in names:
            remedy = "Leave out all but one of them."
            raise ParameterError.because("methods", "name each method once", name, remedy)
        names.append(name)
    return names


def _true_blanket(truth: object, target: Name, run: Run) -> tuple[Name, ...]:
    """Return the true members in the order of the table."""
    names = _names_in(truth, target)
    for name in names:
        if name in run.search.exclude:
            remedy = "Without it the true blanket is another: pass the names of its columns."
            raise ParameterError.because("truth", "name no excluded column", name, remedy)
    positions = find_columns("truth", names, run.data)
    if run.data.index(target) in positions:
        remedy = "Take it out: a column is never in its own blanket."
        raise ParameterError.because("truth", "not name the target", target, remedy)
    return run.named(positions)


def _names_in(truth: Any, target: Any) -> list[Name]:
    try:
        if isinstance(truth, DiscreteNetwork | MarkovField):
            return list(truth.blanket(target))
        if hasattr(truth, "is_directed"):  # of networkx, which need not be loaded to see that
            return _graph_blanket(truth, target)
    except UnknownNameError as error:
        raise error.concerning("truth") from None
    return list_names("truth", truth)


def _graph_blanket(graph: nx.DiGraph, target: Name) -> list[Name]:
    """Check that a graph has a blanket of the target, and return it."""
    if not graph.is_directed():
        remedy = "For an undirected one pass the neighbours of the target: truth=graph[target]."
        raise ParameterError.because("truth", "be a directed graph", graph, remedy)
    if target not in graph:
        raise UnknownNameError.among("node", target, graph)
    return list(graph_blanket(graph, target))


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
        message = unfinished("Interrupted", len(finished), plural(len(cells), "cell"))
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
