"""What a run was made with: settings, versions, machine. It lies beside the results."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from komb import __version__
from komb.errors import Argument, FileError, Text
from komb.views.html.versions import PACKAGES, show_versions

FILE = "manifest.json"

_PACKAGES = ("networkx", "joblib", "pgmpy")

ANOTHER_FOLDER: Text = ("Or name another ", Argument("out"), ".")
"""What helps whenever a folder is not fit for a run."""


def describe_run(
    arguments: Mapping[str, object], fingerprints: Mapping[str, str]
) -> dict[str, Any]:
    """Write down everything about a run that begins now.

    Parameters
    ----------
    arguments
        What was asked for.
    fingerprints
        Of the networks, by name.

    Returns
    -------
    dict
        ``komb`` (its version), ``began`` (date and time), ``arguments``, ``fingerprints``,
        ``versions`` (of packages) and ``machine`` (``cpu``, ``cores``, ``memory_gib``,
        ``system``). A run that has ended has ``ended`` and ``seconds`` too, and one that was
        resumed ``resumed``, a list of dates.

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
        "machine": _machine(),
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
        statement = f"{str(path)!r} is not what a run leaves there."
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
    """Write a manifest; whoever is killed on the way leaves the old one or the new one."""
    fresh = out / f"{FILE}.new"
    fresh.write_text(f"{json.dumps(manifest, indent=2, ensure_ascii=False)}\n", "utf-8")
    os.replace(fresh, out / FILE)


def _machine() -> dict[str, object]:
    return {
        "cpu": _cpu(),
        "cores": count_cores(),
        "memory_gib": _memory(),
        "system": platform.platform(),
    }


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
