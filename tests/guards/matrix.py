"""Kinds of tables and models as users have them, and what can be asked of each: a matrix."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import komb
from tests.guards import calls
from tests.guards.calls import Data
from tests.naive.plink import write_cohort
from tests.optional import pandas as pd

ROWS = 400
LITTLE_MEMORY = 6000  # bytes: less than the table takes


@dataclass(frozen=True)
class Case:
    """One kind of data: the target, a member that must be found, and a place for files."""

    data: Data
    folder: Path
    target: str = "y"
    member: str = "a"

    def found(self, members: Any) -> None:
        assert self.member in members, f"{self.member} is not in {list(members)}"

    @cached_property
    def blanket(self) -> komb.Blanket:
        return calls.find(self.data, self.target)

    @cached_property
    def blankets(self) -> komb.Blankets:
        return calls.find_all(self.data)


def make_columns() -> dict[str, Any]:
    """``y`` is mostly the larger of ``a`` and ``b``; ``c`` follows ``y``; ``d`` is noise."""
    random = np.random.default_rng(1)
    a, b, d = (random.integers(0, 3, ROWS) for _ in range(3))
    y, c = (
        np.where(random.integers(0, 8, ROWS) == 0, random.integers(0, 3, ROWS), true)
        for true in (np.maximum(a, b), np.maximum(a, b))
    )
    return {"a": a, "b": b, "c": c, "d": d, "y": y}


def _frame(**more: Any) -> Any:
    return pd.DataFrame(make_columns() | more)


def _numbers() -> dict[str, Any]:
    spread = np.random.default_rng(2).integers(-300, 301, (5, ROWS))
    return {name: v + s / 1000 for (name, v), s in zip(make_columns().items(), spread, strict=True)}


def _levels(_: Path) -> Data:
    return Data(_frame())


def _all_numbers(_: Path) -> Data:
    return Data(_frame(**_numbers()))


def _mixed(_: Path) -> Data:
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(int(97 * v)) for v in _numbers()["a"]]
    text = np.array(["low", "middle", "high"])[make_columns()["c"]]
    return Data(_frame(a=pd.to_datetime(pd.Series(days)), b=_numbers()["b"], c=text))


def _gaps(_: Path) -> Data:
    frame = _frame().astype("Int64")
    frame.loc[::9, "a"] = None
    return Data(frame)


def _covariates(_: Path) -> Data:
    return Data(_frame(age=20 + make_columns()["d"]), known={"given": ["age"]})


def _groups(_: Path) -> Data:
    return Data(_frame(), {"groups": {"bd": ["b", "d"]}})


def _weights(_: Path) -> Data:
    return Data(_frame(w=1 + np.arange(ROWS) % 3), {"weights": "w"})


def _knowledge(_: Path) -> Data:
    return Data(_frame(), known={"knowledge": {"tiers": [["a", "b"], ["y"], ["c"]]}})


def _csv(folder: Path) -> Data:
    _frame().to_csv(folder / "table.csv", index=False)
    return Data(calls.read_table(folder / "table.csv"))


def _stored(folder: Path) -> Data:
    return Data(calls.store(Data(_frame()), folder / "t.komb"))


def _limited(folder: Path) -> Data:
    table = calls.store(Data(_frame()), folder / "l.komb", LITTLE_MEMORY)
    assert not table.is_in_memory
    return Data(table, {"memory_limit": LITTLE_MEMORY})


def _bed(folder: Path) -> Data:
    columns = make_columns()
    genotypes = [columns[name].tolist() for name in "abcd"]
    case = [2 if y > 1 else 1 for y in columns["y"]]
    bed = write_cohort(folder / "cohort", genotypes, names=list("abcd"), phenotypes=case)
    return Data(calls.read_table(bed))


def _dask(_: Path) -> Data:
    frames: Any = pytest.importorskip("dask.dataframe")
    return Data(frames.from_pandas(_frame(), npartitions=2))


def _network(_: Path) -> Data:
    noisy = [[0.9, 0.1], [0.1, 0.9]]
    parents = {"a": [], "b": [], "y": ["a", "b"], "c": ["y"], "d": []}
    tables = {name: [0.5, 0.5] for name in ("a", "b", "d")} | {
        "y": [noisy, [[0.2, 0.8], [0.6, 0.4]]]
    }
    return Data(komb.DiscreteNetwork(parents, tables | {"c": noisy}))


def _field(_: Path) -> Data:
    pair = [[3.0, 1.0], [1.0, 2.0]]
    factors = [(("a", "y"), pair), (("b", "y"), pair), (("y", "c"), pair)]
    return Data(komb.MarkovField(dict.fromkeys("abcdy", 2), factors))


def _graph(_: Path) -> Data:
    return Data(nx.DiGraph([("a", "y"), ("b", "y"), ("y", "c"), ("d", "a")]))


KINDS: dict[str, Callable[[Path], Data]] = {
    "levels": _levels,
    "numbers": _all_numbers,
    "mixed": _mixed,
    "gaps": _gaps,
    "covariates": _covariates,
    "groups": _groups,
    "weights": _weights,
    "knowledge": _knowledge,
    "csv": _csv,
    "stored": _stored,
    "limited": _limited,
    "bed": _bed,
    "dask": _dask,
    "network": _network,
    "field": _field,
    "graph": _graph,
}


def make_case(kind: str, folder: Path) -> Case:
    target = "phenotype" if kind == "bed" else "y"
    return Case(KINDS[kind](folder), folder, target)


def default(case: Case) -> None:
    case.found(case.blanket)


def komb_search(case: Case) -> None:
    case.found(calls.find(case.data, case.target, method="komb"))


def classic(case: Case) -> None:
    case.found(calls.find(case.data, case.target, method="iamb"))


def resume(case: Case) -> None:
    case.found(calls.find(case.data, case.target, resume=case.folder / "journal"))


def stability(case: Case) -> None:
    assert case.blanket.stability(2).n_halves == 2


def all_targets(case: Case) -> None:
    case.found(case.blankets[case.target])


def undirected(case: Case) -> None:
    case.found(case.blankets.graph()[case.target])


def directed(case: Case) -> None:
    case.found(case.blankets.to_networkx().to_undirected()[case.target])


def heatmap(case: Case) -> None:
    title = case.blankets.plot().get_title(loc="left")
    assert title.startswith("Markov blanket")


def compare(case: Case) -> None:
    found = calls.compare(case.data, case.target, ["iamb", "komb"])
    case.found(found.blankets["komb"])


def single_test(case: Case) -> None:
    assert not calls.run_test(case.data, case.member, case.target, ["c"]).independent


def path(case: Case) -> None:
    case.found(calls.walk_path(case.data, case.target, [0, 1])[1, 1])


def report(case: Case) -> None:
    file = case.folder / "report.html"
    case.found(calls.write_report(case.data, case.target, file).blanket)
    assert "</html>" in file.read_text("utf-8")


def selector(case: Case) -> None:
    case.found(calls.select(case.data, case.target))


def explain(case: Case) -> None:
    assert case.member in str(case.blanket.explain()[case.member].name)


def explain_elsewhere(case: Case) -> None:
    assert calls.explain_elsewhere(case.blanket, case.data)[case.member].name == case.member


def roles(case: Case) -> None:
    case.found(calls.roles(case.blanket))


def effects(case: Case) -> None:
    assert calls.effects(case.blanket)[case.member].alone >= 0


def ranking(case: Case) -> None:
    entries = [entry.column for entry in case.blanket.ranking()]
    case.found(entries[:3])


def picture(case: Case) -> None:
    title = case.blanket.plot().get_title(loc="left")
    assert title == f"Markov blanket of {case.target}"


def read_back(case: Case) -> None:
    assert calls.read_back(case.blanket) == case.blanket


def to_frame(case: Case) -> None:
    case.found(case.blanket.to_frame()["member"].to_list())


def printed(case: Case) -> None:
    assert case.member in str(case.blanket)
    assert case.member in case.blanket._repr_html_()


def make_table(case: Case) -> None:
    case.found(calls.make_table(case.data).names)


def store(case: Case) -> None:
    case.found(calls.store(case.data, case.folder / "again.komb").names)


def command(case: Case) -> None:
    """On a file of the same rows, with the same said in options."""
    options: dict[str, list[str]] = {"--given": [*case.data.options.get("given", [])]}
    groups = case.data.options.get("groups", {})
    options["--group"] = [f"{name}={','.join(members)}" for name, members in groups.items()]
    if "weights" in case.data.options:
        options["--weights"] = [case.data.options["weights"]]
    if "knowledge" in case.data.options:
        known = case.folder / "known.toml"
        known.write_text(f"tiers = {json.dumps(case.data.options['knowledge']['tiers'])}\n")
        options["--knowledge"] = [str(known)]
    said = [word for name, values in options.items() for value in values for word in (name, value)]
    assert calls.run_command(_file_of(case), case.target, said) == 0


def _file_of(case: Case) -> Path:
    """Return the file or folder that the command line can read instead."""
    for name in ("table.csv", "t.komb", "l.komb", "cohort.bed"):
        if (case.folder / name).exists():
            return case.folder / name
    if not isinstance(case.data.raw, pd.DataFrame):
        raise TypeError("the command line reads files")
    case.data.raw.to_csv(case.folder / "rows.csv", index=False)
    return case.folder / "rows.csv"


FUNCTIONS: dict[str, Callable[[Case], None]] = {
    function.__name__: function
    for function in (
        default, komb_search, classic, resume, stability, all_targets, undirected, directed,
        heatmap, compare, single_test, path, report, selector, explain, explain_elsewhere, roles,
        effects, ranking, picture, read_back, to_frame, printed, make_table, store, command,
    )
}  # fmt: skip
