"""Several methods on one table: who finds what, at what price, and how right it is.

>>> import komb
>>> table = komb.boolean_table("parity", 500, n_parents=2)
>>> comparison = komb.compare(table, "Y", truth=["X1", "X2"])
>>> comparison.scores["komb"].f1
1.0
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from komb.api.find import OPTION_DEFAULTS, Progress, markov_blanket
from komb.api.settings import (
    OPTIONS,
    check_columns,
    check_exclude,
    check_settings,
    check_table,
    check_target,
    describe_data,
    list_names,
)
from komb.data import defaults
from komb.data.encode.codes import Name
from komb.data.encode.treatment import Bins, Discretize, check_treatment
from komb.data.models.bayesian_network import DiscreteNetwork, graph_blanket
from komb.data.models.markov_field import MarkovField
from komb.data.table import DiscreteTable
from komb.errors import InputError, Interrupted, ParameterError, UnknownNameError
from komb.results.blanket import Blanket
from komb.results.comparison import Comparison
from komb.search import algorithms
from komb.views.text import plural

if TYPE_CHECKING:
    import networkx as nx

Methods = Iterable[str] | Mapping[str, Mapping[str, Any]]
Observer = Callable[[Progress], None]

_FOR_ALL = ("exclude", "discretize", "bins", "missing")  # one table for all
_ROW_OPTIONS = [name for name in OPTION_DEFAULTS if name not in _FOR_ALL]


def compare(
    data: object,
    target: Name,
    *,
    methods: Methods | None = None,
    truth: object = None,
    order: int | None = None,
    max_separator: int | None = None,
    max_conditioning: int | None = None,
    level: float = defaults.LEVEL,
    alpha: float | None = defaults.FIXED_ALPHA,
    test: str = defaults.TEST,
    df: str = defaults.DF,
    start: Iterable[Name] | str = (),
    include: Iterable[Name] = (),
    exclude: Iterable[Name] = (),
    discretize: Discretize = None,
    bins: Bins = defaults.BINS,
    missing: str = defaults.MISSING,
    seed: int = defaults.SEED,
    time_budget: float | None = None,
    progress: Observer | None = None,
) -> Comparison:
    """Find the Markov blanket of a column with several methods.

    The table is encoded once, and every method starts from nothing, so that tests and times can be
    compared.

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
    order, max_separator, max_conditioning, level, time_budget
        As in :func:`komb.markov_blanket`; each method gets those that it takes.
    alpha
        Level of the tests, the same for all methods, ``"auto"`` included, so that none has an
        advantage. ``None`` leaves it to each of them.
    test, df, start, include, exclude, discretize, bins, missing, seed
        As in :func:`komb.markov_blanket`, for all methods.
    progress
        Called now and then with a :class:`komb.api.find.Progress`, in which the phase starts with
        the label of the method, and position and number of targets count methods.

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
    excluded = list_names("exclude", exclude)
    common = {
        "order": order, "max_separator": max_separator, "max_conditioning": max_conditioning,
        "level": level, "time_budget": time_budget, "alpha": alpha, "test": test, "df": df,
        "start": start, "include": include, "seed": seed,
    }  # fmt: skip
    rows = _plan(methods, {key: _keep(value) for key, value in common.items()})
    for row in rows:
        row.check_columns(target, excluded)
    treatment = check_treatment(discretize, bins, missing)
    table = DiscreteTable.from_data(
        data, exclude=excluded, discretize=discretize, bins=bins, missing=missing, target=target
    )
    check_table(table)
    for row in rows:
        row.check_settings(table, target)
    true = None if truth is None else _true_blanket(truth, target, table, excluded)
    history = {"exclude": tuple(excluded), **describe_data(treatment, table)}
    return _Contest(table, target, history, true).run(rows, progress)


@dataclass(frozen=True, slots=True)
class _Row:
    """One method, and the keywords of ``markov_blanket`` to run it with."""

    label: str
    options: dict[str, Any]
    own: tuple[str, ...]  # which of them are for this row alone

    def check_columns(self, target: Name, exclude: list[Name]) -> None:
        """Check what can be checked before there is a table."""
        columns = {key: self.options[key] for key in ("start", "include")}
        with self._naming():
            check_exclude(exclude, [target], **columns)

    def check_settings(self, table: DiscreteTable, target: Name) -> None:
        """Check everything else, so that nothing has been searched when a row is refused."""
        with self._naming():
            settings = check_settings(table, **OPTION_DEFAULTS | self.options)
            check_target(table, target, settings)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Have errors that speak of the row's own options say which row that is."""
        try:
            yield
        except InputError as error:
            if not any(re.search(rf"\b{option}\b", str(error)) for option in self.own):
                raise
            raise type(error)(f"In methods[{self.label!r}]: {error}") from None


