"""Look for crashes, hangs, tracebacks and wrong answers for as long as one likes.

    make fuzz MINUTES=10
    python -m tests.fuzz --minutes 10 --seed 7 --only csv,bif

A *case* is a number: its campaign draws everything from it, so that every failure can be had again
(``--only csv --case 123``). There are two kinds of campaigns. Differential ones compare komb with
the naive twins, with the csv module, or with itself on a table whose rows are shuffled. The others
feed it damaged files, odd values and odd arguments: all is well if it answers, or raises an error
of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import gzip
import io
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import polars as pl

import komb
from komb.citests import tests as registered
from komb.cli import main
from komb.data import batches as reading
from komb.engine.journal import Journal, Noted
from komb.errors import InputError
from komb.reproduction.experiments import Cell, Record, read_rows, write_rows
from tests import naive
from tests.citests.twins import check_some_against_twins
from tests.engine.tables import ANY_KIND, LOW_KIND, columns_of, make_table
from tests.naive.plink import write_cohort, write_pgen, write_vcf

Random = np.random.Generator

PATIENCE = 60  # seconds after which a case counts as a hang
MEMORY = "1 GB"  # what files may take

CAMPAIGNS: dict[str, tuple[Callable[[Random, Path], None], int]] = {}
"""By name: what runs one case, and how many of them in a round."""


class WrongError(AssertionError):
    """komb gave another answer than it should."""


def campaign(weight: int) -> Callable[[Callable[[Random, Path], None]], Any]:
    def register(case: Callable[[Random, Path], None]) -> Callable[[Random, Path], None]:
        CAMPAIGNS[case.__name__.rstrip("_")] = case, weight
        return case

    return register


# ------------------------------------------------------------------------------------ differential


@campaign(20)
def statistics(rng: Random, folder: Path) -> None:
    """Six tests on a random table, against the twins."""
    kinds = [ANY_KIND[i] for i in rng.integers(0, len(ANY_KIND), rng.integers(2, 7))]
    table = make_table(kinds, int(rng.integers(1, 200)), int(rng.integers(1 << 30)))
    plain = [name for name, test in registered().items() if not test.is_random]
    test, df = str(rng.choice(plain)), str(rng.choice(["observed", "adjusted"]))
    check_some_against_twins(test, df, table, int(rng.integers(1 << 30)), 0.05)


@campaign(5)
def searches(rng: Random, folder: Path) -> None:
    """kOMB on a random table, against its twin."""
    table = _table_to_search(rng)
    order, bound = min(int(rng.integers(0, 3)), table.n_columns - 2), int(rng.integers(0, 3))
    test, alpha = str(rng.choice(["g", "g-sci", "chi2", "sci"])), 0.05
    names = table.names
    found = komb.markov_blanket(
        table, names[-1], method="komb", order=order, max_separator=bound, test=test, alpha=alpha
    )
    session = naive.sessions.DataSession(columns_of(table), test, alpha, "observed")
    others = frozenset(range(len(names) - 1))
    twin = naive.komb.komb(session, others, len(names) - 1, order, bound, frozenset(), frozenset())
    members = tuple(names[i] for i in sorted(twin))
    if found.members != members:
        raise WrongError(f"{found.members}, not {members}")


def _table_to_search(rng: Random) -> komb.DiscreteTable:
    """A random table whose last column, the target, is not constant."""
    while True:
        kinds = [LOW_KIND[i] for i in rng.integers(0, len(LOW_KIND), rng.integers(2, 7))]
        table = make_table(kinds, int(rng.integers(5, 200)), int(rng.integers(1 << 30)))
        if table.cardinalities[-1] > 1:
            return table


@campaign(5)
def shuffled(rng: Random, folder: Path) -> None:
    """Without chance in its tests, a search sees neither the order of rows nor that of levels."""
    table = _table_to_search(rng)
    codes = table.codes.T.astype(np.int64)
    other = -codes[rng.permutation(len(codes))]
    name = table.names[-1]
    test = str(rng.choice([name for name, test in registered().items() if not test.is_random]))
    found = komb.markov_blanket(table, name, test=test).members
    again = komb.markov_blanket(other, name, test=test).members
    if found != again:
        raise WrongError(f"{found} becomes {again}")


@campaign(60)
def proper_csv(rng: Random, folder: Path) -> None:
    """What the csv module writes is read as it reads it."""
    words = ["a", "b c", 'd"e', "f,g", "h\ni", "", "7", "07", " x ", "é", "NA", "2.5", "'", "|"]
    n_columns, n_rows = int(rng.integers(1, 5)), int(rng.integers(1, 9))
    rows = [[words[i] for i in rng.integers(0, len(words), n_columns)] for _ in range(n_rows)]
    text = io.StringIO()
    style = csv.QUOTE_ALL if rng.random() < 0.5 else csv.QUOTE_MINIMAL
    writer = csv.writer(text, quoting=style, lineterminator="\n")  # type: ignore[arg-type]
    writer.writerow([f"c{i}" for i in range(n_columns)])
    writer.writerows(rows)
    path = folder / "x.csv"
    path.write_text(text.getvalue(), "utf-8")
    try:
        table = komb.read_table(
            path, delimiter=",", types="strict", missing="level", memory_limit=MEMORY
        )
    except InputError as error:
        if "no values at all" in str(error) or "looks continuous" in str(error):
            return
        raise WrongError(str(error)) from None
    if n_columns > 1 and table.n_rows != n_rows:  # a blank line may be a row of one column
        raise WrongError(f"{table.n_rows} rows, not {n_rows}")
    if n_columns > 1:
        missing = {"", "NA"}
        for i in range(n_columns):
            for row, value in zip(rows, table.column(f"c{i}"), strict=True):
                expected = row[i].strip()
                is_same = value is None if expected in missing else _same(value, expected)
                if not is_same:
                    raise WrongError(f"{value!r}, not {expected!r}")


def _same(value: object, expected: str) -> bool:
    if isinstance(value, int | float):
        return float(value) == float(expected)
    return str(value) == expected


# --------------------------------------------------------------------------------------- bad input


def mutate(rng: Random, data: bytes) -> bytes:
    """Damage some bytes as disks, editors and enemies do."""
    spice = [b'"', b",", b"\n", b"\r", b"\0", b"\xff", b"{", b"}", b";", b"(", b"|", b"[", b"]"]
    spice += [b"1e999", b"-1", b"nan", b" ", b"\t", b"\xef\xbb\xbf", b"9" * 20, b"//", b"/*"]
    spice += [b"\x1f\x8b"]
    for _ in range(int(rng.integers(1, 5))):
        place, end = sorted(rng.integers(0, len(data) + 1, 2).tolist())
        end = min(end, place + int(rng.integers(1, 200)))
        match rng.integers(6):
            case 0:
                data = data[:place]
            case 1:
                data = data[:place] + data[end:]
            case 2:
                data = data[:end] + data[place:]
            case 3:
                data = data[:place] + rng.bytes(int(rng.integers(1, 4))) + data[place + 1 :]
            case _:
                data = data[:place] + spice[rng.integers(len(spice))] + data[place:]
    return data


def refused_or_read(read: Callable[[], object]) -> None:
    """Run what may raise an error of komb's own, and no other."""
    with contextlib.suppress(InputError):
        read()


