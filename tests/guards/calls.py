"""Every call of komb that the guards make: where its surface changes, this file changes, alone."""

from __future__ import annotations

import json
import pickle
import pkgutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import komb
from komb import cli
from komb.api.options import Search
from komb.api.run import Run
from komb.engine.engine import Engine
from komb.errors import InputError

NO_TEST = "-"  # of a model, which knows

Query = tuple[str, str, tuple[str, ...]]
"""A target, a candidate, and what is held fixed."""

REFUSALS: tuple[type[Exception], ...] = (InputError, TypeError, AttributeError)
"""What a call raises that does not do what was asked for: also a keyword that is not there."""


@dataclass(frozen=True)
class Data:
    """A table or model, how its columns are read, and what has to be said in every search."""

    raw: Any
    reading: Mapping[str, Any] = field(default_factory=dict)  # of columns, rows and memory
    known: Mapping[str, Any] = field(default_factory=dict)  # covariates and knowledge

    @property
    def options(self) -> dict[str, Any]:
        return {**self.reading, **self.known}

    def read(self) -> Any:
        """The table, read as has to be said; what is read by itself goes to komb as it is."""
        return komb.table(self.raw, **self.reading) if self.reading else self.raw


class Answer(NamedTuple):
    """What one test says: measured alone, and decided and weighed among others."""

    statistic: float | None
    df: float | None
    p_value: float | None
    bits: float
    test: str
    is_reliable: bool
    is_independent: bool
    is_decided_so: bool  # the same in a lot of tests, which is another way through the code


def folder() -> str:
    return str(Path(komb.__file__).parent)


def where() -> str:
    """Whose answers these are."""
    return f"komb {komb.__version__} in {folder()}"


def find(data: Data, target: str, **options: Any) -> komb.Blanket:
    test = options.get("test", "auto")
    if "df" not in [option.name for option in komb.tests()[test].options]:
        options.pop("df", None)  # is refused where it was ignored
    if options.get("start") == "iamb":
        first = find(data, target, **{**options, "method": "iamb", "start": ()})
        options = {**options, "start": first.members}
    return komb.markov_blanket(data.read(), target, **data.known, **options)


def find_all(data: Data, targets: Iterable[str] | None = None, **options: Any) -> komb.Blankets:
    return komb.markov_blankets(data.read(), targets, **data.known, **options)


def compare(data: Data, target: str, methods: Sequence[str]) -> komb.Comparison:
    return komb.compare(data.read(), target, methods=methods, **data.known)


def run_test(data: Data, x: str, y: str, given: Sequence[str] = ()) -> komb.TestResult:
    held = [*data.known.get("given", ()), *given]  # what is known else is for searches
    return komb.ci_test(data.read(), x, y, held)


def walk_path(data: Data, target: str, orders: Sequence[int]) -> komb.BlanketPath:
    return komb.blanket_path(data.read(), target, orders=orders, max_separators=[1], **data.known)


def write_report(data: Data, target: str, path: Path) -> Any:
    return komb.report(data.read(), target, path, methods=["iamb"], **data.known)


def select(data: Data, target: str) -> list[str]:
    """Fit a selector, and return which of the features it lets through."""
    reading, known = dict(data.reading), dict(data.known)
    features, values = _split(data.raw, target)
    weights = reading.pop("weights", None)
    counted = {}
    if weights is not None:
        counted["sample_weight"] = features[weights]
        features = features.drop(columns=[weights])
    selector = komb.MarkovBlanketSelector(options=known or None, reading=reading or None).fit(
        features, values, **counted
    )
    assert selector.transform(features).shape[1] == selector.get_support().sum()
    return [str(name) for name in selector.get_feature_names_out()]


def _split(raw: Any, target: str) -> tuple[Any, Any]:
    if isinstance(raw, komb.DiscreteTable):
        others = [name for name in raw.names if name != target]
        return raw.select(others), raw.column(target)
    if hasattr(raw, "drop"):
        return raw.drop(columns=[target]), raw[target]
    raise TypeError("a model has no rows to learn from")


