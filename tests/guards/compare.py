"""Compares what tests and searches say with what was frozen.

``python -m tests.guards.compare`` compares everything, in some minutes, and prints for every kind
of table and every test how many answers were compared, and how many of them differ. Names of kinds
compare only those: ``python -m tests.guards.compare gaps "gaps as levels"``.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.guards import calls, freeze
from tests.guards.freeze import FLAGS, NUMBERS, Search, Table
from tests.guards.kinds import KINDS, Kind

CLOSE = 1e-9
"""Relative difference of statistics, of logarithms of p-values and of degrees of freedom."""

ABOUT = ("kind", "target", "options")
SHOWN = 20  # differences that are printed


def compare_tests(kind: Kind, name: str, test: str, was: Table | str, every: int = 1) -> list[str]:
    """List how answers of one test differ from the frozen ones; of every so many queries."""
    queries = freeze.draw_queries(kind.names)[::every]
    now = freeze.ask(kind, test, queries)
    if isinstance(was, str) or isinstance(now, str):
        old, new = (t if isinstance(t, str) else "answered" for t in (was, now))
        return [] if old == new else [f"{name}, test {test}: was {old}, is {new}"]
    was = Table(was.numbers[:, ::every], was.flags[::every], was.deciders[::every])
    return [
        f"{name}, test {test}, {x} and {y} given {', '.join(z) or 'nothing'}: {difference}"
        for place, (y, x, z) in enumerate(queries)
        for difference in _differences(was, now, place)
    ]


def _differences(was: Table, now: Table, place: int) -> Iterator[str]:
    for row, label in enumerate(NUMBERS):
        old, new = float(was.numbers[row, place]), float(now.numbers[row, place])
        if not is_close(old, new):
            yield f"{label} was {old!r}, is {new!r}"
    for bit, label in enumerate(FLAGS):
        old, new = (int(table.flags[place]) >> bit & 1 for table in (was, now))
        if old != new:
            yield f"{label} was {bool(old)}, is {bool(new)}"
    if was.deciders[place] != now.deciders[place]:
        yield f"was decided by {was.deciders[place]}, is by {now.deciders[place]}"


def is_close(old: float, new: float) -> bool:
    """Whether two numbers agree; near 0 a statistic is what is left of rounding."""
    return bool(np.isclose(old, new, rtol=CLOSE, atol=CLOSE, equal_nan=True))


def compare_search(kind: Kind, was: Search) -> list[str]:
    """List how a search differs from the frozen one."""
    now = freeze.search(kind, was["target"], was["options"])
    where = f"{was['kind']}, search for {was['target']} with {was['options']}"
    keys = dict.fromkeys(key for key in (*was, *now) if key not in ABOUT)
    return [
        f"{where}: {key} was {was.get(key)}, is {now.get(key)}"
        for key in keys
        if not is_same(was.get(key), now.get(key))
    ]


def compare_searches(kind: Kind, searches: list[Search]) -> list[str]:
    return [difference for was in searches for difference in compare_search(kind, was)]


def is_same(old: Any, new: Any) -> bool:
    """Whether two values of JSON are the same, with numbers that are close."""
    if isinstance(old, float) and isinstance(new, float) and math.isfinite(old):
        return is_close(old, new)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(is_same, old, new))
    if isinstance(old, dict) and isinstance(new, dict):
        return list(old) == list(new) and all(is_same(old[key], new[key]) for key in old)
    return bool(old == new)


def main(wanted: list[str]) -> int:
    tables, frozen = freeze.load_tests(), freeze.load_searches()
    different: list[str] = []
    print(calls.where())
    print(f"{'kind':16}{'of':8}{'compared':>10}{'different':>11}")
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted or KINDS:
            kind = KINDS[name](Path(folder))
            if kind.drawn != frozen["drawn"][name]:
                different.append(f"{name}: other data were drawn, so answers say nothing")
                continue
            for key, was in tables.items():
                if key.split("/")[0] == name:
                    test = key.split("/")[1]
                    found = compare_tests(kind, name, test, was)
                    n = 1 if isinstance(was, str) else was.flags.size
                    different += _report(name, test, n, found)
            searches = [each for each in frozen["searches"] if each["kind"] == name]
            different += _report(name, "search", len(searches), compare_searches(kind, searches))
    print(*different[:SHOWN], sep="\n")
    return 1 if different else 0


def _report(name: str, of: str, compared: int, found: list[str]) -> list[str]:
    print(f"{name:16}{of:8}{compared:>10}{len(found):>11}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