SEEDS: dict[str, bytes] = {
    "lamp": (Path(komb.__file__).parent / "data" / "example_tables" / "lamp.csv").read_bytes()[
        :600
    ],
    "quoted": b'"a","b ""c""","d"\n"1","x\ny","3"\n"2","z","4"\n' * 3,
    "blanks": b"  a   b  c\n  1   2  3\n 10  20  30\n",
    "tabs": b"a\tb\tc\r\n1\t2\t3\r\n4\t\t6\r\n",
    "bif": b"""network unknown { property "x {y}" ; }
variable rain { type discrete [ 2 ] { no, yes }; property weather ; }
variable wet { type discrete [ 3 ] { "no, never", a, b }; }
// comment
probability ( rain ) { table 0.8, 0.2; }
probability ( wet | rain ) { default 0.1, 0.2, 0.7; (yes) 0.05, 0.95, 0; /* all */ }
""",
}


@campaign(100)
def text(rng: Random, folder: Path) -> None:
    """Damaged delimited text."""
    data = mutate(rng, SEEDS[str(rng.choice(["lamp", "quoted", "blanks", "tabs"]))])
    path = folder / str(rng.choice(["x.csv", "x.tsv", "x", "x.txt"]))
    path.write_bytes(data)
    options: dict[str, Any] = {"memory_limit": MEMORY}
    if rng.random() < 0.3:
        options["missing"] = str(rng.choice(["level", "testwise"]))
    if rng.random() < 0.3:
        options["delimiter"] = str(rng.choice([",", ";", " ", "\t", "|", "a", ""]))
    if rng.random() < 0.2:
        options["has_header"] = False
    if rng.random() < 0.2:
        options["discretize"] = str(rng.choice(["quantile", "uniform", "kmeans"]))
    refused_or_read(lambda: komb.read_table(path, **options))


