"""The paper's experiments, from the plan to the report, in one call."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from komb import __version__
from komb.data.checks import check_count, check_number
from komb.data.read.file_bytes import to_path
from komb.errors import Argument, FileError, Interrupted, ParameterError
from komb.reproduction import datasets
from komb.reproduction.datasets import Dataset
from komb.reproduction.journal import Journal, Record, SeparatorRecord
from komb.reproduction.manifest import (
    ANOTHER_FOLDER,
    count_cores,
    describe_run,
    now,
    read_manifest,
    write_manifest,
)
from komb.reproduction.paper import FUNCTIONS, N_SAMPLES, N_TARGETS, NETWORKS, TIME_CAP
from komb.reproduction.plan import (
    EVERYTHING,
    SUITES,
    Unit,
    check_suites,
    make_plan,
    needs_networks,
)
from komb.reproduction.report import write_report
from komb.reproduction.result_files import in_order, read_separators, write_results
from komb.reproduction.runner import Conditions, RunProgress, run_units
from komb.reproduction.separators import measure_separators
from komb.views.text import plural

Observer = Callable[[RunProgress], None]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What a run came to.

    Attributes
    ----------
    out
        The folder with everything in it.
    suites
        What was run, earlier runs into the same folder included.
    records
        One for each search, in the order of the tables.
    separators
        One for each pair of variables, if that was asked for.
    manifest
        What it was made with.
    files
        What was written, the report first.
    """

    out: Path
    suites: tuple[str, ...]
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
    """Run experiments of the paper and write tables, figures and results into a folder.

    Every search is written down as soon as it is finished, so a run can be killed at any moment and
    continued later: nothing that is finished is done again.

    Parameters
    ----------
    suites
        ``"intro"`` (the introduction's table), ``"synthetic"`` (Boolean functions over sample
        sizes), ``"benchmark"`` (all methods on four networks), ``"ablation"`` (every order and
        bound), ``"separators"`` (their sizes in the networks), ``"runtime"`` (separate timings),
        several of these, or ``"all"``, which holds if left out.
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
        Called now and then with a :class:`komb.reproduction.RunProgress`, from another thread.

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
    n_jobs = check_count("jobs", count_cores() if jobs is None else jobs, 1)
    folder = to_path(out)
    earlier = _find_earlier(folder, resume)
    settings = _settle(given, earlier)
    opened = (
        datasets.networks(settings.data, settings.networks)
        if needs_networks(settings.suites)
        else {}
    )
    manifest = _describe(folder, settings, n_jobs, opened, earlier)
    records, separators = _search(folder, settings, opened, manifest, progress)
    manifest |= {"ended": now(), "seconds": round(time.monotonic() - began, 1)}
    write_manifest(folder, manifest)
    files = write_results(folder, records, separators)
    report = write_report(folder, records, separators, manifest, manifest["suites"])
    return Reproduction(
        folder, manifest["suites"], records, separators, manifest, [*report, *files]
    )


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
    defaults: dict[str, Any] = {
        "suites": EVERYTHING, "data": None, "networks": NETWORKS,
        "samples": N_SAMPLES, "targets": N_TARGETS, "time_cap": TIME_CAP,
    }  # fmt: skip
    if earlier is not None:
        defaults |= earlier["arguments"]
    wanted = {name: defaults[name] if value is None else value for name, value in given.items()}
    data = wanted["data"]
    return _Settings(
        suites=check_suites(wanted["suites"]),
        data=None if data is None else str(to_path(data).resolve()),
        networks=_check_networks(wanted["networks"]),
        samples=check_count("samples", wanted["samples"], 1, N_SAMPLES),
        targets=check_count("targets", wanted["targets"], 1),
        time_cap=check_number("time_cap", wanted["time_cap"], 1e-3, math.inf, TIME_CAP),
    )


def _check_networks(names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        remedy = f"Pass a list: networks=[{names!r}]."
        raise ParameterError.because("networks", "be a list of names", names, remedy)
    listed = tuple(names)
    if not listed:
        remedy = "Leave it out for all of them."
        raise ParameterError.because("networks", "name at least one network", [], remedy)
    return listed


def _find_earlier(out: Path, resume: bool) -> dict[str, Any] | None:
    """Return the manifest of a run to continue."""
    found = read_manifest(out)
    if found is None and Journal(out / "journal").exists:
        raise FileError(f"{str(out)!r} has results without a manifest.", ANOTHER_FOLDER)
    if found is not None and not resume:
        shown = f"{str(out)!r}, which has those of a run that began at {found['began']}"
        remedy = "Pass ", Argument("resume", True), " to continue it, or name another folder."
        raise ParameterError.because("out", "be a folder without results", out, remedy, shown=shown)
    return found


def _check_consistent(
    out: Path, settings: _Settings, fingerprints: Mapping[str, str], earlier: Mapping[str, Any]
) -> None:
    """Raise if results would not go together with those that are there already."""
    began = f"be what the run in {str(out)!r} began with"
    if earlier["komb"] != __version__:
        advice = "Methods may differ between versions: name another folder."
        rule = f"hold a run of komb {__version__} to continue"
        raise ParameterError.because("out", rule, f"one of {earlier['komb']}", advice)
    before = earlier["arguments"]["time_cap"]
    if settings.time_cap != before:
        remedy = f"Leave it out for the same ({before:g}). ", ANOTHER_FOLDER
        raise ParameterError.because("time_cap", began, settings.time_cap, remedy)
    for name, fingerprint in fingerprints.items():
        if earlier["fingerprints"].get(name, fingerprint) != fingerprint:
            source = settings.data or "the networks in pgmpy"
            remedy = f"Its {name} is another one: leave it out for the same. ", ANOTHER_FOLDER
            raise ParameterError.because("data", began, source, remedy)


def _describe(
    out: Path,
    settings: _Settings,
    jobs: int,
    networks: Mapping[str, Dataset],
    earlier: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the manifest of a run that begins now, or continues an earlier one."""
    fingerprints = {name: found.fingerprint() for name, found in networks.items()}
    manifest = describe_run({**asdict(settings), "jobs": jobs}, fingerprints)
    manifest["suites"] = settings.suites
    if earlier is not None:
        _check_consistent(out, settings, fingerprints, earlier)
        suites = {*settings.suites, *earlier["suites"]}
        manifest |= {
            "began": earlier["began"],
            "resumed": [*earlier.get("resumed", ()), manifest["began"]],
            "suites": tuple(suite for suite in SUITES if suite in suites),
            "fingerprints": earlier["fingerprints"] | fingerprints,
        }
    return manifest