class _Contest:
    """One table, one target, and the methods that try."""

    def __init__(
        self,
        table: DiscreteTable,
        target: Name,
        history: Mapping[str, Any],  # what the data went through before they were this table
        truth: tuple[Name, ...] | None,
    ) -> None:
        self._table = table
        self._target = target
        self._history = history
        self._truth = truth

    def run(self, rows: list[_Row], progress: Observer | None) -> Comparison:
        """Let one method after the other search."""
        finished: dict[str, Blanket] = {}
        try:
            for number, row in enumerate(rows):
                observer = _for_row(progress, row.label, number, len(rows))
                finished[row.label] = self._search(row, observer)
        except KeyboardInterrupt:
            message = (
                f"Interrupted after {len(finished)} of {plural(len(rows), 'method')}; "
                "'finished' holds their comparison."
            )
            raise Interrupted(message, self._gather(finished)) from None
        return self._gather(finished)

    def _search(self, row: _Row, observer: Observer | None) -> Blanket:
        blanket = markov_blanket(self._table, self._target, **row.options, progress=observer)
        # The table came encoded and without the excluded columns, so the search knew nothing of it.
        parameters = {**blanket.parameters, **self._history}
        return replace(blanket, parameters=parameters).with_table(self._table)

    def _gather(self, blankets: dict[str, Blanket]) -> Comparison:
        involved = {*chain.from_iterable(blankets.values()), *(self._truth or ())}
        return Comparison(
            target=self._table.names[self._table.index(self._target)],
            blankets=blankets,
            members=tuple(name for name in self._table.names if name in involved),
            truth=self._truth,
        )


def _for_row(progress: Observer | None, label: str, number: int, n_rows: int) -> Observer | None:
    """Have reports say which method they are about."""
    if not callable(progress):
        return progress  # the first search says what is wrong with it

    def observe(report: Progress) -> None:
        phase = f"{label}: {report.phase}"
        progress(replace(report, phase=phase, position=number, n_targets=n_rows))

    return observe


def _plan(methods: Methods | None, common: Mapping[str, Any]) -> list[_Row]:
    """Give each method its own options, and of the common ones those that it takes."""
    rows = []
    for label, own in _list_methods(methods).items():
        taken = _options_of(own["method"], own.get("start", common["start"]))
        fitting = {
            key: value for key, value in common.items() if key in taken or key not in OPTIONS
        }
        rows.append(_Row(label, fitting | own, tuple(key for key in own if key != "method")))
    for key in OPTIONS:
        if common[key] != OPTION_DEFAULTS.get(key) and not any(key in row.options for row in rows):
            rule = "be left out, for none of the methods takes it"
            remedy = f"These are compared: {', '.join(row.label for row in rows)}."
            raise ParameterError.because(key, rule, common[key], remedy)
    return rows


def _options_of(method: str, start: object) -> set[str]:
    """List the options that a method takes, or another that it starts from."""
    names = {method, start} if isinstance(start, str) else {method}
    searches = [info for name, info in algorithms().items() if name in names]
    return {option for info in searches for option in info.options}


def _keep(value: Any) -> Any:
    """Make a list of what can be walked only once, because every method walks it."""
    return list(value) if isinstance(value, Iterator) else value


def _list_methods(methods: Methods | None) -> dict[str, dict[str, Any]]:
    """Return the options of each row by label, ``method`` always among them."""
    if methods is None:
        return {name: {"method": name} for name in algorithms()}
    if isinstance(methods, str | bytes) or not isinstance(methods, Iterable):
        remedy = f"Pass a list of names: methods=[{methods!r}]."
        raise ParameterError.because("methods", "be a list of methods", methods, remedy)
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
        _check_method(name)
        if name in names:
            remedy = (
                "To run one more than once pass a mapping from labels to options: "
                f"{{'a': {{'method': {name!r}}}, 'b': {{'method': {name!r}}}}}."
            )
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
            raise UnknownNameError(f"In methods[{label!r}]: {error}")
    if "method" not in own and label not in algorithms():
        rule = f"say for {label!r} which method is meant"
        raise ParameterError.because("methods", rule, dict(own), "Add {'method': 'komb'}.")
    options = {"method": label, **own}
    _check_method(options["method"])
    return {key: _keep(value) for key, value in options.items()}


def _check_method(name: object) -> None:
    if not isinstance(name, str) or name not in algorithms():
        raise UnknownNameError.among("method", name, algorithms())


def _true_blanket(
    truth: object, target: Name, table: DiscreteTable, exclude: list[Name]
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
        raise UnknownNameError(f"In 'truth': {error}") from None
    return list_names("truth", truth)


def _graph_blanket(graph: nx.DiGraph, target: Name) -> list[Name]:
    """Check that a graph has a blanket of the target, and return it."""
    if not graph.is_directed():
        remedy = "For an undirected one pass the neighbours of the target: truth=graph[target]."
        raise ParameterError.because("truth", "be a directed graph", graph, remedy)
    if target not in graph:
        raise UnknownNameError.among("node", target, graph)
    return list(graph_blanket(graph, target))
