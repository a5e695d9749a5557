"""Writes down what tests and searches say today; ``compare`` holds later versions to it.

``python -m tests.guards.freeze`` writes ``frozen/tests.npz`` and ``frozen/searches.json.gz``. To be
run again only where an answer is meant to change, and then to be said in the change log.
"""

from __future__ import annotations

import gzip
import json
import math
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tests.guards import calls
from tests.guards.calls import Answer, Query
from tests.guards.kinds import KINDS, Kind

FOLDER = Path(__file__).parent / "frozen"
TESTS, SEARCHES = FOLDER / "tests.npz", FOLDER / "searches.json.gz"

QUERIES = 210  # of each kind of table, asked of every test
MOST_HELD = 4  # columns in a condition
KEPT_BITS = 40  # of a mantissa: far more than are compared, and files are a third smaller

Floats = npt.NDArray[np.float64]
Search = dict[str, Any]


class Table(NamedTuple):
    """Answers of one test on one kind of table, as arrays."""

    numbers: Floats  # a row for each of NUMBERS
    flags: npt.NDArray[np.uint8]  # of FLAGS, a bit each
    deciders: npt.NDArray[np.str_]  # which test decided


NUMBERS = ("statistic", "df", "log2 p", "bits")
FLAGS = ("is_reliable", "is_independent", "is_decided_so")


def draw_queries(names: tuple[str, ...], n: int = QUERIES) -> list[Query]:
    """Draw different tests; conditions have 0 to 4 columns, each size equally often."""
    random = np.random.default_rng(len(names))
    drawn: dict[Query, None] = {}
    while len(drawn) < n:
        y, x, *held = random.permutation(len(names)).tolist()[: 2 + len(drawn) % (MOST_HELD + 1)]
        drawn[names[y], names[x], tuple(names[z] for z in sorted(held))] = None
    return list(drawn)


def tabulate(answers: list[Answer]) -> Table:
    numbers = [[a.statistic, a.df, _log2(a.p_value), a.bits] for a in answers]
    flags = [sum(getattr(a, name) << bit for bit, name in enumerate(FLAGS)) for a in answers]
    return Table(
        np.array(numbers, np.float64).T,
        np.array(flags, np.uint8),
        np.array([a.test for a in answers]),
    )


def _log2(p_value: float | None) -> float | None:
    if p_value is None:
        return None
    return math.log2(p_value) if p_value > 0 else -math.inf


def tests_for(name: str, kind: Kind) -> list[str]:
    """All tests; but permutations of many rows take minutes, and count them as they count few."""
    if kind.is_model:
        return [calls.NO_TEST]
    return [test for test in calls.names_of_tests() if (name, test) != ("long", "perm")]


def ask(kind: Kind, test: str, queries: list[Query]) -> Table | str:
    """Return answers, or the error if a test refuses that kind of table."""
    try:
        return tabulate(calls.ask(kind.data, test, queries))
    except calls.REFUSALS as error:
        return type(error).__name__


def plan_searches(name: str, kind: Kind) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield targets and options: all methods, all tests, and a grid of orders and separators."""
    first, other = kind.names[4], kind.names[-1]
    if name == "wide":
        yield from ((target, {"order": 1}) for target in kind.names[3:6])
        yield from ((other, {"method": "komb", "test": test}) for test in ("auto", "g-sci"))
        return
    for number, method in enumerate(calls.names_of_methods()):
        yield (first, other)[number % 2], {"method": method}
    yield first, {"method": "komb", "order": 2, "max_separator": 2}
    if kind.is_model:
        yield other, {"method": "komb", "order": 0, "exclude": [kind.names[0]]}
        return
    for test in tests_for(name, kind):
        yield first, {"method": "komb", "test": test, "alpha": 0.001}
        yield other, {"method": "iamb", "test": test, "df": "adjusted"}
    for test in ("g", "g-sci"):
        yield other, {"test": test}
    if name in ("copies", "few rows"):  # where columns can stand for each other, or hardly be seen
        yield from ((target, {"level": 0.1}) for target in kind.names)
    if name in ("levels", "gaps", "copies", "limited", "mixed"):
        for order in range(3):
            for bound in range(3):
                yield other, {"method": "komb", "order": order, "max_separator": bound}
        yield first, {"method": "komb", "start": "iamb"}
        yield first, {"order": 1, "level": 0.2, "include": [kind.names[0]]}
        yield first, {"method": "mmmb", "max_conditioning": 1, "exclude": [kind.names[1]]}
        yield other, {"method": "iamb", "max_conditioning": 2, "start": [kind.names[2]]}


def search(kind: Kind, target: str, options: dict[str, Any]) -> Search:
    """Return what a search finds, as JSON has it, or the error if it is refused."""
    try:
        blanket = calls.find(kind.data, target, **options)
    except calls.REFUSALS as error:
        return {"refused": type(error).__name__}
    found = {
        "members": [
            [m.name, m.witness, m.statistic, m.df, _log2(m.p_value), m.test, m.reliable]
            for m in blanket.evidence
        ],
        "equivalents": blanket.equivalents,
        "leaks": [leak.column for leak in blanket.leaks],
        "choices": {name: choice.value for name, choice in blanket.choices.items()},
    }
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def _round(numbers: Floats) -> Floats:
    mantissas, exponents = np.frexp(numbers)
    kept: Floats = np.ldexp(np.rint(np.ldexp(mantissas, KEPT_BITS)), exponents - KEPT_BITS)
    return kept


def save_tests(tables: dict[str, Table | str]) -> None:
    arrays: dict[str, Any] = {}
    for key, table in tables.items():
        if isinstance(table, str):
            arrays[key] = np.array(table)
            continue
        arrays[f"{key}/numbers"] = _round(table.numbers)
        arrays[f"{key}/flags"] = table.flags
        arrays[f"{key}/deciders"] = table.deciders
    np.savez_compressed(TESTS, **arrays)


def load_tests() -> dict[str, Table | str]:
    with np.load(TESTS) as stored:
        arrays = dict(stored)
    keys = dict.fromkeys("/".join(name.split("/")[:2]) for name in arrays)
    return {
        key: str(arrays[key])
        if key in arrays
        else Table(*(arrays[f"{key}/{part}"] for part in Table._fields))
        for key in keys
    }


def load_searches() -> dict[str, Any]:
    return json.loads(gzip.decompress(SEARCHES.read_bytes()))  # type: ignore[no-any-return]


def main() -> None:
    tables: dict[str, Table | str] = {}
    searches: list[Search] = []
    drawn: dict[str, int] = {}
    print(calls.where())
    with tempfile.TemporaryDirectory() as folder:
        for name, make in KINDS.items():
            kind = make(Path(folder))
            drawn[name] = kind.drawn
            queries = draw_queries(kind.names)
            began = time.perf_counter()
            for test in tests_for(name, kind):
                tables[f"{name}/{test}"] = ask(kind, test, queries)
            asked = time.perf_counter()
            for target, options in plan_searches(name, kind):
                found = search(kind, target, options)
                searches.append({"kind": name, "target": target, "options": options, **found})
            print(f"{name}: {asked - began:.1f} s, {time.perf_counter() - asked:.1f} s", flush=True)
    FOLDER.mkdir(exist_ok=True)
    save_tests(tables)
    text = json.dumps({"drawn": drawn, "searches": searches})
    SEARCHES.write_bytes(gzip.compress(text.encode(), mtime=0))
    answered = sum(table.flags.size for table in tables.values() if isinstance(table, Table))
    print(f"{answered} tests and {len(searches)} searches")


if __name__ == "__main__":
    main()
