"""How time and memory grow with rows, columns and workers, and the exponents of that growth.

    python benchmarks/scaling.py [rows columns pairs workers plink] [--out FOLDER] [--quick]

Each case runs in a process of its own, so that its peak of memory is its own; kernels are loaded
before the clock starts. Seconds are processor time of the search, all threads together, for other
programs may be running; those of ``workers`` are wall-clock seconds, for that is what workers save.

rows      default call on 20 columns of 2 to 8 levels, over the number of rows
columns   order 0 on 5,000 rows of three-level columns, over the number of columns; and encoding
pairs     order 1 of one target against all pairs of columns: pairs per second. From 10,000 columns
          on only the first seconds of the sweep are measured, for all of them are alike
workers   the blankets of 40 columns with 1 and 2 processes, and a sweep with 1 and 2 threads
plink     reading a .bed file, and a hidden pair among 10,000 variants with 2 % missing genotypes

An exponent is the slope of a line through the logarithms, over the cases that take more than a
tenth of a second more than the smallest. With ``--out`` they are drawn: ``scaling.png``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from common import print_table

Case = dict[str, Any]

COLUMNS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
ROWS = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
QUICK = 2  # cases of each part that are left with --quick
PAIR_SECONDS = 15.0  # of processor time, of a sweep that is not run to its end
WHOLE_SWEEP = 5_000  # columns up to which it is
MEGABYTE = 1 << 20


def status(name: str) -> int:
    """Bytes of memory of this process, as Linux tells them."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(name))


