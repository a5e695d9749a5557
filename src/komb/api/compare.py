"""Several methods on one table: who finds what, at what cost, and how accurate it is.

>>> import komb
>>> table = komb.boolean_table("parity", 500, n_parents=2)
>>> comparison = komb.compare(table, "Y", truth=["X1", "X2"])
>>> comparison.scores["komb"].f1
1.0
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Unpack

from komb.api.keywords import complete, takes_options
from komb.api.options import (
    DEFAULTS,
    FIXED_ALPHA,
    METHOD_OPTIONS,
    MethodKeywords,
    SearchOptions,
    check_known,
    list_names,
)
from komb.api.preparation import Prepared, encode, prepare_table
from komb.api.progress import Observer, Progress, check_progress
from komb.api.run import Run
from komb.api.settings import check_columns
from komb.data.arrange.arrangement import Arranged
from komb.data.encode.codes import Name
from komb.data.models.bayesian_network import DiscreteNetwork, graph_blanket
from komb.data.models.markov_field import MarkovField
from komb.data.table import DiscreteTable
from komb.errors import (
    Argument,
    InputError,
    InPython,
    Interrupted,
    ParameterError,
    UnknownNameError,
)
from komb.results.blanket import Blanket
from komb.results.comparison import Comparison
from komb.search import algorithms
from komb.views.text import plural

if TYPE_CHECKING:
    import networkx as nx

Methods = Iterable[str] | Mapping[str, Mapping[str, Any]]

_FOR_ALL = (  # one table for all
    "exclude", "given", "groups", "weights", "types", "discretize", "bins", "missing", "na_values",
)  # fmt: skip
_ROW_OPTIONS = [name for name in DEFAULTS if name not in _FOR_ALL]


@takes_options(
    *(name for name in DEFAULTS if name not in ("method", "stability")),
    also={
        "alpha": "The same for all methods, auto included, so that none has an advantage. None "
        "leaves it to each of them."
    },
    alpha=FIXED_ALPHA,
)
def compare(
    data: object,
    target: Name,
    *,
    methods: Methods | None = None,
    truth: object = None,
    progress: Observer | None = None,
    **keywords: Unpack[MethodKeywords],
) -> Comparison:
    """Find the Markov blanket of a column with several methods.

    The table is encoded once, and every method starts from nothing, so that tests and times can be
    compared. The options are those of :func:`komb.markov_blanket`, which says more about them; each
    method gets those that it takes.

    Parameters
    ----------
    data, target
        As in :func:`komb.markov_blanket`.
    methods
        Names of algorithms; all of :func:`komb.algorithms` if left out. Or a mapping from labels to
        options, such as ``{"k=1": {"method": "komb", "order": 1}, "pcmb": {}}``, which take the
        place of those below (``exclude``, ``discretize``, ``bins`` and ``missing`` are for all). A
        label that names an algorithm need not say ``method``.
    truth
        The true blanket, if it is known: the names of its columns, or a
        :class:`komb.DiscreteNetwork`, :class:`komb.MarkovField` or ``networkx.DiGraph`` in which
        the target has one.
    progress
        Called now and then with a :class:`komb.api.progress.Progress`, in which the phase starts
        with the label of the method, and position and number of targets count methods.
    **keywords

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

    Examples
    --------
    >>> import komb
    >>> table = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=1)
    >>> rows = {"k=0": {"method": "komb", "order": 0}, "k=1": {"method": "komb", "order": 1}}
    >>> comparison = compare(table, "Y", methods=rows, truth=["X1", "X2"])
    >>> {label: blanket.members for label, blanket in comparison.blankets.items()}
    {'k=0': (), 'k=1': ('X1', 'X2')}
    >>> comparison.scores["k=0"].f1, comparison.scores["k=1"].f1
    (0.0, 1.0)
    """
    check_progress(progress)
    rows = _plan(methods, _keep_all(complete(compare, keywords)))
    arranged = encode(data, [target], rows[0].options)
    prepared = {row.label: row.prepare(arranged, target) for row in rows}
    excluded = rows[0].options.exclude
    true = None if truth is None else _true_blanket(truth, target, arranged.table, excluded)
    return _Contest(prepared, true).run(progress)


@dataclass(frozen=True, slots=True)
class _Row:
    """One method, and what to run it with."""

    label: str
    options: SearchOptions
    own: frozenset[str]  # which of the options are for this row alone

    @classmethod
    def make(cls, label: str, common: Mapping[str, Any], own: Mapping[str, Any]) -> _Row:
        """Give a method its own options, and of the common ones those that it takes."""
        names = frozenset(own) - {"method"}
        with _naming(label, names):
            taken = _options_of(own["method"], own.get("start", common["start"]))
            fitting = {
                key: value
                for key, value in common.items()
                if key in taken or key not in METHOD_OPTIONS
            }
            return cls(label, SearchOptions(**{**fitting, **own}), names)

    def prepare(self, arranged: Arranged, target: Name) -> Prepared:
        """Check everything, so that nothing has been searched when a row is refused."""
        with _naming(self.label, self.own):
            return prepare_table(arranged, [target], self.options)


@contextmanager
def _naming(label: str, own: frozenset[str]) -> Iterator[None]:
    """Have errors that speak of a row's own options say which row that is."""
    try:
        yield
    except InputError as error:
        if own.isdisjoint(error.parameters):
            raise
        raise error.within(f"methods[{label!r}]") from None


