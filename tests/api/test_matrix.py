"""Everything works for every kind of data; where it does not, that is a hole, listed here."""

from __future__ import annotations

import datetime
import json
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import komb
from komb import cli
from komb.errors import InputError
from tests.local_cluster import local_client
from tests.naive.plink import write_cohort
from tests.optional import pandas as pd

ROWS = 400
LITTLE_MEMORY = 6000  # bytes: less than the table takes


@dataclass(frozen=True)
class Data:
    """A table or model, how its columns are read, and what has to be said in every search."""

    raw: Any
    reading: Mapping[str, Any] = field(default_factory=dict)  # of columns, rows and memory
    known: Mapping[str, Any] = field(default_factory=dict)  # covariates and knowledge

    def read(self) -> Any:
        """The table, read as has to be said; what is read by itself goes to komb as it is."""
        return komb.table(self.raw, **self.reading) if self.reading else self.raw

    def store(self, path: Path, **limit: Any) -> komb.DiscreteTable:
        """Write a table to disk, and open it."""
        later = {name: self.reading[name] for name in ("groups", "weights") if name in self.reading}
        first = {name: self.reading[name] for name in self.reading if name not in later}
        komb.encode(self.raw, path, **{**first, **limit})
        return komb.read_table(path, **later, **limit)


@dataclass(frozen=True)
class Case:
    """One kind of data: the target, a member that must be found, and a place for files."""

    data: Data
    folder: Path
    target: str = "y"
    member: str = "a"

    def found(self, members: Any) -> None:
        assert self.member in members, f"{self.member} is not in {list(members)}"

    def find(self, **options: Any) -> komb.Blanket:
        return komb.markov_blanket(self.data.read(), self.target, **self.data.known, **options)

    @cached_property
    def blanket(self) -> komb.Blanket:
        return self.find()

    @cached_property
    def blankets(self) -> komb.Blankets:
        return komb.markov_blankets(self.data.read(), **self.data.known)


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
    return Data(komb.read_table(folder / "table.csv"))


def _stored(folder: Path) -> Data:
    return Data(Data(_frame()).store(folder / "t.komb"))


def _limited(folder: Path) -> Data:
    table = Data(_frame()).store(folder / "l.komb", memory_limit=LITTLE_MEMORY)
    assert not table.is_in_memory
    return Data(table, {"memory_limit": LITTLE_MEMORY})


def _bed(folder: Path) -> Data:
    columns = make_columns()
    genotypes = [columns[name].tolist() for name in "abcd"]
    case = [2 if y > 1 else 1 for y in columns["y"]]
    bed = write_cohort(folder / "cohort", genotypes, names=list("abcd"), phenotypes=case)
    return Data(komb.read_table(bed))


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
    case.found(case.find(method="komb"))


def classic(case: Case) -> None:
    case.found(case.find(method="iamb"))


def resume(case: Case) -> None:
    case.found(case.find(resume=case.folder / "journal"))


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
    data, known, methods = case.data.read(), case.data.known, ["iamb", "komb"]
    case.found(komb.compare(data, case.target, methods=methods, **known).blankets["komb"])


def single_test(case: Case) -> None:
    held = [*case.data.known.get("given", ()), "c"]  # what is known else is for searches
    assert not komb.ci_test(case.data.read(), case.member, case.target, held).independent


def path(case: Case) -> None:
    cells: dict[str, Any] = {"orders": [0, 1], "max_separators": [1]}
    found = komb.blanket_path(case.data.read(), case.target, **cells, **case.data.known)
    case.found(found[1, 1])


def report(case: Case) -> None:
    file = case.folder / "report.html"
    found = komb.report(case.data.read(), case.target, file, methods=["iamb"], **case.data.known)
    case.found(found.blanket)
    assert "</html>" in file.read_text("utf-8")


def selector(case: Case) -> None:
    """Fit it to the raw data, with the same said in its own parameters."""
    reading, raw = dict(case.data.reading), case.data.raw
    features: Any
    counted = {}
    if isinstance(raw, komb.DiscreteTable):
        others = [name for name in raw.names if name != case.target]
        features, values = raw.select(others), raw.column(case.target)
    else:
        features, values = raw.drop(columns=[case.target]), raw[case.target]
    if "weights" in reading:
        counted["sample_weight"] = features.pop(reading.pop("weights"))
    made = komb.MarkovBlanketSelector(options=case.data.known or None, reading=reading or None)
    made.fit(features, values, **counted)
    assert made.transform(features).shape[1] == made.get_support().sum()
    case.found(made.get_feature_names_out().tolist())


