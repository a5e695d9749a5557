"""How to repeat a search: the command that makes the page again, and Python code."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from komb.data.arrange.plan import WeightColumn
from komb.data.knowledge import Knowledge


def chosen(options: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that differ from their defaults, in the order of the defaults.

    Examples
    --------
    >>> chosen({"include": [], "order": 2}, {"order": None, "include": ()})
    {'order': 2}
    """
    return {
        name: options[name]
        for name, default in defaults.items()
        if name in options and _plain(options[name]) != _plain(default)
    }


def _plain(value: Any) -> Any:
    if isinstance(value, WeightColumn):
        return {value.name: value.kind} if value.kind else value.name
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value
    return list(value)


def _show_value(value: Any) -> str:
    """Write a value as Python code."""
    return f"komb.{value!r}" if isinstance(value, Knowledge) else repr(value)


def show_command(
    source: str,
    target: object,
    path: str,
    options: Mapping[str, Any],
    reading: Mapping[str, Any],
    methods: Sequence[object] | None = None,
) -> str:
    """Return the command that makes a page of a file.

    Examples
    --------
    >>> show_command("a b.csv", "Y", "out.html", {"order": 2, "include": ["X1"]}, {})
    "komb report 'a b.csv' --target Y -o out.html --order 2 --include X1"
    """
    words = ["komb", "report", source, "--target", str(target), "-o", path]
    for name, value in options.items():
        words += _flags(name, value)
    if methods is not None:
        words += ["--methods", ",".join(map(str, methods))] if methods else ["--no-comparison"]
    if reading.get("delimiter"):
        words += ["--delimiter", reading["delimiter"].replace("\t", "tab")]
    if reading.get("has_header") is False:
        words += ["--no-header"]
    for name in sorted(reading.keys() - {"delimiter", "has_header"}):
        words += _flags(name, reading[name])
    return shlex.join(words)


def _flags(name: str, value: Any) -> Iterator[str]:
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, Knowledge):
        yield from (flag, "knowledge.toml")
        return
    if isinstance(value, WeightColumn):
        value = {value.name: value.kind} if value.kind else value.name
    if name == "start" and isinstance(value, str):
        yield from ("--start-method", value)
    elif isinstance(value, Mapping):
        for column, entry in value.items():
            shown = entry if isinstance(entry, str | int) else ",".join(map(str, entry))
            yield from (flag, f"{column}={shown}")
    elif isinstance(value, str) or not isinstance(value, Sequence):
        yield from (flag, str(value))
    else:
        for entry in value:
            yield from (flag, str(entry))


def show_code(
    source: str, target: object, options: Mapping[str, Any], reading: Mapping[str, Any]
) -> str:
    """Return Python code that finds the blanket again.

    Examples
    --------
    >>> print(show_code("a.csv", "Y", {"order": 2}, {"has_header": False}))
    import komb
    from komb.data.read.table_files import read_frame
    <BLANKLINE>
    data = read_frame('a.csv', has_header=False)
    blanket = komb.markov_blanket(data, 'Y', order=2)
    print(blanket)
    print(blanket.explain())
    """
    given = {name: _show_value(_plain(value)) for name, value in options.items()}
    arguments = "".join(f", {name}={value}" for name, value in given.items())
    details = "".join(f", {name}={value!r}" for name, value in reading.items())
    lines = ["import komb"]
    if source and os.path.isdir(source):  # a table on disk
        lines += ["", f"data = komb.open_table({source!r})"]
    elif source.lower().endswith(".bed"):
        lines += ["", f"data = komb.read_table({source!r}{details})"]
    elif source:
        lines += ["from komb.data.read.table_files import read_frame", ""]
        lines += [f"data = read_frame({source!r}{details})"]
    else:
        lines += ["", "data = ...  # the table that this page is about"]
    lines += [f"blanket = komb.markov_blanket(data, {target!r}{arguments})"]
    return "\n".join([*lines, "print(blanket)", "print(blanket.explain())"])
