"""A model in the place of a table: a network, a field or a graph answers without any test.

A graph answers by separation. A network or field answers by independence in its exact distribution
as long as that has few cells, for a distribution may hold independences that the graph does not
show (as ``Y = X1 xor X2``); beyond, by separation in its graph. The result says which it was.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.models.markov_field import MarkovField
from komb.data.names import Name
from komb.engine.oracle import DistributionEngine, DSeparationEngine, OracleEngine, SeparationEngine
from komb.engine.questions import EMPTY, Variables
from komb.errors import DataError, UnknownNameError

MOST_CELLS = 1 << 20
"""Cells of the largest distribution that is computed; larger models answer by their graph."""

MOST_VARIABLES = 20
"""Variables of the same: with more, even two levels each take too many cells."""


@dataclass(frozen=True)
class Oracle:
    """A model that answers, with the properties of a table that has no rows."""

    model: Any
    names: tuple[Name, ...]
    answers_by: str

    n_rows: ClassVar[int] = 0
    has_missing: ClassVar[bool] = False
    is_in_memory: ClassVar[bool] = True
    cluster: ClassVar[None] = None
    types: ClassVar[Mapping[Name, Any]] = {}
    cuts: ClassVar[Mapping[Name, Any]] = {}
    reading: ClassVar[Mapping[str, Any]] = {}
    groups: ClassVar[Mapping[Name, Any]] = {}

    @property
    def n_columns(self) -> int:
        """The number of variables."""
        return len(self.names)

    @property
    def cardinalities(self) -> Any:
        """No variable has more levels than another: targets take their turn."""
        return np.zeros(len(self.names), np.int64)

    def index(self, name: Name) -> int:
        """Return the position of a variable."""
        if not isinstance(name, Hashable) or name not in self.names:
            raise UnknownNameError.among("variable", name, self.names)
        return self.names.index(name)

    def open(self, fixed: Variables = EMPTY) -> OracleEngine:
        """Make an engine that knows how the variables depend on each other, given some of them."""
        if self.answers_by == "distribution":
            return DistributionEngine(self.model.joint(), fixed)
        by_graph = DSeparationEngine if self.answers_by == "d-separation" else SeparationEngine
        is_network = isinstance(self.model, DiscreteNetwork | MarkovField)
        return by_graph(self.model.graph if is_network else self.model, self.names, fixed)


def find_oracle(data: Any) -> Oracle | None:
    """Return who answers for a model; None if data are not a model."""
    if isinstance(data, Oracle):
        return data
    if isinstance(data, DiscreteNetwork | MarkovField):
        names, levels = tuple(data.names), data.cardinalities.tolist()
        if len(names) <= MOST_VARIABLES and math.prod(levels) <= MOST_CELLS:
            return Oracle(data, names, "distribution")
        is_directed = isinstance(data, DiscreteNetwork)
        return Oracle(data, names, "d-separation" if is_directed else "separation")
    if hasattr(data, "is_directed") and hasattr(data, "nodes"):  # networkx need not be loaded
        return _of_graph(data)
    return None


def _of_graph(graph: Any) -> Oracle:
    names = tuple(graph.nodes)
    if not names:
        raise DataError.because("data", "have at least 1 node", 0, "Check how it was made.")
    if not graph.is_directed():
        return Oracle(graph, names, "separation")
    import networkx as nx

    if not nx.is_directed_acyclic_graph(graph):
        cycle = " -> ".join(str(edge[0]) for edge in nx.find_cycle(graph))
        remedy = "Take out an edge of it, or pass an undirected graph."
        raise DataError.because(
            "data", "be a graph without directed cycles", graph, remedy, shown=cycle
        )
    return Oracle(graph, names, "d-separation")