def explain(case: Case) -> None:
    assert case.member in str(case.blanket.explain()[case.member].name)


def explain_elsewhere(case: Case) -> None:
    """In another process than the one that found it."""
    found: komb.Blanket = pickle.loads(pickle.dumps(case.blanket))
    assert found.with_table(case.data.raw).explain()[case.member].name == case.member


def roles(case: Case) -> None:
    case.found(case.blanket.roles())


def effects(case: Case) -> None:
    assert case.blanket.effects[case.member].alone >= 0


def ranking(case: Case) -> None:
    entries = [entry.column for entry in case.blanket.ranking()]
    case.found(entries[:3])


def picture(case: Case) -> None:
    title = case.blanket.plot().get_title(loc="left")
    assert title == f"Markov blanket of {case.target}"


def read_back(case: Case) -> None:
    assert komb.Blanket.from_dict(json.loads(case.blanket.to_json())) == case.blanket


def to_frame(case: Case) -> None:
    case.found(case.blanket.to_frame()["member"].to_list())


def printed(case: Case) -> None:
    assert case.member in str(case.blanket)
    assert case.member in case.blanket._repr_html_()


def make_table(case: Case) -> None:
    case.found(komb.table(case.data.raw, **case.data.reading).names)


def store(case: Case) -> None:
    case.found(case.data.store(case.folder / "again.komb").names)


def command(case: Case) -> None:
    """On a file of the same rows, with the same said in options."""
    options: dict[str, list[str]] = {"--given": [*case.data.known.get("given", [])]}
    groups = case.data.reading.get("groups", {})
    options["--group"] = [f"{name}={','.join(members)}" for name, members in groups.items()]
    if "weights" in case.data.reading:
        options["--weights"] = [case.data.reading["weights"]]
    if "knowledge" in case.data.known:
        known = case.folder / "known.toml"
        known.write_text(f"tiers = {json.dumps(case.data.known['knowledge']['tiers'])}\n")
        options["--knowledge"] = [str(known)]
    said = [word for name, values in options.items() for value in values for word in (name, value)]
    with pytest.raises(SystemExit) as stop:
        cli.main(["find", str(_file_of(case)), "--target", case.target, "--quiet", *said])
    assert not stop.value.code


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

MODELS = "network field graph"
LISTED = (
    ("csv stored limited bed", "selector", "takes no table that was read by komb"),
    ("limited dask", "resume", "notes nothing of what is counted part by part"),
    (MODELS, "make_table store", "has no rows to encode"),
    (MODELS, "stability explain explain_elsewhere effects ranking selector", "needs rows"),
    (f"dask {MODELS}", "command", "reads files only"),
)
"""Kinds, functions that do not work for them, and why; one line for all that have one cause."""

HOLES = {
    (kind, function): f"{function}: {reason}"
    for kinds, functions, reason in LISTED
    for kind, function in product(kinds.split(), functions.split())
}

N_HOLES = 34
"""Only goes down: where something begins to work, its test fails until the hole is gone."""

SAID = (InputError, TypeError, AttributeError, ValueError, AssertionError)
"""How a call says that it cannot do what was asked for."""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local_client(processes=False) as client:
        yield client


@pytest.fixture(scope="module")
def cases(request: Any, tmp_path_factory: Any) -> Callable[[str], Case]:
    @cache
    def make(kind: str) -> Case:
        if kind == "dask":
            request.getfixturevalue("client")  # the active client counts
        return make_case(kind, tmp_path_factory.mktemp(kind))

    return make


def _parameters() -> Iterator[Any]:
    for kind, function in product(KINDS, FUNCTIONS):
        reason = HOLES.get((kind, function))
        hole = pytest.mark.xfail(reason=reason or "", raises=SAID, strict=True)
        yield pytest.param(kind, function, marks=[hole] if reason else [])


@pytest.mark.parametrize(("kind", "function"), list(_parameters()))
def test_it_works(cases: Callable[[str], Case], kind: str, function: str) -> None:
    FUNCTIONS[function](cases(kind))


def test_holes_only_go_away() -> None:
    assert len(HOLES) == N_HOLES
    assert HOLES.keys() <= set(product(KINDS, FUNCTIONS))
