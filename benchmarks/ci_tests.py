"""One conditional-independence test: komb beside causal-learn and pyAgrum, in one process.

    python benchmarks/ci_tests.py [--data FOLDER]

Every library decides the same tests with the G statistic, none from a cache. komb is given them in
batches, as its searches do; the others have no batches.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from common import Samples, best_of, print_table
from komb.citests.engines import open_engine
from komb.data.table import DiscreteTable

TARGETS = 4
SETS_PER_TARGET = 25
PEER_TESTS = 40

Questions = list[tuple[set[int], frozenset[int]]]


def make_questions(n: int, target: int, size: int, seed: int) -> Questions:
    rng = np.random.default_rng(seed)
    others = [v for v in range(n) if v != target]
    questions: Questions = []
    for _ in range(SETS_PER_TARGET):
        given = frozenset(int(v) for v in rng.choice(others, size, replace=False))
        questions.append((set(others) - given, given))
    return questions


def time_komb(table: DiscreteTable, size: int, test: str) -> float:
    total = tests = 0.0
    for target in range(TARGETS):
        questions = make_questions(table.n_columns, target, size, seed=target)
        total += min(time_questions(table, test, target, questions) for _ in range(7))
        tests += sum(len(asked) for asked, _ in questions)
    return total / tests


def time_questions(table: DiscreteTable, test: str, target: int, questions: Questions) -> float:
    """Ask an engine that remembers nothing, but has prepared the target, as once a search."""
    engine = open_engine(table, test)
    engine.evidence(target, [({(target + 1) % table.n_columns}, frozenset())])
    started = perf_counter()
    engine.evidence(target, questions, wants_bits=False)
    return perf_counter() - started


def peer_tests(table: DiscreteTable, size: int) -> list[tuple[int, int, list[int]]]:
    tests = [
        (target, candidate, sorted(given))
        for target in range(TARGETS)
        for candidates, given in make_questions(table.n_columns, target, size, seed=target)
        for candidate in sorted(candidates)
    ]
    chosen = np.random.default_rng(1).choice(len(tests), PEER_TESTS, replace=False)
    return [tests[index] for index in chosen]


def time_causal_learn(table: DiscreteTable, size: int) -> float:
    from causallearn.utils.cit import CIT

    test = CIT(table.codes.T.astype(np.int64), "gsq")
    tests = peer_tests(table, size)

    def work() -> None:
        test.pvalue_cache.clear()
        for target, candidate, given in tests:
            test(target, candidate, given)

    return best_of(3, work) / len(tests)


def time_pyagrum(table: DiscreteTable, size: int) -> float:
    import pandas as pd

    gum: Any = import_module("pyagrum")

    frame = pd.DataFrame({f"v{i}": codes.astype(str) for i, codes in enumerate(table.codes)})
    tests = peer_tests(table, size)
    best = float("inf")
    for _ in range(3):
        learner = gum.BNLearner(frame)  # a new one each time: it keeps counts
        learner.G2("v0", "v1")

        def work(learner: Any = learner) -> None:
            for target, candidate, given in tests:
                learner.G2(f"v{target}", f"v{candidate}", [f"v{v}" for v in given])

        best = min(best, best_of(1, work))
    return best / len(tests)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the MMHC samples")
    arguments = parser.parse_args()
    rows = []
    for name in ("Alarm1", "Barley"):
        table = Samples(name, arguments.data).table(1)
        for size in (1, 3):
            ours = time_komb(table, size, "g")
            default = time_komb(table, size, "g-sci")
            causal_learn, agrum = time_causal_learn(table, size), time_pyagrum(table, size)
            rows.append((
                name, str(size), f"{ours * 1e6:.2f}", f"{default * 1e6:.2f}",
                f"{causal_learn * 1e6:.0f}", f"{agrum * 1e6:.0f}",
                f"{causal_learn / ours:.0f}x", f"{agrum / ours:.0f}x",
            ))  # fmt: skip
    print_table(
        ("data", "conditions", "komb g, us", "komb g-sci, us", "causal-learn, us", "pyAgrum, us",
         "causal-learn / komb", "pyAgrum / komb"),
        rows,
    )  # fmt: skip


if __name__ == "__main__":
    main()
