"""The methods that are measured, under the names of their rows."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import komb
from komb.data.models.boolean_functions import boolean_table
from komb.data.names import Name
from komb.data.table import DiscreteTable

__all__ = ["AUTO", "MMMB", "Method", "list_methods", "warm_up"]

Options = dict[str, Any]
Find = Callable[[DiscreteTable, Sequence[Name]], list[set[Name]]]

AUTO: Options = {}
"""The call without parameters."""

MMMB: Options = {"method": "mmmb", "test": "g", "df": "adjusted"}
"""What the time of the default is compared with."""

CLASSICS = ("mmmb", "hiton-mb", "pcmb", "bamb", "iamb")
ALPHAS = (0.01, 0.001)
KOMB = {
    "komb 1,1 g-sci": {"order": 1, "max_separator": 1, "test": "g-sci"},
    "komb 1,2 g adjusted": {"order": 1, "max_separator": 2, "test": "g", "df": "adjusted"},
}
SCORES = {"hc BDeu": "useScoreBDeu", "hc BIC": "useScoreBIC"}


@dataclass(frozen=True)
class Method:
    """How to find blankets, and up to which size that takes bearable time."""

    label: str
    find: Find
    most_rows: float = float("inf")
    most_columns: float = float("inf")

    def is_slow(self, n_rows: int, n_columns: int) -> bool:
        """Tell whether a table is too large for a method that was not asked for."""
        return n_rows > self.most_rows or n_columns > self.most_columns


def list_methods(without: Collection[str] = ()) -> list[Method]:
    """Return all methods but those whose label, or its first word, is in ``without``."""
    methods = [
        Method("auto", partial(find_each, AUTO)),
        *(_classic(name, alpha) for name in CLASSICS for alpha in ALPHAS),
        *(
            Method(label, partial(find_each, {"method": "komb", **cell}))
            for label, cell in KOMB.items()
        ),
    ]
    if importlib.util.find_spec("pyagrum"):
        methods += [
            Method(label, partial(climb, score), most_columns=200)
            for label, score in SCORES.items()
        ]
    names = {method.label: {method.label, method.label.split()[0]} for method in methods}
    unknown = set(without) - set().union(*names.values(), ["hc"])
    if unknown:
        raise SystemExit(f"--without must name some of {', '.join(names)}; got {unknown}.")
    return [method for method in methods if names[method.label].isdisjoint(without)]


def _classic(name: str, alpha: float) -> Method:
    options = {"method": name, "test": "g", "df": "adjusted", "alpha": alpha}
    label = f"{name} {f'{alpha:g}'.lstrip('0')}"
    most_rows = 1000 if name == "bamb" else float("inf")
    return Method(label, partial(find_each, options), most_rows)


def find_each(options: Options, table: DiscreteTable, targets: Sequence[Name]) -> list[set[Name]]:
    """Find blankets by one call per target."""
    return [set(komb.markov_blanket(table, target, **options).members) for target in targets]


def climb(score: str, table: DiscreteTable, targets: Sequence[Name]) -> list[set[Name]]:
    """Learn one graph by greedy hill climbing, and read the blankets off it."""
    import pandas as pd

    pyagrum: Any = importlib.import_module("pyagrum")  # has no types
    columns = {str(i): column.astype(str) for i, column in enumerate(table.codes)}
    learner = pyagrum.BNLearner(pd.DataFrame(columns))
    learner.useGreedyHillClimbing()
    getattr(learner, score)()
    graph = learner.learnDAG()
    column_of = {node: int(learner.nameFromId(node)) for node in graph.nodes()}
    node_of = {column: node for node, column in column_of.items()}
    return [
        {
            table.names[column_of[node]]
            for node in _graph_blanket(graph, node_of[table.index(target)])
        }
        for target in targets
    ]


def _graph_blanket(graph: Any, node: int) -> set[int]:
    children = set(graph.children(node))
    spouses = {parent for child in children for parent in graph.parents(child)}
    return (set(graph.parents(node)) | children | spouses) - {node}


def warm_up(methods: Sequence[Method]) -> None:
    """Run each method once, so that no clock measures a compiler or an import."""
    table = boolean_table("parity", 200)
    for method in methods:
        method.find(table, ["Y"])
