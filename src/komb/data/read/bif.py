"""Read Bayesian networks in the interchange format BIF.

The format, as the repositories of benchmark networks use it::

    network unknown { }
    variable rain { type discrete [ 2 ] { no, yes }; }
    variable wet { type discrete [ 2 ] { no, yes }; }
    probability ( rain ) { table 0.8, 0.2; }
    probability ( wet | rain ) {
      (no) 0.9, 0.1;
      (yes) 0.05, 0.95;
    }

Names may be quoted. Rows may come in any order, ``default`` fills those that are not given, and a
``table`` of a variable with parents lists all its probabilities, those of its first level first.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from komb.data.memory_limit import check_limit, refuse_beyond
from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.read.file_bytes import decode, read_bytes, shorten, to_path
from komb.errors import FileError, ParameterError

_QUOTED = r'"[^"]*"'
# All of these take linear time, whatever the text: an unclosed comment ends with the file, and a
# property ends at a brace if not before.
_COMMENT = re.compile(rf"({_QUOTED})|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_PROPERTIES = re.compile(rf"([;{{}}])((?:\s*property\b(?:{_QUOTED}|[^;\"{{}}])*;)+)")
_WORD = re.compile(r'"([^"]*)"|([^\s,|"]+)')
_BLOCK = re.compile(
    rf"\s*(?P<kind>network|variable|probability)\b(?P<head>(?:{_QUOTED}|[^{{\"])*)\{{"
)
_CLOSING = re.compile(r"\s*\}")
_LEVELS = re.compile(
    rf"\s*type\s+discrete\s*\[\s*(\d{{1,9}})\s*\]\s*\{{((?:{_QUOTED}|[^}}\"])*)\}}\s*;"
)
_ROW = re.compile(
    rf"\s*(?:\((?P<states>(?:{_QUOTED}|[^)\"])*)\)|(?P<word>table|default)\b)(?P<numbers>[^;]*);"
)
BYTES_PER_BYTE = 25
"""Memory that reading takes for each byte of text, at most: numbers are texts, then floats."""
BYTES_PER_CELL = 48
"""Memory that reading takes for each cell of the largest table, at most."""

_MOST_AXES = 64  # of numpy's arrays
_SLACK = 1e-2  # files are rounded: sums of probabilities are this near to 1

_Floats = npt.NDArray[np.float64]


def read_bif(
    source: str | os.PathLike[str], *, memory_limit: int | str | None = None
) -> DiscreteNetwork:
    """Read a network from a BIF file.

    Parameters
    ----------
    source
        Name of a file, which may be compressed with gzip, or the text itself (anything with a brace
        in it).
    memory_limit
        How much memory its tables may take; as in :func:`komb.read_table`.

    Returns
    -------
    DiscreteNetwork
        With variables in the order of the file. Probabilities are divided by their sum, because
        files are rounded.

    Raises
    ------
    komb.errors.FileError
        If the file cannot be read, or is not BIF; the message names the line.
    komb.errors.MemoryLimitError
        If it would take more memory than it may; it is raised before the memory is taken.

    Examples
    --------
    >>> network = read_bif('''
    ...     variable rain { type discrete [ 2 ] { no, yes }; }
    ...     variable wet { type discrete [ 2 ] { no, yes }; }
    ...     probability ( rain ) { table 0.8, 0.2; }
    ...     probability ( wet | rain ) { (yes) 0.05, 0.95; (no) 0.9, 0.1; }
    ... ''')
    >>> network.parents("wet"), network.table("wet").tolist()
    (('rain',), [[0.9, 0.1], [0.05, 0.95]])
    """
    limit = check_limit(memory_limit)
    if isinstance(source, str) and "{" in source:
        return _Parser("the text", source, limit).network()
    path = to_path(source)
    text = decode(path, read_bytes(path, limit, BYTES_PER_BYTE))
    return _Parser(shorten(path), text, limit).network()


class _Parser:
    """Walks over the blocks of one file and gathers levels, parents and tables."""

    def __init__(self, label: str, text: str, limit: int) -> None:
        self._label = label
        self._limit = limit
        # Blanks instead of nothing, so that a position still tells its line.
        text = _COMMENT.sub(lambda found: found[1] or _blank(found[0]), text)
        self._text = _PROPERTIES.sub(lambda found: found[1] + _blank(found[2]), text).rstrip()
        self._levels: dict[str, list[str]] = {}
        self._parents: dict[str, list[str]] = {}
        self._tables: dict[str, _Floats] = {}

    def network(self) -> DiscreteNetwork:
        """Read all blocks, then put them together."""
        position = 0
        while position < len(self._text):
            position = self._read_block(position)
        if not self._levels:
            self._fail(0, "there are no variables")
        for name in self._levels:
            if name not in self._tables:
                self._fail(len(self._text), f"there are no probabilities of {name!r}")
        try:
            parents = {name: self._parents[name] for name in self._levels}
            return DiscreteNetwork(parents, self._tables, self._levels)
        except ParameterError as error:
            raise FileError(f"Cannot use {self._label}: {error}") from None

    def _read_block(self, start: int) -> int:
        """Read the block that starts here and return where it ends."""
        found = _BLOCK.match(self._text, start)
        if found is None:
            self._fail(start, "expected 'network', 'variable' or 'probability' and a brace")
        kind, head, inside = found["kind"], found["head"].strip(), found.end()
        if kind == "variable":
            inside = self._read_levels(head, inside)
        elif kind == "probability":
            inside = self._read_probabilities(head.removeprefix("(").removesuffix(")"), inside)
        closing = _CLOSING.match(self._text, inside)
        if closing is None:
            self._fail(inside, f"expected the closing brace of '{kind} {head}'")
        return closing.end()

    def _read_levels(self, head: str, start: int) -> int:
        name = "".join(_words(head))
        found = _LEVELS.match(self._text, start)
        if found is None:
            self._fail(start, f"expected 'type discrete [ n ] {{ ... }};' of {name!r}")
        levels = _words(found[2])
        if len(set(levels)) != int(found[1]) or len(levels) != int(found[1]):
            self._fail(start, f"{name!r} must have {found[1]} different levels; got {levels[:20]}")
        if name in self._levels:
            self._fail(start, f"there is a second variable {name!r}")
        self._levels[name] = levels
        return found.end()

    def _read_probabilities(self, head: str, start: int) -> int:
        name, *parents = _words(head) or [""]
        for variable in (name, *parents):
            if variable not in self._levels:
                self._fail(start, f"there is no variable {variable!r} before this")
        if name in self._tables:
            self._fail(start, f"there are probabilities of {name!r} already")
        self._check_size(start, name, parents)
        scope = [_codes(self._levels[variable]) for variable in (*parents, name)]
        table, end = self._read_rows(scope, start)
        if _CLOSING.match(self._text, end) is None:
            self._fail(end, f"expected 'table', 'default' or '(' in the probabilities of {name!r}")
        self._parents[name] = parents
        self._tables[name] = self._normalised(start, name, table)
        return end

    def _check_size(self, position: int, name: str, parents: Sequence[str]) -> None:
        """Raise before a table is made that is too large."""
        sizes = [len(self._levels[variable]) for variable in (*parents, name)]
        what = f"The table of {name!r} in {self._label}, with {len(parents)} parents,"
        refuse_beyond(BYTES_PER_CELL * math.prod(sizes), self._limit, what)
        if len(parents) >= _MOST_AXES:
            self._fail(position, f"{name!r} has {len(parents)} parents, and 63 are the most")

    def _read_rows(self, scope: Sequence[Mapping[str, int]], start: int) -> tuple[_Floats, int]:
        """Read the rows of one table, with an axis for each parent and one for the variable."""
        table = np.full([len(codes) for codes in scope], np.nan)
        n_levels = len(scope[-1])
        rows: dict[int, list[float]] = {}
        position = start
        while (found := _ROW.match(self._text, position)) is not None:
            numbers = self._numbers(position, found["numbers"])
            is_whole = found["word"] == "table" and len(scope) > 1
            expected = table.size if is_whole else n_levels
            if len(numbers) != expected:
                self._fail(position, f"expected {expected} probabilities; got {len(numbers)}")
            if is_whole:  # the first axis of the list is that of the variable itself
                whole = np.reshape(numbers, (n_levels, *table.shape[:-1]))
                table = np.ascontiguousarray(np.moveaxis(whole, 0, -1))
            elif found["word"]:
                table[...] = numbers
            else:
                rows[self._row(position, found["states"], scope[:-1])] = numbers
            position = found.end()
        if rows:  # last, because a default may stand anywhere
            table.reshape(-1, n_levels)[list(rows)] = list(rows.values())
        return table, position

    def _numbers(self, position: int, text: str) -> list[float]:
        try:
            return list(map(float, text.replace(",", " ").split()))
        except ValueError:
            self._fail(position, f"expected probabilities; got {text.strip()[:60]!r}")

    def _row(self, position: int, text: str, scope: Sequence[Mapping[str, int]]) -> int:
        """Return the row of a table that belongs to these states of the parents."""
        states = _words(text)
        if len(states) != len(scope):
            self._fail(position, f"expected {len(scope)} states of the parents; got {states[:20]}")
        row = 0
        for state, codes in zip(states, scope, strict=True):
            if state not in codes:
                self._fail(position, f"there is no level {state!r} among {list(codes)[:20]}")
            row = row * len(codes) + codes[state]
        return row

    def _normalised(self, position: int, name: str, table: _Floats) -> _Floats:
        if np.isnan(table).any():
            count = int(np.isnan(table).any(axis=-1).sum())
            self._fail(position, f"{count} rows of the table of {name!r} are missing")
        sums = table.sum(axis=-1, keepdims=True)
        worst = float(sums.flat[np.abs(sums - 1).argmax()])
        if abs(worst - 1) > _SLACK or (table < 0).any():
            what = "are negative" if (table < 0).any() else f"sum to {worst:g}, not 1"
            self._fail(position, f"probabilities of {name!r} {what}")
        normalised: _Floats = table / sums
        return normalised

    def _fail(self, position: int, why: str) -> NoReturn:
        rest = self._text[position:].lstrip()
        line = self._text.count("\n", 0, len(self._text) - len(rest)) + 1
        raise FileError(f"Cannot read {self._label} as BIF: near line {line}, {why}. Correct it.")


def _words(text: str) -> list[str]:
    if '"' not in text:  # the usual case, and rows of probabilities are many
        return text.replace(",", " ").replace("|", " ").split()
    return [quoted or bare for quoted, bare in _WORD.findall(text)]


def _codes(levels: Sequence[str]) -> dict[str, int]:
    return {level: code for code, level in enumerate(levels)}


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