@campaign(100)
def bif(rng: Random, folder: Path) -> None:
    """Damaged networks."""
    data = mutate(rng, SEEDS["bif"])
    path = folder / "x.bif"
    path.write_bytes(data)
    refused_or_read(lambda: komb.read_bif(path, memory_limit=MEMORY))
    if rng.random() < 0.2:
        loose = data.decode("utf-8", "replace")
        refused_or_read(lambda: komb.read_bif(loose, memory_limit=MEMORY))


@campaign(20)
def batches(rng: Random, folder: Path) -> None:
    """A file that is encoded in batches is the table that is read at once."""
    columns = _odd_columns(rng, int(rng.integers(1, 60)))
    frame = pl.DataFrame(columns, strict=False)
    path = folder / str(rng.choice(["x.csv", "x.parquet"]))
    frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
    options: dict[str, Any] = {"missing": str(rng.choice(["level", "testwise", "error"]))}
    options["types"] = str(rng.choice(["auto", "strict"]))
    if rng.random() < 0.3:
        options["discretize"] = str(rng.choice(["quantile", "uniform"]))

    def outcome(read: Callable[[], komb.DiscreteTable]) -> Any:
        try:
            return read()
        except InputError as error:
            return type(error)

    rows, before = int(rng.integers(1, 20)), reading.rows_per_batch
    reading.rows_per_batch = lambda *_: rows
    try:
        stored = outcome(lambda: komb.encode(path, folder / "t.komb", **options))
    finally:
        reading.rows_per_batch = before
    whole = outcome(lambda: komb.read_table(path, **options))
    if stored != whole or (isinstance(whole, komb.DiscreteTable) and stored.types != whole.types):
        raise WrongError(f"{stored!r} is not {whole!r}")


def _odd_columns(rng: Random, n_rows: int) -> dict[str, list[Any]]:
    """Columns of numbers, text, dates and what may be either, with gaps."""
    words = ["a", "b c", "?", "NA", "7", "007", "2,5", "1.5", "2024-01-03", "3.1.2024", "true", ""]
    few = [words[i] for i in rng.integers(0, len(words), 3)]
    makers: list[Callable[[], list[Any]]] = [
        lambda: rng.integers(0, rng.choice([3, 40, 10**6]), n_rows).tolist(),
        lambda: rng.normal(size=n_rows).round(int(rng.integers(0, 4))).tolist(),
        lambda: rng.permutation(n_rows).tolist(),
        lambda: [few[i] for i in rng.integers(0, 3, n_rows)],
        lambda: [f"{x:.2f}" for x in rng.normal(size=n_rows)],
        lambda: [f"{x % 28 + 1}.{x % 12 + 1}.2024" for x in rng.integers(0, 400, n_rows).tolist()],
        lambda: [f"person {x} of them all" for x in rng.integers(0, 10**5, n_rows).tolist()],
    ]
    columns = {}
    for number in range(int(rng.integers(1, 5))):
        values = makers[rng.integers(len(makers))]()
        gaps = rng.random(n_rows) < float(rng.choice([0, 0, 0.2]))
        columns[f"{rng.choice(['x', 'id', 'year'])}{number or ''}"] = [
            None if gap else value for gap, value in zip(gaps, values, strict=True)
        ]
    return columns


@campaign(20)
def parquet(rng: Random, folder: Path) -> None:
    """Damaged Parquet."""
    buffer = io.BytesIO()
    values = rng.integers(0, 3, 200)
    pl.DataFrame({"a": values, "b": values.astype(str), "c": values / 2}).write_parquet(buffer)
    path = folder / "x.parquet"
    path.write_bytes(mutate(rng, buffer.getvalue()))
    refused_or_read(lambda: komb.read_table(path, memory_limit=MEMORY))


@campaign(20)
def stored(rng: Random, folder: Path) -> None:
    """A damaged table on disk is refused, or is the table that was written."""
    table = _table_to_search(rng)
    path = folder / "t.komb"
    komb.encode(table, path, overwrite=True)
    file = str(rng.choice(sorted(os.listdir(path))))
    (path / file).write_bytes(mutate(rng, (path / file).read_bytes()))
    try:
        found = komb.read_table(path)
        found.verify()
    except InputError:
        return
    if found != table:
        raise WrongError(f"{file} was damaged, and nobody noticed")


