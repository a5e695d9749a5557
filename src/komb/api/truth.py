"""The blanket in a model that is known: a network, a field or a graph answers instead of data.

A graph answers by separation. A network or field answers by independence in its exact distribution
as long as that has few cells, for a distribution may hold independences that the graph does not
show (as ``Y = X1 xor X2``); beyond, by separation in its graph. The result says which it was.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from komb.api.options import DEFAULTS, SearchOptions
from komb.api.progress import Observer, Progress
from komb.api.settings import check_taken, find_searches
from komb.data.knowledge import ColumnKnowledge, Knowledge
from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.models.markov_field import MarkovField
from komb.errors import DataError, Interrupted, ParameterError, UnknownNameError
from komb.results.blanket import Blanket
from komb.results.member import Member
from komb.results.remarks import Remarks
from komb.search._budget import Budget
from komb.search.registry import AlgorithmInfo
from komb.search.task import Found, Task, check_found
from komb.search.task import Progress as TaskProgress
from komb.sessions.distribution import DistributionOracle
from komb.sessions.given import GivenSource
from komb.sessions.graph import DSeparationOracle, SeparationOracle
from komb.sessions.informed import InformedSource
from komb.sessions.session import Session

MOST_CELLS = 1 << 20
"""Cells of the largest distribution that is computed; larger models answer by their graph."""

MOST_VARIABLES = 20
"""Variables of the same: with more, even two levels each take too many cells."""

_FOR_MODELS = ("method", "order", "max_separator", "max_conditioning", "start", "include",
               "exclude", "given", "knowledge", "time_budget")  # fmt: skip
_SAID_IF_ANY = ("given", "knowledge")  # parameters that a result names only if there are any


class Truth(NamedTuple):
    """Variables by name, and a session that knows how they depend on each other."""

    names: tuple[Any, ...]
    session: Session
    source: str
    model: Any


def open_truth(data: object) -> Truth | None:
    """Return who answers for a model; None if data are not a model.

    Examples
    --------
    >>> import komb
    >>> open_truth(komb.boolean_network("parity", n_parents=2)).source
    'distribution'
    >>> open_truth({"x": [0, 1]}) is None
    True
    """
    if isinstance(data, DiscreteNetwork):
        return _of_model(data, data.cardinalities.tolist(), DSeparationOracle, "d-separation")
    if isinstance(data, MarkovField):
        return _of_model(data, data.cardinalities.tolist(), SeparationOracle, "separation")
    if hasattr(data, "is_directed") and hasattr(data, "nodes"):  # networkx need not be loaded
        return _of_graph(data)
    return None


def _of_model(data: Any, levels: Sequence[int], by_graph: Any, source: str) -> Truth:
    names = tuple(data.names)
    if len(names) <= MOST_VARIABLES and math.prod(levels) <= MOST_CELLS:
        return Truth(names, DistributionOracle(data.joint()), "distribution", data)
    return Truth(names, by_graph(data.graph, names), source, data)


def _of_graph(graph: Any) -> Truth:
    names = tuple(graph.nodes)
    if not names:
        raise DataError.because("data", "have at least 1 node", 0, "Check how it was made.")
    if not graph.is_directed():
        return Truth(names, SeparationOracle(graph), "separation", graph)
    import networkx as nx

    if not nx.is_directed_acyclic_graph(graph):
        cycle = " -> ".join(str(edge[0]) for edge in nx.find_cycle(graph))
        remedy = "Take out an edge of it, or pass an undirected graph."
        raise DataError.because(
            "data", "be a graph without directed cycles", graph, remedy, shown=cycle
        )
    return Truth(names, DSeparationOracle(graph), "d-separation", graph)


def find_in_truth(
    truth: Truth, target: Hashable, options: SearchOptions, progress: Observer | None
) -> Blanket:
    """Find the blanket of a variable as if there were infinitely many rows."""
    _check_options(options)
    search, *before = find_searches(options)
    check_taken([search, *before], options.of_method)
    for name in options.given:
        if name == target:
            remedy = "Take it out, or choose another target."
            raise ParameterError.because("given", "not name the target", target, remedy)
    task = _make_task(truth, target, options, progress)
    truth = truth._replace(session=_informed(truth, options))
    began = time.perf_counter()
    try:
        for first in before:
            task = _restart(task, _run(first, truth, task, options))
        found = _run(search, truth, task, options)
    except KeyboardInterrupt:
        raise Interrupted(f"Interrupted; the blanket of {target!r} is not complete.", ()) from None
    check_found(found, task, options.method)
    by_request = [x for x in task.include if _is_separated(truth.session, task.target, x, found)]
    found = replace(found, witnesses={**found.witnesses, **dict.fromkeys(by_request)})
    return _name(truth, task, options, found, time.perf_counter() - began)


def _is_separated(session: Session, target: int, x: int, found: Found) -> bool:
    """Whether a member is there although it is independent of the target given its witness."""
    witness = found.witnesses[x]
    return witness is not None and session.outcome(target, x, witness).independent


def _check_options(options: SearchOptions) -> None:
    for name, default in DEFAULTS.items():
        value = getattr(options, name)
        if name not in _FOR_MODELS and value != default:
            rule = "be left out for a network or graph, which answers without any test"
            remedy = "Leave it out, or draw a table first, with network.sample(1000)."
            raise ParameterError.because(name, rule, value, remedy)


def _make_task(
    truth: Truth, target: Hashable, options: SearchOptions, progress: Observer | None
) -> Task:
    position = {name: number for number, name in enumerate(truth.names)}

    def find(parameter: str, name: Hashable) -> int:
        if not isinstance(name, Hashable) or name not in position:
            raise UnknownNameError.among("variable", name, truth.names, parameter)
        return position[name]

    own = find("target", target)
    left_out = {find("exclude", name) for name in options.exclude}
    by_name = () if options.start_method is not None else options.start
    include = frozenset(find("include", name) for name in options.include)
    start = frozenset(find("start", name) for name in by_name)
    for parameter, named in (("exclude", left_out), ("include", include), ("start", start)):
        if own in named:
            remedy = "Take it out: a variable is never in its own blanket."
            raise ParameterError.because(parameter, "not name the target", target, remedy)

    def observe(step: TaskProgress) -> None:
        if progress is not None:
            blanket = tuple(truth.names[x] for x in step.blanket)
            progress(Progress(target, step.phase, blanket, step.tests, step.done, step.total))

    held_fixed = {find("given", name) for name in options.given}
    candidates = frozenset(range(len(truth.names))) - {own} - left_out - held_fixed
    required = _knowledge(truth, options).required_of(own) & candidates
    return Task(own, candidates, start, include | required, observe)


def _knowledge(truth: Truth, options: SearchOptions) -> ColumnKnowledge:
    return Knowledge.of(options.knowledge or Knowledge()).in_columns(truth.names)


def _informed(truth: Truth, options: SearchOptions) -> Session:
    """Return who answers given covariates, and as knowledge has it."""
    if not options.given and options.knowledge is None:
        return truth.session
    fixed = frozenset(truth.names.index(name) for name in options.given)
    source = GivenSource(truth.session.source, fixed)
    variables = frozenset(range(len(truth.names))) - fixed
    return Session(InformedSource(source, _knowledge(truth, options), variables))


def _restart(task: Task, found: Found) -> Task:
    return Task(
        task.target, task.candidates, frozenset(found.witnesses), task.include, task.observer
    )


def _run(search: AlgorithmInfo, truth: Truth, task: Task, options: SearchOptions) -> Found:
    given = {name: value for name, value in options.of_method.items() if name in search.options}
    seconds = given.pop("time_budget", None)
    if seconds is not None:
        given["budget"] = Budget(seconds)
    if search.choose_alpha is not None:
        given["alpha"] = None
    return search.search(truth.session, task, **given)


def _name(
    truth: Truth, task: Task, options: SearchOptions, found: Found, seconds: float
) -> Blanket:
    """Put names to what was found."""
    names = truth.names
    parameters = {name: getattr(options, name) for name in _FOR_MODELS if name != "method"}
    if options.knowledge is not None:
        parameters["knowledge"] = Knowledge.of(options.knowledge).to_dict()
    for name in _SAID_IF_ANY:
        if not parameters[name]:
            del parameters[name]

    def named(positions: Any) -> tuple[Any, ...]:
        return tuple(names[x] for x in sorted(positions))

    details = tuple(
        Member(names[x], None)
        if witness is None
        else Member(names[x], named(witness), test=truth.source, reliable=True)
        for x, witness in sorted(found.witnesses.items())
    )
    equivalents = {
        names[x]: tuple(named(columns) for columns in sets)
        for x, sets in sorted(found.equivalents.items())
    }
    return Blanket(
        target=names[task.target],
        details=details,
        method=options.method,
        parameters=parameters | {"test": truth.source},
        n_rows=0,
        n_columns=len(task.candidates) + 1,
        tests=truth.session.counts.tests,
        tables=0,
        choices={name: found.choices[name] for name in found.choices if name in parameters},
        seconds=seconds,
        remarks=Remarks(equivalents=equivalents),
    ).with_table(truth.model)
