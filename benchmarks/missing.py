"""Missing values: what leaving out rows test by test costs, and what it does to errors.

    python benchmarks/missing.py [--data FOLDER] [--part speed|errors] [--networks NAME ...]

The first part deletes values of a network's sample at random and searches it with each test on the
rows that are complete for its variables: seconds beside those of the complete table. The searches
differ too, for less is found in less data, so seconds per test are printed as well. The second part
measures how often a G-test calls two columns dependent given a third, when they are not and when
they are, for each way to treat missing values.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import komb
from common import NETWORKS, Samples, print_table
from komb.citests.engines import open_engine
from komb.data.parts import CodesHere
from komb.data.table import DiscreteTable

Codes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# ------------------------------------------------------------------------------------------- speed

SHARES = (0.0, 0.01, 0.05, 0.2)
N_TARGETS = 5
REPEATS = 3

SEARCHES: dict[str, dict[str, Any]] = {
    "komb (1,1)": {"method": "komb", "order": 1, "max_separator": 1, "test": "g-sci"},
    "komb (2,2)": {"method": "komb", "order": 2, "max_separator": 2, "test": "g-sci"},
    "mmmb, g adjusted": {"method": "mmmb", "test": "g", "df": "adjusted"},
}


def with_missing(codes: npt.NDArray[Any], is_missing: Mask) -> DiscreteTable:
    """Make a table of codes ``[column, row]`` in which some values are missing."""
    columns, levels = [], []
    for column, gone in zip(codes.astype(np.int64), is_missing, strict=True):
        found, there = np.unique(column[~gone], return_inverse=True)
        coded = np.full(len(column), len(found))
        coded[~gone] = there
        columns.append(coded)
        levels.append(tuple(found.tolist()))
    dtype = np.uint8 if max(map(len, levels)) < 256 else np.uint16
    parts = CodesHere(np.array(columns).astype(dtype))
    return DiscreteTable(tuple(range(len(levels))), parts, tuple(levels))


def delete_at_random(table: DiscreteTable, share: float) -> DiscreteTable:
    rng = np.random.default_rng(round(1000 * share))
    return with_missing(table.codes, rng.random(table.codes.shape) < share)


def time_search(table: DiscreteTable, targets: list[int], options: dict[str, Any]) -> Any:
    """Seconds of processor time for all targets, best of several runs each, and tests."""
    seconds = tests = 0.0
    for target in targets:
        best = float("inf")
        for _ in range(REPEATS):
            started = time.process_time()
            blanket = komb.markov_blanket(table, table.names[target], **options)
            best = min(best, time.process_time() - started)
        seconds += best
        tests += blanket.tests
    return seconds, tests


def speed(networks: list[str], data: Path | None) -> None:
    rows = []
    for name in networks:
        samples = Samples(name, data)
        complete, targets = samples.table(1), samples.largest(N_TARGETS)
        tables = {share: delete_at_random(complete, share) for share in SHARES}
        komb.markov_blanket(tables[0.05], 0)  # compiles
        for label, options in SEARCHES.items():
            before, before_tests = time_search(complete, targets, options)
            for share, table in tables.items():
                seconds, tests = time_search(table, targets, options)
                a_test = (seconds / tests) / (before / before_tests)
                rows.append((
                    name, label, f"{share:.0%}", f"{seconds / len(targets) * 1e3:.1f}",
                    f"{seconds / before:.2f}x", f"{tests / before_tests:.2f}x", f"{a_test:.2f}x",
                ))  # fmt: skip
    print_table(
        ("network", "search", "missing", "ms per target", "time", "tests", "time per test"), rows
    )


# ------------------------------------------------------------------------------------------ errors

N_ROWS = 1000
LEVELS = 3
X, Y, Z, V = range(4)  # V is an effect of X and Y


def draw(rng: np.random.Generator, effect: float) -> Codes:
    """Draw X and Y, which depend on Z, and on each other in a share ``effect`` of the rows."""

    def follow(other: Codes, share: float) -> Codes:
        return np.where(rng.random(N_ROWS) < share, other, rng.integers(0, LEVELS, N_ROWS))

    z = rng.integers(0, LEVELS, N_ROWS)
    x = follow(z, 0.5)
    y = np.where(rng.random(N_ROWS) < effect, x, follow(z, 0.5))
    v = follow((x + y) // 2, 0.8)
    return np.array([x, y, z, v])


def at_random(codes: Codes, rng: np.random.Generator) -> Mask:
    return rng.random(codes.shape) < 0.15


def by_level(driver: Codes, rng: np.random.Generator) -> Mask:
    """Delete 5, 15 or 40 % of the values, by the level of a driver."""
    shares = np.array([0.05, 0.15, 0.4])
    gone: Mask = rng.random(driver.shape) < shares[driver]
    return gone


def by_condition(codes: Codes, rng: np.random.Generator) -> Mask:
    gone = by_level(np.broadcast_to(codes[Z], codes.shape), rng)
    gone[Z] = False
    return gone


def by_effect(codes: Codes, rng: np.random.Generator) -> Mask:
    gone = by_level(np.broadcast_to(codes[V], codes.shape), rng)
    gone[V] = False
    return gone


MECHANISMS: dict[str, Callable[[Codes, np.random.Generator], Mask]] = {
    "nothing missing": lambda codes, _: np.zeros(codes.shape, dtype=np.bool_),
    "completely at random": at_random,
    "by the condition Z": by_condition,
    "by V, an effect of both": by_effect,
    "by the value itself": by_level,
}


def as_level(codes: Codes, gone: Mask) -> DiscreteTable:
    return DiscreteTable.from_codes(np.where(gone, LEVELS, codes).T)


def whole_rows(codes: Codes, gone: Mask) -> DiscreteTable:
    return DiscreteTable.from_codes(codes[:, ~gone.any(axis=0)].T)


TREATMENTS = {"level": as_level, "testwise": with_missing, "whole rows": whole_rows}


def rejections(mechanism: str, effect: float, draws: int) -> dict[str, npt.NDArray[np.float64]]:
    """p-values of X against Y given Z, by treatment."""
    p_values: dict[str, list[float]] = {treatment: [] for treatment in TREATMENTS}
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        codes = draw(rng, effect)
        gone = MECHANISMS[mechanism](codes, rng)
        for treatment, make in TREATMENTS.items():
            p_value = open_engine(make(codes, gone), "g").outcome(Y, X, frozenset({Z})).p_value
            assert p_value is not None
            p_values[treatment].append(p_value)
    return {treatment: np.array(mine) for treatment, mine in p_values.items()}


def errors(draws: int) -> None:
    rows = []
    for mechanism in MECHANISMS:
        independent = rejections(mechanism, 0.0, draws)
        dependent = rejections(mechanism, 0.12, draws // 4)
        for treatment in TREATMENTS:
            p_values = independent[treatment]
            rows.append((
                mechanism, treatment, f"{(p_values <= 0.01).mean():.3f}",
                f"{(p_values <= 0.05).mean():.3f}",
                f"{(dependent[treatment] <= 0.01).mean():.2f}",
            ))  # fmt: skip
    header = ("values are missing", "treated as", "false alarms .01", ".05", "power at .01")
    print_table(header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the MMHC samples")
    parser.add_argument("--part", choices=("speed", "errors"), help="both if left out")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=["Alarm1"])
    parser.add_argument("--draws", type=int, default=2000)
    arguments = parser.parse_args()
    if arguments.part != "errors":
        speed(arguments.networks, arguments.data)
        print()
    if arguments.part != "speed":
        errors(arguments.draws)


if __name__ == "__main__":
    main()