@campaign(60)
def genotypes(rng: Random, folder: Path) -> None:
    """Damaged files of genotypes, and those beside them."""
    one: list[int | None] = [[None, 0, 1, 2, 2][i % 5] for i in range(9)]
    variants: list[list[int | None]] = [one, one[::-1], [1, 0, 0] * 3]
    bed = write_cohort(folder / "x", variants, phenotypes=[1, 2, -9] * 3)
    write_pgen(bed, variants)
    write_vcf(bed, variants, ":12")
    (folder / "x.vcf.gz").write_bytes(gzip.compress((folder / "x.vcf").read_bytes()))
    people = bed.with_suffix(".fam").read_text().splitlines()
    beside = folder / "x.pheno"
    beside.write_text("FID IID a\n" + "".join(f"{' '.join(p.split()[:2])} 1.5\n" for p in people))
    damaged = folder / str(rng.choice(sorted(os.listdir(folder))))
    damaged.write_bytes(mutate(rng, damaged.read_bytes()))
    file = damaged if damaged.name.startswith("x.vcf") else bed
    file = folder / "x.pgen" if damaged.suffix in (".pgen", ".pvar", ".psam") else file
    options: dict[str, Any] = {}
    if damaged == beside:
        options = {str(rng.choice(["phenotype", "covariates", "keep", "extract"])): beside}
    refused_or_read(lambda: komb.read_table(file, memory_limit=MEMORY, **options))


@campaign(60)
def sweep_journal(rng: Random, folder: Path) -> None:
    """Damaged journals of sweeps."""
    path, identity = folder / "x.journal", {"table": "x"}
    part = Noted(9, 9, rng.integers(0, 9, (3, 4)))
    with Journal(path, identity) as written:
        list(written.run("pairs", lambda done: iter([part] * 3)))
    path.write_bytes(mutate(rng, path.read_bytes()))

    def read() -> None:
        with Journal(path, identity) as found:
            for each in found.run("pairs", lambda done: iter([])):
                assert np.array_equal(each.numbers, part.numbers)

    refused_or_read(read)


@campaign(60)
def results(rng: Random, folder: Path) -> None:
    """Damaged files of results."""
    cell = Cell("or", 100, 1, "Y", "gs", None, None, "g", "observed", "")
    record = Record(
        **asdict(cell), alpha=0.01, blanket=("a",), truth=("a", "b"), precision=1.0, recall=0.5,
        f1=0.6, distance=0.5, tests=3, seconds=0.1,
    )  # fmt: skip
    path = folder / "results.csv"
    write_rows(path, [record, record], Record)
    path.write_bytes(mutate(rng, path.read_bytes()))
    refused_or_read(lambda: [found.cell for found in read_rows(path, Record)])


SETTINGS = (
    "order", "max_separator", "alpha", "test", "df", "method", "start", "include", "exclude",
    "given", "knowledge", "seed", "level", "time_budget", "max_conditioning",
)  # fmt: skip
OF_READING = (
    "types", "missing", "na_values", "discretize", "bins", "groups", "weights", "exclude", "target",
    "memory_limit",
)  # fmt: skip

ODD_VALUES: list[Any] = [
    0, 1, -1, 2.5, float("nan"), float("inf"), None, "", "a", " ", "é", b"x", True, 10**30,
    -(2**63), (1, 2), frozenset(), "\x1b[0m", chr(0xD800), 1e300, complex(1, 2), [], {}, object(),
]  # fmt: skip


@campaign(20)
def values(rng: Random, folder: Path) -> None:
    """Columns and parameters of any values at all."""

    def odd() -> Any:
        return ODD_VALUES[rng.integers(len(ODD_VALUES))]

    n_rows = int(rng.integers(0, 12))
    few = [odd() for _ in range(3)]
    data: dict[Any, Any] = {
        name: [
            few[rng.integers(3)] if rng.random() < 0.5 else int(rng.integers(2)) for _ in range(n)
        ]
        for name, n in (("x", n_rows), ("y", n_rows), ("z", n_rows + int(rng.random() < 0.05)))
    }
    settings = {name: odd() for name in SETTINGS if rng.random() < 0.1}
    reading = {name: odd() for name in OF_READING if rng.random() < 0.05}
    if rng.random() < 0.5:
        reading.setdefault("missing", str(rng.choice(["level", "testwise"])))

    def find() -> None:
        blanket = komb.markov_blanket(komb.table(data, **reading), "y", **settings)
        json.loads(blanket.to_json().encode())
        str(blanket)

    refused_or_read(find)


