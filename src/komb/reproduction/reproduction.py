"""The paper's experiments, from the plan to the report, in one call."""

from __future__ import annotations

import json
import math
import os
import platform
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from komb import __version__
from komb.api.find import markov_blanket
from komb.api.parallel import spread
from komb.data.checks import check_count, check_number
from komb.data.read.file_bytes import to_path
from komb.data.table import DiscreteTable
from komb.errors import Argument, FileError, Interrupted, ParameterError, Text, WorkerError
from komb.reproduction import paper
from komb.reproduction.datasets import Dataset, measure_separators, open_dataset, open_networks
from komb.reproduction.experiments import (
    EVERYTHING,
    SUITES,
    Cell,
    Journal,
    Record,
    SeparatorRecord,
    check_suites,
    make_plan,
    needs_networks,
    read_rows,
    write_file,
    write_rows,
)
from komb.reproduction.report import write_report
from komb.results.comparison import Score
from komb.views.report.page_file import PACKAGES, show_versions
from komb.views.text import plural

Observer: TypeAlias = Callable[[int, int], None]

_ANOTHER_FOLDER: Text = ("Or name another ", Argument("out"), ".")
_CONTINUE = ("Pass ", Argument("resume", True), " to continue.")


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What a run came to.

    ``records`` has one for each search and ``separators`` one for each pair of variables, earlier
    runs into the same folder included; ``manifest`` says what it was made with, ``files`` what was
    written, the report first.
    """

    out: Path
    records: list[Record]
    separators: list[SeparatorRecord]
    manifest: Mapping[str, Any]
    files: list[Path]


def reproduce(  # noqa: PLR0913 - a public function spells out its options
    suites: str | Iterable[str] | None = None,
    out: str | os.PathLike[str] = "reproduction",
    *,
    data: str | os.PathLike[str] | None = None,
    networks: Iterable[str] | None = None,
    samples: int | None = None,
    targets: int | None = None,
    jobs: int | None = None,
    time_cap: float | None = None,
    resume: bool = False,
    progress: Observer | None = None,
) -> Reproduction:
    """Run experiments of the paper and write results and a report into a folder.

    Every search is written down as soon as it is finished, so a run can be killed at any moment and
    continued later: nothing that is finished is done again.

    Parameters
    ----------
    suites
        ``"intro"`` (the introduction's table), ``"synthetic"`` (Boolean functions over sample
        sizes), ``"benchmark"`` (all methods on four networks), ``"ablation"`` (every order and
        bound), ``"separators"`` (their sizes in the networks), ``"runtime"`` (the part of the
        benchmark that the paper's runtimes are about, on its first sample), several of these, or
        ``"all"``, which holds if left out.
    out
        Folder for everything that is written.
    data
        Folder with the MMHC samples of the networks, which are those of the paper, in text files or
        zip archives. Without it samples are drawn from the networks in pgmpy.
    networks
        Names of networks: ``"Alarm1"``, ``"Barley"``, ``"Insurance"``, ``"Mildew"``; all if left
        out.
    samples, targets
        At most this many samples of each dataset and targets of each sample, those with the largest
        blankets first; 10 if left out, as in the paper.
    jobs
        How many processes to use; as many as there are processors if left out. The results do not
        depend on it.
    time_cap
        Seconds after which a search is given up; 1800 if left out, as in the paper.
    resume
        Whether to continue a run in the same folder. Parameters left out keep their values.
    progress
        Called with how many searches are finished, and out of how many, after each of them.

    Returns
    -------
    Reproduction
        All records, and the files that were written.

    Raises
    ------
    komb.errors.InputError
        If anything passed in cannot be used, or the folder has a run in it and ``resume`` is false.
    komb.errors.Interrupted
        If it is interrupted; ``finished`` holds the records that are complete.
    komb.errors.WorkerError
        If a process is lost; ``finished`` holds the records that are complete.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = reproduce("intro", folder, samples=1, jobs=1)
    >>> len(run.records), run.records[0].dataset
    (208, 'ex-1')
    """
    began = time.monotonic()
    given = {
        "suites": suites, "data": data, "networks": networks, "samples": samples,
        "targets": targets, "time_cap": time_cap,
    }  # fmt: skip
    n_jobs = check_count("jobs", _count_cores() if jobs is None else jobs, 1)
    folder = to_path(out)
    earlier = _read_manifest(folder, resume)
    settings = _settle(given, earlier)
    opened = (
        open_networks(settings.data, settings.networks) if needs_networks(settings.suites) else {}
    )
    manifest = _describe_run(folder, settings, n_jobs, opened, earlier)
    _write_manifest(folder, manifest)
    records = _search(folder, settings, opened, n_jobs, progress)
    separators = _measure(folder, opened if "separators" in settings.suites else {})
    manifest |= {"ended": _now(), "seconds": round(time.monotonic() - began, 1)}
    _write_manifest(folder, manifest)
    files = write_report(folder, records, separators, manifest)
    names = ["results.csv", "manifest.json", *(["separators.csv"] if separators else [])]
    files += [folder / name for name in names]
    return Reproduction(folder, records, separators, manifest, files)


# ---------------------------------------------------------------------------- settings and manifest


@dataclass(frozen=True, slots=True)
class _Settings:
    """What was asked for, checked."""

    suites: tuple[str, ...]
    data: str | None
    networks: tuple[str, ...]
    samples: int
    targets: int
    time_cap: float


def _settle(given: Mapping[str, Any], earlier: Mapping[str, Any] | None) -> _Settings:
    """Check the parameters; what was not given is as it was in an earlier run."""
    defaults = {
        "suites": EVERYTHING, "data": None, "networks": paper.NETWORKS,
        "samples": paper.N_SAMPLES, "targets": paper.N_TARGETS, "time_cap": paper.TIME_CAP,
    } | (earlier["arguments"] if earlier else {})  # fmt: skip
    wanted = {name: defaults[name] if value is None else value for name, value in given.items()}
    names = wanted["networks"]
    if isinstance(names, str) or not isinstance(names, Iterable) or not (listed := tuple(names)):
        remedy = f"Pass some of these in a list, or leave it out for all: {[*paper.NETWORKS]}."
        raise ParameterError.because("networks", "be a list of names", names, remedy)
    return _Settings(
        suites=check_suites(wanted["suites"]),
        data=None if wanted["data"] is None else str(to_path(wanted["data"]).resolve()),
        networks=listed,
        samples=check_count("samples", wanted["samples"], 1, paper.N_SAMPLES),
        targets=check_count("targets", wanted["targets"], 1),
        time_cap=check_number("time_cap", wanted["time_cap"], 1e-3, math.inf, paper.TIME_CAP),
    )


def _read_manifest(out: Path, resume: bool) -> dict[str, Any] | None:
    """Return the manifest of a run to continue, if there is one in the folder."""
    path = out / "manifest.json"
    try:
        found = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        if (out / "results.csv").exists():
            statement = f"{str(out)!r} has results without a manifest."
            raise FileError(statement, _ANOTHER_FOLDER) from None
        return None
    except (OSError, ValueError, RecursionError):
        found = None
    kinds = {
        "komb": str, "began": str, "resumed": list, "suites": list, "arguments": dict,
        "fingerprints": dict,
    }  # fmt: skip
    found = found if isinstance(found, dict) else {}
    if not all(isinstance(found.get(name), kind) for name, kind in kinds.items()):
        statement = f"{str(path)!r} is not the manifest of a run."
        raise FileError(statement, ("Restore it. ", _ANOTHER_FOLDER))
    if not resume:
        shown = f"{str(out)!r}, which has those of a run that began at {found['began']}"
        remedy = "Pass ", Argument("resume", True), " to continue it, or name another folder."
        raise ParameterError.because("out", "be a folder without results", out, remedy, shown=shown)
    return found


def _describe_run(
    out: Path,
    settings: _Settings,
    jobs: int,
    networks: Mapping[str, Dataset],
    earlier: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the manifest of a run that begins now, or continues an earlier one."""
    fingerprints = {name: found.fingerprint() for name, found in networks.items()}
    before = earlier or {"began": _now(), "resumed": [], "suites": [], "fingerprints": {}}
    if earlier is not None:
        _check_consistent(out, settings, fingerprints, earlier)
    return {
        "komb": __version__,
        "began": before["began"],
        "resumed": [*before["resumed"], _now()] if earlier else [],
        "suites": [s for s in SUITES if s in settings.suites or s in before["suites"]],
        "arguments": {**asdict(settings), "jobs": jobs},
        "fingerprints": before["fingerprints"] | fingerprints,
        "versions": show_versions([*PACKAGES, "networkx", "joblib", "pgmpy"]),
        "machine": {"cpu": _cpu(), "cores": _count_cores(), "system": platform.platform()},
    }


def _check_consistent(
    out: Path, settings: _Settings, fingerprints: Mapping[str, str], earlier: Mapping[str, Any]
) -> None:
    """Raise if results would not go together with those that are there already."""
    began = f"be what the run in {str(out)!r} began with"
    if earlier["komb"] != __version__:
        advice = "Methods may differ between versions: name another folder."
        rule = f"hold a run of komb {__version__} to continue"
        raise ParameterError.because("out", rule, f"one of {earlier['komb']}", advice)
    before = earlier["arguments"].get("time_cap")
    if settings.time_cap != before:
        remedy = f"Leave it out for the same ({before}). ", _ANOTHER_FOLDER
        raise ParameterError.because("time_cap", began, settings.time_cap, remedy)
    for name, fingerprint in fingerprints.items():
        if earlier["fingerprints"].get(name, fingerprint) != fingerprint:
            source = settings.data or "the networks in pgmpy"
            remedy = f"Its {name} is another one: leave it out for the same. ", _ANOTHER_FOLDER
            raise ParameterError.because("data", began, source, remedy)


def _write_manifest(out: Path, manifest: Mapping[str, Any]) -> None:
    text = json.dumps(manifest, indent=2, ensure_ascii=False)
    write_file(out / "manifest.json", f"{text}\n".encode())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _count_cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:  # not on Linux
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


# ---------------------------------------------------------------------------------------- searches


def _search(
    out: Path,
    settings: _Settings,
    networks: Mapping[str, Dataset],
    jobs: int,
    progress: Observer | None,
) -> list[Record]:
    """Do what is not done yet, and return the records of everything that is done."""
    datasets = {name: open_dataset(name) for name in paper.FUNCTIONS} | dict(networks)
    plan = make_plan(settings.suites, datasets, samples=settings.samples, targets=settings.targets)
    journal = Journal(out / "results.csv")
    done = {record.cell for record in journal.records}
    left = [cell for cell in plan if cell not in done]
    try:
        with journal:
            for number, record in enumerate(_run(left, settings, jobs), start=1):
                journal.append(record)
                if progress is not None:
                    progress(len(plan) - len(left) + number, len(plan))
    except KeyboardInterrupt:
        kept = f"what is finished is kept in {str(out)!r}: {plural(len(journal.records), 'record')}"
        raise Interrupted((f"Interrupted; {kept}. ", *_CONTINUE), journal.records) from None
    except WorkerError as error:
        kept = f"{error}. What is finished is kept in {str(out)!r}."
        raise WorkerError(kept, journal.records, _CONTINUE) from None
    return journal.records


def _run(cells: Sequence[Cell], settings: _Settings, jobs: int) -> Iterator[Record]:
    """Run searches in this many processes, and yield what they find as they finish."""
    if jobs == 1 or len(cells) < 2:
        yield from (run_cell(cell, settings.data, settings.time_cap) for cell in cells)
    else:
        shared = settings.data, settings.time_cap
        for _, record in spread(run_cell, cells, shared, min(jobs, len(cells))):
            yield record


def run_cell(cell: Cell, data: str | None, time_cap: float) -> Record:
    """Run one search; the time to compile or load what it needs is not counted."""
    table = _table(cell.dataset, data, cell.sample, cell.n_rows)
    truth = _dataset(cell.dataset, data).truth[cell.target]
    _warm_up(cell.dataset, data, cell.method, cell.test, cell.df)
    began = time.perf_counter()
    members: tuple[str, ...] = ()
    tests, timed_out = 0, False
    try:
        with _time_limit(time_cap) as check_clock:
            options: dict[str, Any] = {"test": cell.test, "df": cell.df, "alpha": paper.ALPHA}
            options |= {"method": cell.method, "progress": check_clock}
            if cell.start:
                first = markov_blanket(table, cell.target, **options | {"method": cell.start})
                tests, options["start"] = first.tests, first.members
            options |= {"order": cell.order, "max_separator": cell.max_separator}
            found = markov_blanket(table, cell.target, **options)
            members, tests = tuple(map(str, found.members)), tests + found.tests
    except _TimeUp:
        timed_out = True
    seconds = time.perf_counter() - began
    score = Score(0.0, 0.0, 0.0) if timed_out else Score.of(members, truth)
    distance = math.hypot(1 - score.precision, 1 - score.recall)
    return Record(
        **asdict(cell), alpha=paper.ALPHA, blanket=members, truth=truth,
        precision=score.precision, recall=score.recall, f1=score.f1, distance=distance,
        tests=tests, seconds=seconds, timed_out=timed_out,
    )  # fmt: skip


@lru_cache(maxsize=64)
def _warm_up(name: str, data: str | None, method: str, test: str, df: str) -> None:
    """Search once before any clock starts, since a process compiles or loads what it needs then."""
    dataset = _dataset(name, data)
    table = _table(name, data, 1, paper.rows_of(name))
    markov_blanket(table, dataset.targets(1)[0], method=method, test=test, df=df)


@lru_cache(maxsize=16)
def _dataset(name: str, data: str | None) -> Dataset:
    return open_dataset(name, data)


@lru_cache(maxsize=4)
def _table(name: str, data: str | None, sample: int, n_rows: int) -> DiscreteTable:
    return _dataset(name, data).table(sample, n_rows)


class _TimeUp(Exception):  # noqa: N818 - it is no error
    """The search has had all the time that it may take."""


@contextmanager
def _time_limit(seconds: float) -> Iterator[Callable[[object], None]]:
    """Stop a search after some time; yields what looks at the clock as its progress callback.

    Searches report at their leisure, so where there are signals an alarm rings as well.
    """
    ends = time.perf_counter() + seconds

    def check_clock(*_: object) -> None:
        if time.perf_counter() >= ends:
            raise _TimeUp

    # Only the main thread hears signals; workers do their work there.
    is_main = threading.current_thread() is threading.main_thread()
    if not (is_main and hasattr(signal, "setitimer")):
        yield check_clock
        return
    previous = signal.signal(signal.SIGALRM, check_clock)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield check_clock
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _measure(out: Path, networks: Mapping[str, Dataset]) -> list[SeparatorRecord]:
    """Measure separators in some networks; what an earlier run measured is kept."""
    path = out / "separators.csv"
    records = read_rows(path, SeparatorRecord)
    known = {record.network for record in records}
    for name in networks.keys() - known:
        truth = networks[name].truth
        records += [
            SeparatorRecord(name, target, other, *measure_separators(networks[name], target, other))
            for target, blanket in truth.items()
            for other in truth
            if other != target and other not in blanket
        ]
    if networks.keys() - known:
        records.sort(key=lambda record: paper.NETWORKS.index(record.network))
        write_rows(path, records, SeparatorRecord)
    return records