def _search(
    out: Path,
    settings: _Settings,
    networks: Mapping[str, Dataset],
    manifest: Mapping[str, Any],
    progress: Observer | None,
) -> tuple[list[Record], list[SeparatorRecord]]:
    """Do what is not done yet, and return the records of everything that is done."""
    folder = out / "journal"
    finished = {record.key for record in Journal(folder).records}
    known = {name: datasets.open_dataset(name) for name in FUNCTIONS} | dict(networks)
    units = make_plan(settings.suites, known, samples=settings.samples, targets=settings.targets)
    left = [unit for unit in (unit.without(finished) for unit in units) if unit.cells]
    total, kept = _count_cells(units), _count_cells(units) - _count_cells(left)

    def report(done: int) -> None:
        assert progress is not None
        progress(RunProgress(kept + done, total))  # earlier runs count as well

    write_manifest(out, manifest)
    conditions = Conditions(settings.data, folder, settings.time_cap)
    try:
        run_units(left, conditions, manifest["arguments"]["jobs"], progress and report)
        return in_order(Journal(folder).records), _separators(out, settings, networks)
    except KeyboardInterrupt:
        records = in_order(Journal(folder).records)
        message = (
            f"Interrupted; what is finished is kept in {str(out)!r}: "
            f"{plural(len(records), 'record')}. Pass ",
            Argument("resume", True),
            " to continue.",
        )
        raise Interrupted(message, records) from None


def _count_cells(units: Iterable[Unit]) -> int:
    return sum(len(unit.cells) for unit in units)


def _separators(
    out: Path, settings: _Settings, networks: Mapping[str, Dataset]
) -> list[SeparatorRecord]:
    """Measure what was asked for; what an earlier run measured of other networks is kept."""
    fresh = networks if "separators" in settings.suites else {}
    kept = [record for record in read_separators(out) if record.network not in fresh]
    return kept + [record for network in fresh.values() for record in measure_separators(network)]
