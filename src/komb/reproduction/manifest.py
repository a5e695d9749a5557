"""What a run was made with: settings, versions, machine. As a file beside the results; in words."""

from __future__ import annotations

import json
import os
import platform
import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from komb import __version__
from komb.errors import Argument, FileError, Text
from komb.reproduction import paper
from komb.reproduction.plan import EVERYTHING, SUITES
from komb.views.html.versions import PACKAGES, show_versions
from komb.views.text import show_seconds

FILE = "manifest.json"

_PACKAGES = ("networkx", "joblib", "pgmpy")
_DEFAULTS = {
    "samples": paper.N_SAMPLES, "targets": paper.N_TARGETS, "time_cap": paper.TIME_CAP,
}  # fmt: skip

ANOTHER_FOLDER: Text = ("Or name another ", Argument("out"), ".")
"""What helps whenever a folder is not fit for a run."""


def describe_run(
    arguments: Mapping[str, object], fingerprints: Mapping[str, str]
) -> dict[str, Any]:
    """Write down everything about a run that begins now, with these arguments and networks.

    A run that has ended has ``ended`` and ``seconds`` too, and one that was resumed ``resumed``, a
    list of dates.

    Examples
    --------
    >>> list(describe_run({"jobs": 2}, {}))
    ['komb', 'began', 'arguments', 'fingerprints', 'versions', 'machine']
    """
    return {
        "komb": __version__,
        "began": now(),
        "arguments": dict(arguments),
        "fingerprints": dict(fingerprints),
        "versions": show_versions([*PACKAGES, *_PACKAGES]),
        "machine": {
            "cpu": _cpu(),
            "cores": count_cores(),
            "memory_gib": _memory(),
            "system": platform.platform(),
        },
    }


def now() -> str:
    """Return the date and time, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_manifest(out: Path) -> dict[str, Any] | None:
    """Return what lies in a folder; ``None`` if there is nothing."""
    path = out / FILE
    try:
        found = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise FileError(f"Cannot read {str(path)!r}: {why}.", ANOTHER_FOLDER) from None
    except (ValueError, RecursionError):
        found = None
    if not _is_manifest(found):
        statement = f"{str(path)!r} is not the manifest of a run."
        raise FileError(statement, ("Restore it. ", ANOTHER_FOLDER))
    return found


def _is_manifest(found: object) -> TypeGuard[dict[str, Any]]:
    if not isinstance(found, dict):
        return False
    kinds = {"komb": str, "began": str, "arguments": dict, "fingerprints": dict, "suites": list}
    if not all(isinstance(found.get(name), kind) for name, kind in kinds.items()):
        return False
    arguments = found["arguments"]
    is_sound = isinstance(arguments.get("time_cap"), int | float)
    for name in ("suites", "networks"):
        listed = arguments.get(name)
        is_sound &= isinstance(listed, list) and all(isinstance(entry, str) for entry in listed)
    is_sound &= all(isinstance(arguments.get(name), int) for name in ("samples", "targets"))
    return is_sound and isinstance(arguments.get("data"), str | None)


def write_manifest(out: Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest in one step: a killed process leaves the old one or the new one."""
    fresh = out / f"{FILE}.new"
    try:
        out.mkdir(parents=True, exist_ok=True)
        fresh.write_text(f"{json.dumps(manifest, indent=2, ensure_ascii=False)}\n", "utf-8")
        os.replace(fresh, out / FILE)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        remedy = "Name another folder, or free disk space."
        raise FileError(f"Cannot write to {str(out)!r}: {why}. {remedy}") from None


def count_cores() -> int:
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


def _memory() -> float | None:
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return None
    return round(size / 2**30, 1)


def show_command(manifest: Mapping[str, Any], suites: Sequence[str], out: str) -> str:
    """Return the command that makes all of it; defaults are not spelled out.

    Examples
    --------
    >>> show_command({"arguments": {"samples": 2, "targets": 10}}, ["intro"], "out")
    'komb reproduce intro --out out --samples 2'
    """
    words = ["komb", "reproduce", *([EVERYTHING] if set(suites) == set(SUITES) else suites)]
    words += ["--out", out, *_options(_part(manifest, "arguments"))]
    return shlex.join(words)


def _options(arguments: Mapping[str, Any]) -> Iterator[str]:
    if arguments.get("data"):
        yield from ("--data", str(arguments["data"]))
    networks = arguments.get("networks", paper.NETWORKS)
    if set(networks) != set(paper.NETWORKS):
        yield from ("--networks", ",".join(networks))
    for name, default in _DEFAULTS.items():
        value = arguments.get(name, default)
        if value != default:
            yield from (f"--{name.replace('_', '-')}", f"{value:g}")
    if "jobs" in arguments:
        yield from ("--jobs", str(arguments["jobs"]))


def show_provenance(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Say what a run was made with, as far as the manifest tells.

    Examples
    --------
    >>> dict(show_provenance({"komb": "1.0", "machine": {"cpu": "M4", "cores": 8}}))
    {'komb': '1.0', 'machine': 'M4, 8 cores'}
    """
    if "komb" in manifest:
        yield "komb", str(manifest["komb"])
    machine = _describe_machine(_part(manifest, "machine"))
    if machine:
        yield "machine", ", ".join(machine)
    versions = _part(manifest, "versions")
    if versions:
        yield "versions", ", ".join(f"{name} {number}" for name, number in versions.items())
    arguments = _part(manifest, "arguments")
    if "data" in arguments:
        data = arguments["data"]
        drawn = "samples drawn from the networks in pgmpy, so not those of the paper"
        given = f"the samples of the MMHC supplement, as in the paper, from {data}"
        yield "networks", drawn if data is None else given
    if "time_cap" in arguments:
        yield "time cap", f"{arguments['time_cap']:g} s for one search"
    if "began" in manifest:
        yield "began", str(manifest["began"])
    resumed = manifest.get("resumed")
    if resumed:
        yield "resumed", ", ".join(map(str, resumed))
    if "ended" in manifest:
        yield "ended", str(manifest["ended"])
    if "seconds" in manifest:
        last = " since it was last resumed" if resumed else ""
        yield "took", f"{show_seconds(float(manifest['seconds']))}{last}"


def show_in_short(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Say the most important of it: version, processor and date.

    Examples
    --------
    >>> list(show_in_short({"komb": "1.0", "ended": "2026-07-01T12:00:00+00:00"}))
    ['komb 1.0', '2026-07-01']
    """
    if "komb" in manifest:
        yield f"komb {manifest['komb']}"
    yield from _describe_machine(_part(manifest, "machine"))[:2]
    if "ended" in manifest:
        yield str(manifest["ended"]).partition("T")[0]


def _describe_machine(machine: Mapping[str, Any]) -> list[str]:
    words = {"cpu": "{}", "cores": "{} cores", "memory_gib": "{:g} GiB of memory", "system": "{}"}
    return [text.format(machine[name]) for name, text in words.items() if machine.get(name)]


def _part(manifest: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = manifest.get(name)
    return part if isinstance(part, Mapping) else {}
