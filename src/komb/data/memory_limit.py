"""How much memory a file may take, settled before it is taken.

A small file can be a large table: text that is compressed a thousandfold, a Parquet file of one
value repeated, a network whose table has a cell for every combination of thirty parents. What reads
files says how much it is about to need, and :func:`refuse_beyond` stops it in time.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from komb.errors import Argument, InPython, MemoryLimitError, ParameterError

VARIABLE = "KOMB_MEMORY_LIMIT"
"""The environment variable that holds a limit."""

SHARE = 0.5
"""The share of the free memory that may be used where no limit is set."""

_UNKNOWN = 4 << 30  # taken for the free memory where the system does not tell
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", re.IGNORECASE)

_CGROUP_LIMITS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def check_limit(memory_limit: object = None) -> int:
    """Return a limit in bytes, or say why it is none."""
    parameter, value = "memory_limit", memory_limit
    if value is None:
        parameter, value = VARIABLE, os.environ.get(VARIABLE) or None
    if value is None:
        return int(SHARE * free_memory())
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if found is not None:
        units = _BINARY if found[3] else _UNITS
        size = int(float(found[1]) * units[found[2].upper()])
    else:
        size = value if isinstance(value, int) and not isinstance(value, bool) else 0
    if size < 1:
        rule = "be a number of bytes above 0, or text such as '2 GB'"
        remedy = "Leave it out for half of the memory that is free."
        raise ParameterError.because(parameter, rule, value, remedy)
    return size


def free_memory() -> int:
    """Return how many bytes this process could use: of the machine, or of its container."""
    free = [_of_machine()]
    for limit, used in _CGROUP_LIMITS:
        numbers = _read_number(limit), _read_number(used)
        if numbers[0] is not None and numbers[1] is not None:
            free.append(max(numbers[0] - numbers[1], 0))
    return max(min(free), 1)


def _of_machine() -> int:
    try:
        text = Path("/proc/meminfo").read_text("ascii")
    except OSError:  # not on Linux
        text = ""
    found = re.search(r"^MemAvailable:\s*(\d+) kB", text, re.MULTILINE)
    if found is not None:
        return int(found[1]) << 10
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):  # Windows
        return _UNKNOWN


def _read_number(file: str) -> int | None:
    try:
        return int(Path(file).read_text("ascii"))
    except (OSError, ValueError):  # there is no such limit, or it is "max"
        return None


def refuse_beyond(needed: float, limit: int, what: str, *, is_at_least: bool = False) -> None:
    """Raise if something needs more memory than there may be."""
    if needed <= limit:
        return
    about = "more than" if is_at_least else "about"
    raise MemoryLimitError(
        f"{what} needs {about} {show_size(limit if is_at_least else needed)} of memory; the limit "
        f"is {show_size(limit)} (half of what is free, unless you set it).",
        (
            "Take a part of it, or raise the limit: ",
            Argument("memory_limit", _roomy(needed)),
            InPython(f", or the variable {VARIABLE}"),
            ".",
        ),
        parameter="memory_limit",
        value=limit,
    )


def show_size(size: float) -> str:
    """Write a number of bytes for people."""
    if size < 1000:
        return f"{size:.0f} bytes"
    for power, unit in enumerate(("kB", "MB", "GB", "TB"), 1):
        if size < 999.95 * 1000**power:
            return f"{size / 1000**power:.1f} {unit}"
    return f"10^{len(str(int(size))) - 1} bytes"


def _roomy(needed: float) -> str:
    gigabytes = max(1, -(-int(needed) // 10**9))
    return f"{gigabytes} GB" if gigabytes < 10**6 else "..."
