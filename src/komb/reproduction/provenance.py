"""What a run was made with, in words: the command, the data, the machine, the versions."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from komb.reproduction import paper
from komb.reproduction.plan import EVERYTHING, N_SAMPLES, N_TARGETS, SUITES
from komb.views.text import show_seconds

_DEFAULTS = {"samples": N_SAMPLES, "targets": N_TARGETS, "time_cap": paper.TIME_CAP}


def show_command(manifest: Mapping[str, Any], suites: Sequence[str], out: str) -> str:
    """Return the command that makes all of it; what holds anyway is not spelled out.

    Parameters
    ----------
    manifest
        Of the run; see :func:`komb.reproduction.manifest.describe_run`.
    suites
        What was run.
    out
        Where the results are.

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
    """Say what a run was made with, leaving out what the manifest does not tell.

    Examples
    --------
    >>> dict(show_provenance({"komb": "1.0", "machine": {"cpu": "M4", "cores": 8}}))
    {'komb': '1.0', 'machine': 'M4, 8 cores'}
    """
    if "komb" in manifest:
        yield "komb", str(manifest["komb"])
    machine = _part(manifest, "machine")
    if machine:
        yield "machine", ", ".join(_describe_machine(machine))
    versions = _part(manifest, "versions")
    if versions:
        yield "versions", ", ".join(f"{name} {number}" for name, number in versions.items())
    arguments = _part(manifest, "arguments")
    if "data" in arguments:
        yield "networks", _describe_data(arguments["data"])
    if "time_cap" in arguments:
        yield "time cap", f"{arguments['time_cap']:g} s for one search"
    yield from _describe_times(manifest)


def show_in_short(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Say the most important of it: version, processor and date.

    Examples
    --------
    >>> list(show_in_short({"komb": "1.0", "ended": "2026-07-01T12:00:00+00:00"}))
    ['komb 1.0', '2026-07-01']
    """
    if "komb" in manifest:
        yield f"komb {manifest['komb']}"
    yield from list(_describe_machine(_part(manifest, "machine")))[:2]
    if "ended" in manifest:
        yield str(manifest["ended"]).partition("T")[0]


def _describe_machine(machine: Mapping[str, Any]) -> Iterator[str]:
    if machine.get("cpu"):
        yield str(machine["cpu"])
    if machine.get("cores"):
        yield f"{machine['cores']} cores"
    if machine.get("memory_gib"):
        yield f"{machine['memory_gib']:g} GiB of memory"
    if machine.get("system"):
        yield str(machine["system"])


def _describe_data(data: object) -> str:
    if data is None:
        return "samples drawn from the networks in pgmpy, so not those of the paper"
    return f"the samples of the MMHC supplement, as in the paper, from {data}"


def _describe_times(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "began" in manifest:
        yield "began", str(manifest["began"])
    if manifest.get("resumed"):
        yield "resumed", ", ".join(map(str, manifest["resumed"]))
    if "ended" in manifest:
        yield "ended", str(manifest["ended"])
    if "seconds" in manifest:
        last = " since it was last resumed" if manifest.get("resumed") else ""
        yield "took", f"{show_seconds(float(manifest['seconds']))}{last}"


def _part(manifest: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = manifest.get(name)
    return part if isinstance(part, Mapping) else {}