class _Contest:
    """Methods that try, each with its settings, on one table for one target."""

    def __init__(self, rows: Mapping[str, Prepared], truth: tuple[Name, ...] | None) -> None:
        first = next(iter(rows.values()))
        self._rows = rows
        self._table = first.table
        self._target = first.targets[0]
        self._truth = truth

    def run(self, progress: Observer | None) -> Comparison:
        """Let one method after the other search."""
        finished: dict[str, Blanket] = {}
        n_rows = len(self._rows)
        try:
            for number, (label, row) in enumerate(self._rows.items()):
                observer = _for_row(progress, label, number, n_rows)
                finished[label] = Run(row.table, row.settings, observer).find(self._target)
        except KeyboardInterrupt:
            message = (
                f"Interrupted after {len(finished)} of {plural(n_rows, 'method')}",
                InPython("; 'finished' holds their comparison"),
                ".",
            )
            raise Interrupted(message, self._gather(finished)) from None
        return self._gather(finished)

    def _gather(self, blankets: dict[str, Blanket]) -> Comparison:
        involved = {*chain.from_iterable(blankets.values()), *(self._truth or ())}
        return Comparison(
            target=self._table.names[self._target],
            blankets=blankets,
            members=tuple(name for name in self._table.names if name in involved),
            truth=self._truth,
        )


def _for_row(progress: Observer | None, label: str, number: int, n_rows: int) -> Observer | None:
    """Have reports say which method they are about."""
    if progress is None:
        return None

    def observe(report: Progress) -> None:
        phase = f"{label}: {report.phase}"
        progress(replace(report, phase=phase, position=number, n_targets=n_rows))

    return observe


def _plan(methods: Methods | None, common: Mapping[str, Any]) -> list[_Row]:
    """Return a row for each method; an option that none of them takes is an error."""
    wanted = _list_methods(methods)
    rows = [_Row.make(label, common, own) for label, own in wanted.items()]
    taken = {key for row in rows for key in _options_of(row.options.method, row.options.start)}
    for key in METHOD_OPTIONS:
        if common[key] != DEFAULTS[key] and key not in taken:
            rule = "be left out: none of the methods takes it"
            remedy = f"These are compared: {', '.join(row.label for row in rows)}."
            raise ParameterError.because(key, rule, common[key], remedy)
    return rows


def _options_of(method: str, start: object) -> set[str]:
    """List the options that a method takes, or another that it starts from."""
    names = {method, start} if isinstance(start, str) else {method}
    searches = [info for name, info in algorithms().items() if name in names]
    return {option for info in searches for option in info.options}


def _keep_all(options: Mapping[str, Any]) -> dict[str, Any]:
    """Make a list of what can be walked only once, because every method walks it."""
    return {
        key: list(value) if isinstance(value, Iterator) else value for key, value in options.items()
    }


def _list_methods(methods: Methods | None) -> dict[str, dict[str, Any]]:
    """Return the options of each row by label, ``method`` always among them."""
    if methods is None:
        return {name: {"method": name} for name in algorithms()}
    if isinstance(methods, str | bytes) or not isinstance(methods, Iterable):
        example = "Pass a list of names: ", Argument("methods", [methods]), "."
        raise ParameterError.because("methods", "be a list of methods", methods, example)
    if isinstance(methods, Mapping):
        rows = {label: _own_options(label, own) for label, own in methods.items()}
    else:
        rows = {name: {"method": name} for name in _distinct(methods)}
    if not rows:
        remedy = "Leave it out for all of them."
        raise ParameterError.because("methods", "name at least one method", methods, remedy)
    return rows


def _distinct(methods: Iterable[str]) -> list[str]:
    names: list[str] = []
    for name in methods:
        check_known("method", name, algorithms())
        if name in names:
            twice = {"a": {"method": name}, "b": {"method": name}}
            labels = f" To run one more than once pass a mapping from labels to options: {twice}."
            remedy = "Leave out all but one of them.", InPython(labels)
            raise ParameterError.because("methods", "name each method once", name, remedy)
        names.append(name)
    return names


def _own_options(label: object, own: object) -> dict[str, Any]:
    if not isinstance(label, str) or not label:
        remedy = "Labels are what a row is called in the result."
        raise ParameterError.because("methods", "have text for labels", label, remedy)
    if not isinstance(own, Mapping):
        rule = f"map {label!r} to a dictionary of options"
        raise ParameterError.because("methods", rule, own, "Write e.g. {'method': 'komb'}.")
    for key in own:
        if key not in _ROW_OPTIONS:
            error = UnknownNameError.among("option", key, _ROW_OPTIONS)
            raise error.within(f"methods[{label!r}]")
    if "method" not in own and label not in algorithms():
        rule = f"say for {label!r} which method is meant"
        raise ParameterError.because("methods", rule, dict(own), "Add {'method': 'komb'}.")
    options = {"method": label, **own}
    check_known("method", options["method"], algorithms())
    return _keep_all(options)


def _true_blanket(
    truth: object, target: Name, table: DiscreteTable, exclude: Iterable[Name]
) -> tuple[Name, ...]:
    """Return the true members in the order of the table."""
    names = _names_in(truth, target)
    for name in names:
        if name in exclude:
            remedy = "Without it the true blanket is another: pass the names of its columns."
            raise ParameterError.because("truth", "name no excluded column", name, remedy)
    positions = check_columns("truth", names, table)
    if table.index(target) in positions:
        remedy = "Take it out: a column is never in its own blanket."
        raise ParameterError.because("truth", "not name the target", target, remedy)
    return tuple(table.names[position] for position in positions)


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
