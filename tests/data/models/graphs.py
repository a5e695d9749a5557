"""Graphs of well-known networks, random ones and all small ones; their blankets; rows drawn.

The networks are facts, written as parents and after each its children.
Asia: Lauritzen & Spiegelhalter (1988). Child: Spiegelhalter & Cowell (1992). Alarm: Beinlich et al.
(1989). Insurance: Binder et al. (1997).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from typing import Any

import networkx as nx
import numpy as np

from komb.data.table import DiscreteTable


def parse(text: str) -> Any:
    """Read a line a parent; nodes are sorted by name, an order that means nothing."""
    read = nx.parse_adjlist(text.strip().splitlines(), create_using=nx.DiGraph)
    graph = nx.DiGraph()
    graph.add_nodes_from(sorted(read))
    graph.add_edges_from(read.edges)
    return graph


ASIA = parse(
    """
asia tub
tub either
smoke lung bronc
lung either
bronc dysp
either xray dysp
"""
)

CHILD = parse(
    """
BirthAsphyxia Disease
HypDistrib LowerBodyO2
HypoxiaInO2 LowerBodyO2 RUQO2
CO2 CO2Report
ChestXray XrayReport
Grunting GruntingReport
Disease Age LVH DuctFlow CardiacMixing LungParench LungFlow Sick
LVH LVHreport
DuctFlow HypDistrib
CardiacMixing HypDistrib HypoxiaInO2
LungParench HypoxiaInO2 CO2 ChestXray Grunting
LungFlow ChestXray
Sick Grunting Age
"""
)

ALARM = parse(
    """
HYPOVOLEMIA LVEDVOLUME STROKEVOLUME
LVEDVOLUME CVP PCWP
LVFAILURE HISTORY LVEDVOLUME STROKEVOLUME
STROKEVOLUME CO
ERRLOWOUTPUT HRBP
ERRCAUTER HREKG HRSAT
INSUFFANESTH CATECHOL
ANAPHYLAXIS TPR
TPR CATECHOL BP
KINKEDTUBE PRESS VENTLUNG
FIO2 PVSAT
PVSAT SAO2
SAO2 CATECHOL
PULMEMBOLUS PAP SHUNT
SHUNT SAO2
INTUBATION MINVOL SHUNT PRESS VENTLUNG VENTALV
DISCONNECT VENTTUBE
MINVOLSET VENTMACH
VENTMACH VENTTUBE
VENTTUBE PRESS VENTLUNG
VENTLUNG EXPCO2 MINVOL VENTALV
VENTALV PVSAT ARTCO2
ARTCO2 EXPCO2 CATECHOL
CATECHOL HR
HR HRBP HREKG HRSAT CO
CO BP
"""
)

INSURANCE = parse(
    """
Age GoodStudent SocioEcon RiskAversion DrivingSkill SeniorTrain MedCost
SocioEcon GoodStudent RiskAversion VehicleYear MakeModel HomeBase AntiTheft OtherCar
RiskAversion VehicleYear MakeModel DrivQuality SeniorTrain HomeBase AntiTheft DrivHist
VehicleYear RuggedAuto Antilock CarValue Airbag
ThisCarDam ThisCarCost
RuggedAuto ThisCarDam OtherCarCost Cushioning
Accident ThisCarDam OtherCarCost MedCost ILiCost
MakeModel RuggedAuto Antilock CarValue Airbag
DrivQuality Accident
Mileage Accident CarValue
Antilock Accident
DrivingSkill DrivQuality DrivHist
SeniorTrain DrivingSkill
ThisCarCost PropCost
Theft ThisCarCost
CarValue ThisCarCost Theft
HomeBase Theft
AntiTheft Theft
OtherCarCost PropCost
Cushioning MedCost
Airbag Cushioning
"""
)

NETWORKS = {"asia": ASIA, "child": CHILD, "alarm": ALARM, "insurance": INSURANCE}


def random_dag(n: int, density: float, rng: np.random.Generator) -> Any:
    """A graph whose nodes come in no particular order."""
    order = rng.permutation(n).tolist()
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    for low in range(n):
        for high in range(low + 1, n):
            if rng.random() < density:
                graph.add_edge(order[low], order[high])
    return graph


def true_blanket(graph: Any, target: int) -> set[int]:
    """Parents, children and the children's other parents; a node is named by its position."""
    names = list(graph)
    children = set(graph.successors(names[target]))
    parents = {p for node in (names[target], *children) for p in graph.predecessors(node)}
    return {names.index(node) for node in (children | parents) - {names[target]}}


@cache
def all_dags(n: int) -> list[Any]:
    """Every directed acyclic graph over n labelled nodes."""
    return [graph for graph in _all_orientations(n) if nx.is_directed_acyclic_graph(graph)]


def _all_orientations(n: int) -> Iterator[Any]:
    pairs = list(combinations(range(n), 2))
    for chosen in product((None, False, True), repeat=len(pairs)):
        graph = nx.DiGraph()
        graph.add_nodes_from(range(n))
        for (a, b), is_reversed in zip(pairs, chosen, strict=True):
            if is_reversed is not None:
                graph.add_edge(*((b, a) if is_reversed else (a, b)))
        yield graph


def draw_from(graph: Any, n_rows: int, seed: int) -> DiscreteTable:
    """Rows of a network with random tables; columns are in the order of the nodes."""
    rng = np.random.default_rng(seed)
    columns: dict[Any, Any] = {}
    for node in nx.topological_sort(graph):
        code = np.zeros(n_rows, dtype=np.int64)
        for parent in graph.predecessors(node):
            code = 3 * code + columns[parent]
        levels = int(rng.integers(2, 4))
        shares = rng.dirichlet(np.full(levels, 0.5), int(code.max()) + 1)
        columns[node] = (rng.random(n_rows)[:, None] > shares.cumsum(axis=1)[code]).sum(axis=1)
    return DiscreteTable.from_codes(np.column_stack([columns[node] for node in graph]))
