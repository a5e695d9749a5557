"""Graphs of well-known networks, as facts: parents, and after each its children.

Asia: Lauritzen & Spiegelhalter (1988). Child: Spiegelhalter & Cowell (1992). Alarm: Beinlich et al.
(1989). Insurance: Binder et al. (1997).
"""

from __future__ import annotations

from typing import Any

import networkx as nx


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