WORDS = [
    "--target", "lamp", "-t", "hall", "--quiet", "--json", "--csv", "-k", "0", "1", "-l",
    "--alpha", "0.01", "nan", "-1", "auto", "--test", "g", "perm", "--df", "adjusted", "--method",
    "iamb", "--methods", "gs,iamb", "--exclude", "weekday", "--include", "\xe9", "--missing",
    "level", "--bins", "weather=2", "--discretize", "quantile", "--seed", "999999999999999999999",
    "--explain", "--all-targets", "--delimiter", ",", "", "tab", "--no-header", "--truth",
    "x.bif", "--jobs", "--start", "--given", "--stability", "4", "--type", "strict", "=", "\x00",
    "--", "-", "--help", "\ud800",
    "\x1b[0m", "1e9", "--max-conditioning",
]  # fmt: skip


@campaign(10)
def arguments(rng: Random, folder: Path) -> None:
    """Commands with odd arguments: an answer, or one line that says what is wrong."""
    table = folder / "x.csv"
    table.write_bytes(SEEDS["lamp"] if rng.random() < 0.7 else mutate(rng, SEEDS["lamp"]))
    command = str(rng.choice(["find", "compare", "methods", "tests", "nothing"]))
    words = [WORDS[i] for i in rng.integers(0, len(WORDS), rng.integers(0, 7))]
    if command in ("find", "compare") and rng.random() < 0.8:
        words = [str(table), "--target", "lamp", *words]
    out, err = io.StringIO(), io.StringIO()
    code: Any = None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([command, *words])
        except SystemExit as ended:
            code = ended.code
    if code not in (0, 2):
        raise WrongError(f"exit code {code} of {[command, *words]}: {err.getvalue()[-300:]}")
    if "\x1b" in out.getvalue() + err.getvalue():
        raise WrongError(f"control characters from {[command, *words]}")
    if code == 2 and not err.getvalue().startswith("Error: "):
        raise WrongError(f"no message from {[command, *words]}: {err.getvalue()[:200]}")


# ----------------------------------------------------------------------------------------- running


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise in a case that hangs, where the system can."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"still not done after {seconds} s")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_case(name: str, seed: int, case: int) -> str | None:
    """Run one case; returns what went wrong, if anything did."""
    rng = np.random.default_rng([seed, case])
    run, _ = CAMPAIGNS[name]
    with tempfile.TemporaryDirectory() as folder:
        try:
            with time_limit(PATIENCE):
                run(rng, Path(folder))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and not isinstance(error, InputError):
                raise
            where = traceback.extract_tb(error.__traceback__)[-1]
            said = " ".join(str(error).split())[:300]
            return f"{type(error).__name__}: {said} ({Path(where.filename).name}:{where.lineno})"
    return None


def run_for(
    seconds: float, seed: int, names: Sequence[str], most: int | None = None
) -> tuple[dict[str, int], list[str]]:
    """Run rounds of all campaigns until time is up; returns cases by campaign, and failures."""
    tried = dict.fromkeys(names, 0)
    failures: list[str] = []
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and (most is None or sum(tried.values()) < most):
        for name in names:
            for _ in range(CAMPAIGNS[name][1]):
                wrong = run_case(name, seed, tried[name])
                if wrong is not None:
                    again = f"python -m tests.fuzz --only {name} --seed {seed} --case {tried[name]}"
                    failures.append(f"{wrong}\n    again: {again}")
                    print(f"FAILED {failures[-1]}", flush=True)
                tried[name] += 1
            if time.monotonic() > ends:
                break
    return tried, failures


def start() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=None, help="drawn and printed if left out")
    parser.add_argument("--only", default=",".join(CAMPAIGNS), help="campaigns, commas between")
    parser.add_argument("--case", type=int, default=None, help="run this one case only")
    given = parser.parse_args()
    seed = int.from_bytes(os.urandom(4)) if given.seed is None else given.seed
    names = given.only.split(",")
    if given.case is not None:
        wrong = run_case(names[0], seed, given.case)
        print(wrong or "fine")
        return wrong is not None
    print(f"seed {seed}, {given.minutes:g} minutes", flush=True)
    tried, failures = run_for(60 * given.minutes, seed, names)
    for name, count in tried.items():
        print(f"  {name:12} {count:>9,} cases")
    print(f"tried {sum(tried.values()):,}, failed {len(failures):,} (seed {seed})")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(start())