def roles(blanket: komb.Blanket) -> Mapping[Any, Any]:
    return blanket.roles()


def effects(blanket: komb.Blanket) -> Any:
    return blanket.effects


def read_back(blanket: komb.Blanket) -> komb.Blanket:
    return komb.Blanket.from_dict(json.loads(blanket.to_json()))


def explain_elsewhere(blanket: komb.Blanket, data: Data) -> komb.Explanation:
    """Explain a blanket that another process has found."""
    found: komb.Blanket = pickle.loads(pickle.dumps(blanket))
    return found.with_table(data.raw).explain()


def make_table(data: Data) -> komb.DiscreteTable:
    return komb.table(data.raw, **data.reading)


def read_table(path: Path, **options: Any) -> komb.DiscreteTable:
    return komb.read_table(path, **options)


def store(data: Data, path: Path, memory_limit: int | None = None) -> komb.DiscreteTable:
    """Write a table to disk, and open it."""
    later = {name: data.reading[name] for name in ("groups", "weights") if name in data.reading}
    first = {name: data.reading[name] for name in data.reading if name not in later}
    limit: dict[str, Any] = {} if memory_limit is None else {"memory_limit": memory_limit}
    komb.encode(data.raw, path, **{**first, **limit})
    return komb.read_table(path, **later, **limit)


def run_command(path: Path, target: str, arguments: Sequence[str]) -> int:
    """Run ``komb find``, and return its exit code."""
    try:
        cli.main(["find", str(path), "--target", target, "--quiet", *arguments])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def names_of_tests() -> list[str]:
    return list(komb.tests())


def names_of_methods() -> list[str]:
    return list(komb.algorithms())


def ask(data: Data, test: str, queries: Sequence[Query]) -> list[Answer]:
    """Make many tests. One by one, ``komb.ci_test`` would encode the table each time."""
    names, engine = _open(data, test)
    position = {name: place for place, name in enumerate(names)}
    answers: dict[Query, Answer] = {}
    for target in dict.fromkeys(query[0] for query in queries):
        own = [query for query in queries if query[0] == target]
        y = position[target]
        tests = [(position[x], frozenset(map(position.__getitem__, z))) for _, x, z in own]
        questions = [({x}, z) for x, z in tests]
        decided = engine.evidence(y, questions, wants_bits=False)
        weighed = engine.evidence(y, questions)
        outcomes = engine.outcomes(y, tests)
        for query, (x, _), outcome, depends, bits in zip(
            own, tests, outcomes, decided, weighed, strict=True
        ):
            answers[query] = Answer(
                outcome.statistic, outcome.df, outcome.p_value, bits.get(x, 0.0), outcome.test,
                outcome.reliable, outcome.independent, not depends,
            )  # fmt: skip
    return [answers[query] for query in queries]


def _open(data: Data, test: str) -> tuple[Sequence[Any], Engine]:
    """Open the engine that a search would have, or ask the model."""
    asked = data.known if test == NO_TEST else {"test": test, **data.known}
    run, _ = Run.open(data.read(), None, Search.of(method="komb", **asked))
    return run.names, run.open_engine()


def small_tables() -> dict[str, Data]:
    """500 rows of 6 columns: as a user has them, and encoded."""
    table = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=3)
    return {
        "columns": Data({name: table.column(name) for name in table.names}),
        "table": Data(table),
    }


def kernel_uses() -> dict[str, tuple[int, int]]:
    """How often each kernel in memory was read from disk, and how often it was compiled."""
    from komb.engine.compiling import Kernel

    uses = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("komb."):
            for kernel in vars(module).values():
                if isinstance(kernel, Kernel):
                    stats = kernel.compiled.stats
                    hits, misses = stats.cache_hits, stats.cache_misses
                    uses[kernel.py_func.__name__] = (sum(hits.values()), sum(misses.values()))
    return uses


def load_all_kernels() -> None:
    """Import every module that has kernels; none of them is compiled by that."""
    for package in ("komb.engine",):
        for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            import_module(found.name)
