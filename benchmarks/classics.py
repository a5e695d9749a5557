"""The eight classic methods: how right they are, and how fast beside pyCausalFS.

    python benchmarks/classics.py [--data FOLDER] [--samples N]
    python benchmarks/classics.py --peer FOLDER [--data FOLDER] [--targets N] [--methods NAME ...]
    python benchmarks/classics.py --speed [--data FOLDER] [--methods NAME ...]

The first prints the mean F1 of each method under three rules of testing, beside the figures of the
paper that introduced kOMB (which used pyCausalFS): alpha .01, the ten largest blankets of each
network. The second makes an environment of its own in the folder given to ``--peer``, installs
pyCausalFS into it and runs both on the first sample of Alarm, target by target: seconds, tests and
F1. That takes from minutes to hours, depending on the methods; what is finished is printed at once.
The third prints milliseconds of processor time per target on the first sample of Alarm, test
``g-sci``: of the first search on a table, and of later ones, which find buffers and bitmaps ready.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

import komb
from common import NETWORKS, Samples, f1_score, print_table
from peers.environment import make_environment
from peers.pycausalfs_run import METHODS, REQUIREMENTS

ALPHA = 0.01
REPEATS = 3

#: Test and rule for its degrees of freedom.
RULES = (("g", "observed"), ("g-sci", "observed"), ("g", "adjusted"))

#: Mean F1 in the paper, network by network.
PAPER = {
    "gs": {"Alarm1": 0.3434, "Barley": 0.2113, "Insurance": 0.4615, "Mildew": 0.2867},
    "iamb": {"Alarm1": 0.6931, "Barley": 0.3373, "Insurance": 0.6293, "Mildew": 0.4677},
    "hiton-mb": {"Alarm1": 0.7636, "Barley": 0.3400, "Insurance": 0.6746, "Mildew": 0.4918},
    "mmmb": {"Alarm1": 0.7692, "Barley": 0.3298, "Insurance": 0.6978, "Mildew": 0.4861},
    "pcmb": {"Alarm1": 0.7371, "Barley": 0.2284, "Insurance": 0.6299, "Mildew": 0.4156},
    "lrh": {"Alarm1": 0.6813, "Barley": 0.3373, "Insurance": 0.6281, "Mildew": 0.4674},
    "stmb": {"Alarm1": 0.6598, "Barley": 0.2145, "Insurance": 0.5648, "Mildew": 0.2734},
    "bamb": {"Alarm1": 0.6742, "Barley": 0.3385, "Insurance": 0.6588, "Mildew": 0.4945},
}


def score(samples: Samples, table: komb.DiscreteTable, target: int, blanket: komb.Blanket) -> float:
    found = {table.index(member) for member in blanket}
    return f1_score(samples.blankets[target], found)


def quality(data: Path | None, n_samples: int, methods: Sequence[str]) -> None:
    """Mean F1 and milliseconds a target of every method under every rule."""
    for name in NETWORKS:
        samples = Samples(name, data)
        tables = [samples.table(number) for number in range(1, n_samples + 1)]
        rows = []
        for method in methods:
            row = [method, f"{PAPER[method][name]:.4f}"]
            for test, df in RULES:
                blankets = [
                    (table, target, find(table, target, method, test, df))
                    for table in tables
                    for target in samples.largest()
                ]
                f1 = mean(score(samples, *blanket) for blanket in blankets)
                milliseconds = 1e3 * mean(blanket.seconds for _, _, blanket in blankets)
                mark = "" if f1 >= PAPER[method][name] else " (lower)"
                row += [f"{f1:.4f}{mark}", f"{milliseconds:.0f}"]
            rows.append(row)
        print(f"{name}, {n_samples} samples of 5,000 rows, ten largest blankets: mean F1")
        header = ["method", "paper"]
        for test, df in RULES:
            header += [f"{test}, {df} df", "ms"]
        print_table(header, rows)
        print(flush=True)


def find(table: komb.DiscreteTable, target: int, method: str, test: str, df: str) -> komb.Blanket:
    name = table.names[target]
    return komb.markov_blanket(table, name, method=method, test=test, df=df, alpha=ALPHA)


def speed(data: Path | None, methods: Sequence[str]) -> None:
    """Processor time per target, medians of the ten largest blankets."""
    samples = Samples("Alarm1", data)
    table = samples.table(1)
    rows = []
    for method in methods:
        find(table, 0, method, "g-sci", "observed")  # compile before any clock starts
        first: list[float] = []
        later: list[float] = []
        for target in samples.largest():
            for times in (first, later):
                fresh = times is first
                best = min(
                    _milliseconds(samples.table(1) if fresh else table, target, method)
                    for _ in range(REPEATS)
                )
                times.append(best)
        rows.append((method, f"{median(first):.1f}", f"{median(later):.1f}", f"{max(later):.1f}"))
    print_table(("method", "first search ms", "later ms", "slowest later"), rows)


def _milliseconds(table: komb.DiscreteTable, target: int, method: str) -> float:
    started = time.process_time()
    find(table, target, method, "g-sci", "observed")
    return 1e3 * (time.process_time() - started)


def beside_pycausalfs(
    folder: Path, data: Path | None, n_targets: int, methods: Sequence[str]
) -> None:
    """Seconds and tests per target of both, one target after the other."""
    python = make_environment(folder, REQUIREMENTS)
    samples = Samples("Alarm1", data)
    table = samples.table(1)
    targets = samples.largest(n_targets)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        codes = Path(temporary) / "codes.npy"
        np.save(codes, table.codes.T)
        for method in methods:
            request = {"method": method, "alpha": ALPHA, "data": str(codes), "targets": targets}
            results = []
            for theirs in run_peer(python, request):
                ours = time_ours(samples, table, theirs["target"], method)
                results.append((theirs, ours))
                print_target(samples, method, theirs, ours)
            rows.append(summary(method, results))
    print()
    print("Alarm1, sample 1, alpha .01; komb with the G test and observed degrees of freedom")
    print_table(
        ("method", "targets", "pyCausalFS s", "komb ms", "faster by", "their tests", "our tests",
         "their F1", "our F1"),
        rows,
    )  # fmt: skip


def run_peer(python: Path, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    script = Path(__file__).parent / "peers" / "pycausalfs_run.py"
    with subprocess.Popen(
        [python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as peer:
        assert peer.stdin is not None
        assert peer.stdout is not None
        peer.stdin.write(json.dumps(request))
        peer.stdin.close()
        yield from map(json.loads, peer.stdout)
    if peer.returncode:
        raise SystemExit(f"pyCausalFS failed on {request['method']}.")


def time_ours(
    samples: Samples, table: komb.DiscreteTable, target: int, method: str
) -> dict[str, Any]:
    """Best of several runs: they are so short that anything disturbs them."""
    best = float("inf")
    for _ in range(REPEATS):
        started = time.perf_counter()
        blanket = find(table, target, method, "g", "observed")
        best = min(best, time.perf_counter() - started)
    f1 = score(samples, table, target, blanket)
    return {"seconds": best, "tests": blanket.tests, "f1": f1}


def print_target(
    samples: Samples, method: str, theirs: dict[str, Any], ours: dict[str, Any]
) -> None:
    theirs["f1"] = f1_score(samples.blankets[theirs["target"]], set(theirs["blanket"]))
    print(
        f"{method} target {theirs['target']}: {theirs['seconds']:.2f} s and {theirs['tests']} tests"
        f" / {ours['seconds'] * 1e3:.1f} ms and {ours['tests']} tests",
        flush=True,
    )


def summary(
    method: str, results: Sequence[tuple[dict[str, Any], dict[str, Any]]]
) -> tuple[str, ...]:
    def average(side: int, key: str) -> float:
        return float(mean(result[side][key] for result in results))

    return (
        method,
        str(len(results)),
        f"{average(0, 'seconds'):.2f}",
        f"{average(1, 'seconds') * 1e3:.1f}",
        f"{average(0, 'seconds') / average(1, 'seconds'):,.0f}x",
        f"{average(0, 'tests'):.0f}",
        f"{average(1, 'tests'):.0f}",
        f"{average(0, 'f1'):.3f}",
        f"{average(1, 'f1'):.3f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the MMHC samples")
    parser.add_argument("--samples", type=int, default=1, help="samples a network")
    parser.add_argument("--peer", type=Path, help="folder for an environment with pyCausalFS")
    parser.add_argument("--speed", action="store_true", help="milliseconds per target alone")
    parser.add_argument("--targets", type=int, default=10, help="targets to run beside pyCausalFS")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    arguments = parser.parse_args()
    if arguments.speed:
        speed(arguments.data, arguments.methods)
    elif arguments.peer is None:
        quality(arguments.data, arguments.samples, arguments.methods)
    else:
        beside_pycausalfs(arguments.peer, arguments.data, arguments.targets, arguments.methods)


if __name__ == "__main__":
    main()