def measure(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> Any:
    """Return seconds, the peak of memory beyond what was there before, and what comes out."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before, started = status("VmRSS"), clock()
    result = work()
    return clock() - started, max(0, status("VmHWM") - before), result


# ------------------------------------------------------------------------------------------- cases


def genotypes(n_rows: int, n_columns: int, missing: float = 0.0) -> npt.NDArray[np.int8]:
    """Three-level columns ``[row, column]``, the last one a target of two levels.

    The columns at a tenth and at half of the table decide the target together, and each by itself
    says nothing about it.
    """
    rng = np.random.default_rng(0)
    table = np.empty((n_rows, n_columns + 1), dtype=np.int8)
    for first in range(0, n_columns, 1_000):
        width = min(1_000, n_columns - first)
        share = rng.uniform(0.1, 0.5, width).astype(np.float32)
        alleles = [rng.random((n_rows, width), dtype=np.float32) < share for _ in range(2)]
        table[:, first : first + width] = np.add(*(each.astype(np.int8) for each in alleles))
    pair = n_columns // 10, n_columns // 2
    for place in pair:  # fair ones
        table[:, place] = rng.integers(0, 2, n_rows)
    noise = rng.random(n_rows) < 0.25
    table[:, -1] = table[:, pair[0]] ^ table[:, pair[1]] ^ noise
    if missing:
        for first in range(0, n_columns, 1_000):
            block = table[:, first : min(first + 1_000, n_columns)]
            block[rng.random(block.shape, dtype=np.float32) < missing] = -1
    return table


def case_rows(n_rows: int, threads: int = 1) -> Case:
    import komb

    rng = np.random.default_rng(0)
    codes = np.empty((n_rows, 20), dtype=np.uint8)
    for column in range(20):  # each follows the one before in a third of the rows
        codes[:, column] = rng.integers(0, 2 + column % 7, n_rows, dtype=np.uint8)
        if column:
            follows = rng.random(n_rows, dtype=np.float32) < 1 / 3
            previous = codes[:, column - 1] % (2 + column % 7)
            np.copyto(codes[:, column], previous, where=follows)
    komb.markov_blanket(codes[:5_000], 10)
    seconds, encoding, table = measure(partial(komb.DiscreteTable.from_data, codes))
    del codes
    used, memory, blanket = measure(lambda: komb.markov_blanket(table, 10, n_jobs=threads))
    return {
        "encode s": seconds, "encode bytes": encoding, "s": used, "bytes": memory,
        "table": table.nbytes, "members": blanket.members,
    }  # fmt: skip


def case_columns(n_columns: int, n_rows: int = 5_000) -> Case:
    import komb

    data = genotypes(n_rows, n_columns)
    komb.markov_blanket(data[:, -50:], 49, order=0)
    seconds, encoding, table = measure(partial(komb.DiscreteTable.from_data, data))
    del data
    target = n_columns
    used, memory, blanket = measure(lambda: komb.markov_blanket(table, target, order=0, n_jobs=1))
    return {
        "encode s": seconds, "encode bytes": encoding, "s": used, "bytes": memory,
        "table": table.nbytes, "packed": packed_bytes(table), "members": blanket.members,
    }  # fmt: skip


def packed_bytes(table: Any) -> int:
    """Bytes of a table with one bit for each level of each value."""
    packed: int = int(table.cardinalities.sum()) * -(-table.n_rows // 8)
    return packed


class Enough(Exception):  # noqa: N818 - it is no error
    """What has been measured will do."""


def case_pairs(n_columns: int, n_rows: int = 5_000, threads: int = 1, missing: float = 0.0) -> Case:
    import komb

    data = genotypes(n_rows, n_columns, missing)
    treated = np.ma.masked_equal(data, -1) if missing else data
    komb.markov_blanket(treated[:1_500, -900:], 899, order=1)
    table = komb.DiscreteTable.from_codes(data, missing="testwise" if missing else "error")
    del data, treated
    marks: list[tuple[float, int]] = []

    def watch(progress: Any) -> None:
        if progress.phase == "groups" and progress.done:
            marks.append((time.process_time(), progress.done))
            is_long = n_columns > WHOLE_SWEEP
            if is_long and marks[-1][0] - marks[0][0] > PAIR_SECONDS:
                raise Enough

    def work() -> Any:
        try:
            return komb.markov_blanket(
                table, n_columns, order=1, n_jobs=threads, progress=watch
            ).members
        except Enough:
            return None

    used, memory, members = measure(work)
    (began, first), (ended, last) = marks[0], marks[-1]
    rate = (last - first) / (ended - began)
    n_pairs = math.comb(n_columns, 2)
    return {
        "rate": rate, "s": used if members is not None else n_pairs / rate,
        "is_whole": members is not None, "bytes": memory, "table": table.nbytes,
        "packed": packed_bytes(table), "members": members,
    }  # fmt: skip


def case_workers(workers: int) -> Case:
    import komb

    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (20_000, 40))
    for column in range(2, 40):
        codes[:, column] = np.where(
            rng.random(20_000) < 0.5, codes[:, column - 2], codes[:, column]
        )
    table = komb.DiscreteTable.from_codes(codes)
    komb.markov_blanket(table, 0)
    wide = komb.DiscreteTable.from_codes(genotypes(5_000, 4_000))
    komb.markov_blanket(wide.select(range(3_000)), 0, order=1)
    clock = time.perf_counter
    targets, _, _ = measure(lambda: komb.markov_blankets(table, n_jobs=workers), clock)
    sweep, _, _ = measure(lambda: komb.markov_blanket(wide, 4_000, order=1, n_jobs=workers), clock)
    return {"targets s": targets, "sweep s": sweep}


def case_plink(n_variants: int, n_people: int = 3_000) -> Case:
    import komb
    from sweeps import MISSING, write_plink

    data = genotypes(n_people, n_variants, missing=0.02)
    with tempfile.TemporaryDirectory() as folder:
        coded = np.where(data[:, :-1] < 0, MISSING, data[:, :-1]).T.astype(np.uint8)
        prefix = write_plink(Path(folder), coded, data[:, -1].astype(np.uint8))
        del data, coded
        bed = prefix.with_suffix(".bed")
        small = komb.read_table(bed, columns=[f"snp{i}" for i in range(900)] + ["phenotype"])
        komb.markov_blanket(small, "phenotype", order=1)
        size = bed.stat().st_size
        seconds, memory, table = measure(lambda: komb.read_table(bed))
    used, _, blanket = measure(lambda: komb.markov_blanket(table, "phenotype", order=1))
    return {"read s": seconds, "bytes": memory, "bed": size, "s": used, "members": blanket.members}


CASES: dict[str, Callable[..., Case]] = {
    "rows": case_rows,
    "columns": case_columns,
    "pairs": case_pairs,
    "workers": case_workers,
    "plink": case_plink,
}


def run(part: str, **arguments: Any) -> Case:
    """Run one case in a process of its own."""
    command = [sys.executable, __file__, "--case", part, "--arguments", json.dumps(arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    case: Case = json.loads(done.stdout.splitlines()[-1])
    print(f"  {part} {arguments}: {case}", file=sys.stderr, flush=True)
    return case


# ------------------------------------------------------------------------------------------ report


def exponent(sizes: list[float], values: list[float], least: float = 0.0) -> float:
    """Slope of the logarithms, of the cases with values above what does not grow."""
    kept = [(x, y) for x, y in zip(sizes, values, strict=True) if y > least]
    if len(kept) < 2:
        return math.nan
    x, y = np.log(np.array(kept)).T
    return float(np.polyfit(x, y, 1)[0])


def megabytes(size: float) -> str:
    return f"{size / MEGABYTE:,.0f}"


Curves = dict[str, tuple[list[float], list[float], str]]


def report_rows(sizes: tuple[int, ...], curves: Curves) -> None:
    cases = [run("rows", n_rows=size) for size in sizes]
    print_table(
        ["rows x 20", "encode s", "search s", "table MB", "search, MB beyond it"],
        [
            (
                f"{n:,}",
                f"{c['encode s']:.2f}",
                f"{c['s']:.2f}",
                megabytes(c["table"]),
                megabytes(c["bytes"]),
            )
            for n, c in zip(sizes, cases, strict=True)
        ],
    )
    add(curves, "default call, over rows", sizes, [c["s"] for c in cases], 0.3)
    add(curves, "memory of the search, over rows", sizes, [c["bytes"] for c in cases], 3e7)


def report_columns(sizes: tuple[int, ...], curves: Curves) -> None:
    cases = [run("columns", n_columns=size) for size in sizes]
    print_table(
        ["columns x 5,000", "encode s", "order 0 s", "table MB", "bits MB", "search, MB beyond"],
        [
            (
                f"{n:,}",
                f"{c['encode s']:.2f}",
                f"{c['s']:.2f}",
                megabytes(c["table"]),
                megabytes(c["packed"]),
                megabytes(c["bytes"]),
            )
            for n, c in zip(sizes, cases, strict=True)
        ],
    )
    add(curves, "order 0, over columns", sizes, [c["s"] for c in cases], 0.1)
    add(curves, "memory of order 0, over columns", sizes, [c["bytes"] for c in cases], 2e6)


def report_pairs(sizes: tuple[int, ...], curves: Curves) -> None:
    cases = [run("pairs", n_columns=size) for size in sizes]
    reference = run("pairs", n_columns=2_000)["rate"]
    print_table(
        (
            "columns x 5,000",
            "million pairs/s",
            "of that at 2,000",
            "s for all",
            "bits MB",
            "table + search / bits",
            "found",
        ),
        [
            (
                f"{n:,}",
                f"{c['rate'] / 1e6:.1f}",
                f"{c['rate'] / reference:.0%}",
                f"{c['s']:,.1f}{'' if c['is_whole'] else ' (worked out)'}",
                megabytes(c["packed"]),
                f"{(c['table'] + c['bytes']) / c['packed']:.1f}x",
                str(c["members"]),
            )
            for n, c in zip(sizes, cases, strict=True)
        ],
    )
    add(curves, "order 1, over columns", sizes, [c["s"] for c in cases], 0.1)


def report_workers(_: tuple[int, ...], __: Curves) -> None:
    one, two = run("workers", workers=1), run("workers", workers=2)
    print_table(
        ["", "1", "2", "times as fast"],
        [
            [what, f"{one[key]:.1f} s", f"{two[key]:.1f} s", f"{one[key] / two[key]:.2f}"]
            for what, key in [
                ("40 targets, processes", "targets s"),
                ("order 1 of 4,000 columns, threads", "sweep s"),
            ]
        ],
    )


def report_plink(sizes: tuple[int, ...], __: Curves) -> None:
    cases = [run("plink", n_variants=size) for size in sizes]
    print_table(
        ["variants x 3,000", ".bed MB", "read s", "memory / .bed", "order 1 s", "found"],
        [
            (
                f"{n:,}",
                megabytes(c["bed"]),
                f"{c['read s']:.2f}",
                f"{c['bytes'] / c['bed']:.1f}x",
                f"{c['s']:.1f}",
                str(c["members"]),
            )
            for n, c in zip(sizes, cases, strict=True)
        ],
    )


def add(
    curves: Curves, name: str, sizes: tuple[int, ...], values: list[float], least: float
) -> None:
    slope = exponent(list(map(float, sizes)), values, least)
    print(f"{name}: exponent {slope:.2f}\n")
    curves[name] = list(map(float, sizes)), values, f"{name}: {slope:.2f}"


def draw(curves: Curves, file: Path) -> None:
    """Draw seconds and bytes over sizes, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for name, (sizes, values, label) in curves.items():
        is_memory = name.startswith("memory")
        shown = [value / MEGABYTE for value in values] if is_memory else values
        (right if is_memory else left).loglog(sizes, shown, "o-", label=label)
    for axes, unit in ((left, "seconds of processor time"), (right, "megabytes beyond the table")):
        axes.set(xlabel="rows or columns", ylabel=unit)
        axes.grid(alpha=0.3)
        if axes.has_data():
            axes.legend(title="and exponent", fontsize="small")
    figure.savefig(file, dpi=120)
    print(f"drawn: {file}")


PARTS: dict[str, tuple[Callable[[tuple[int, ...], Curves], None], tuple[int, ...]]] = {
    "rows": (report_rows, ROWS),
    "columns": (report_columns, COLUMNS),
    "pairs": (report_pairs, (1_000, 3_000, 10_000, 30_000, 100_000)),
    "workers": (report_workers, ()),
    "plink": (report_plink, (2_000, 10_000)),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--out", type=Path, help="folder for scaling.png")
    parser.add_argument("--quick", action="store_true", help="only the smallest cases")
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    parser.add_argument("--arguments", default="{}", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(CASES[options.case](**json.loads(options.arguments)), default=str))
        return
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"there is no part {min(unknown)!r}; parts are: {', '.join(PARTS)}")
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    curves: Curves = {}
    for part in options.parts or PARTS:
        report, sizes = PARTS[part]
        report(sizes[:QUICK] if options.quick else sizes, curves)
        print()
    if options.out is not None and curves:
        draw(curves, options.out / "scaling.png")


if __name__ == "__main__":
    main()
