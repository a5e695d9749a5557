"""No more memory than the formulas in docs/robustness.md, over rows, columns and levels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import komb
from komb.data.read.bif import BYTES_PER_CELL
from komb.data.read.formats import BYTES_PER_VALUE
from komb.data.read.table_files import BYTES_PER_BYTE, BYTES_PER_FIELD
from komb.data.read.text import BYTES_PER_COLUMN

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/clear_refs"), reason="only Linux tells the peak of a process"
)

FIXED = 192 << 20  # what does not depend on the data: kernels, threads, buffers, blocks
BYTES_PER_ROW = 250

MEASURE = """
import json, sys
import numpy as np
import komb
import komb.data.read.table_files

def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(name))

def peak(work):
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = status("VmRSS")
    result = work()
    return status("VmHWM") - before, result
"""

READ = """
path, small = sys.argv[1:]
komb.data.read.table_files.read_frame(small)
used, frame = peak(lambda: komb.data.read.table_files.read_frame(path))
print(json.dumps([used, *frame.shape]))
"""

NETWORK = """
used, _ = peak(lambda: komb.read_bif(sys.argv[1]))
print(json.dumps([used]))
"""

SEARCHES = """
import os
options, shapes = map(json.loads, sys.argv[1:])
rng = np.random.default_rng(0)
from komb.engine.compiling import compile_at_once
with compile_at_once():  # kernels are no part of what is measured
    for levels in (2, 300):  # has the kernels loaded
        codes = rng.integers(0, levels, (600, 3))
        komb.markov_blanket(komb.DiscreteTable.from_codes(codes), 0, **options)
for n_rows, n_columns, n_levels in shapes:
    if os.fork():  # every search has a process of its own, which starts with nothing but kernels
        os.wait()
        continue
    table = komb.DiscreteTable.from_codes(rng.integers(0, n_levels, (n_rows, n_columns)))
    order = {"order": 0} if n_columns > 1_000 else {}
    used, _ = peak(lambda: komb.markov_blanket(table, 0, **options | order))
    print(json.dumps([used, table.nbytes, len(set(table.cardinalities.tolist()))]))
    break
"""


def run(code: str, *arguments: object) -> list[list[int]]:
    """Run a program; returns the numbers on each line that it prints."""
    environment = os.environ | {"PYTHONPATH": str(Path(komb.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return list(map(json.loads, done.stdout.splitlines()))


def measure(code: str, *arguments: object) -> list[int]:
    (numbers,) = run(code, *arguments)
    return numbers


N_ROWS = 400_000

TEXTS = {
    "numbers": "a,b,c\n" + "1,2,3\n" * N_ROWS,
    "words": "a,b,c\n" + "x,y,z\n" * N_ROWS,
    "quoted": '"a","b"\n' + '"x","y"\n' * N_ROWS,
    "Windows": "a,b,c\r\n" + "x,y,z\r\n" * N_ROWS,
    "blanks": "a b c\n" + '  "1"   2   3\n' * N_ROWS,
    "zeros": "a,b\n" + "01,2\n" * N_ROWS,
    "a word at last": "a,b\n" + "1,2\n" * N_ROWS + "x,y\n",
    "long": "a,b\n" + "a rather long text in one field,b\n" * N_ROWS,
    "letters": "a,b\n" + "éèêë,日本語\n" * N_ROWS,
    "wide": ",".join(f"c{i}" for i in range(5_000)) + "\n" + (",".join("1" * 5_000) + "\n") * 50,
}


@pytest.mark.parametrize("kind", TEXTS)
def test_text(kind: str, tmp_path: Path) -> None:
    path, small = tmp_path / "x.csv", tmp_path / "small.csv"
    path.write_text(TEXTS[kind], "utf-8", newline="")
    small.write_text("a,b\n1,x\n")
    used, n_rows, n_columns = measure(READ, path, small)
    variable = BYTES_PER_BYTE * path.stat().st_size + BYTES_PER_FIELD * n_rows * n_columns
    assert used <= FIXED + variable + BYTES_PER_COLUMN * n_columns


def test_parquet(tmp_path: Path) -> None:
    import polars as pl

    path, small = tmp_path / "x.parquet", tmp_path / "small.csv"
    small.write_text("a,b\n1,x\n")
    pl.DataFrame({name: ["some text", "b"] * N_ROWS for name in "abc"}).write_parquet(path)
    used, n_rows, n_columns = measure(READ, path, small)
    assert used <= FIXED + BYTES_PER_VALUE * n_rows * n_columns


def test_networks(tmp_path: Path) -> None:
    names = [f"x{i}" for i in range(21)]
    declared = "".join(f"variable {n} {{ type discrete [2] {{a, b}}; }}\n" for n in [*names, "y"])
    roots = "".join(f"probability ({n}) {{ table 0.5, 0.5; }}\n" for n in names)
    path = tmp_path / "x.bif"
    path.write_text(f"{declared}{roots}probability (y | {','.join(names)}) {{ default 0.5, 0.5; }}")
    (used,) = measure(NETWORK, path)
    assert used <= FIXED + BYTES_PER_CELL * 2**22


SHAPES = [  # rows, columns, levels
    (1_000_000, 5, 2),
    (1_000_000, 5, 20),
    (100_000, 5, 300),
    (100_000, 100, 3),
    (100_000, 5, 20_000),
    (2_000, 2_000, 2),
]


@pytest.mark.parametrize("test", ["g", "auto"])
def test_searches(test: str) -> None:
    options = {"order": 1, "max_separator": 1, "test": test}
    measured = run(SEARCHES, json.dumps(options), json.dumps(SHAPES))
    for (n_rows, *shape), (used, table, n_classes) in zip(SHAPES, measured, strict=True):
        lengths = 16 * n_rows * n_classes if test != "g" else 0

        assert used <= FIXED + table + BYTES_PER_ROW * n_rows + lengths, (n_rows, *shape)
