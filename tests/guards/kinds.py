"""Kinds of tables that answers are frozen for, drawn from whole numbers and so alike everywhere."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

import komb
from tests.guards import calls
from tests.guards.calls import Data

Codes = npt.NDArray[np.int64]

LITTLE_MEMORY = 60_000  # bytes: less than the table takes, so that it is counted in several parts
LONG = 70_000  # rows: from 65,536 on, tests of one target are counted in blocks of columns


@dataclass(frozen=True)
class Kind:
    """A table, and which of its columns are asked about."""

    data: Data
    names: tuple[str, ...]
    drawn: int  # of what was drawn: if this differs, answers cannot be compared

    @property
    def is_model(self) -> bool:
        return not self.drawn


def draw(n_rows: int, levels: Sequence[int], seed: int) -> dict[str, Codes]:
    """Draw columns ``a``, ``b``, ...: each after the third has two parents, mixed with noise."""
    random = np.random.default_rng(seed)
    columns: list[Codes] = []
    for place, n in enumerate(levels):
        noise = random.integers(0, n, n_rows)
        column = np.minimum(noise, random.integers(0, n, n_rows))  # levels are not equally frequent
        if place > 2:
            p, q = (columns[k] for k in random.choice(place, 2, replace=False))
            ways = (p + q) % n, np.maximum(p, q) % n, p % n, (p * q + q) % n
            is_noise = random.integers(0, 10, n_rows) < 2 + place % 4
            column = np.where(is_noise, noise, ways[place % 4])
        columns.append(column)
    return {chr(ord("a") + place): column for place, column in enumerate(columns)}


def blank(columns: dict[str, Codes], names: str, seed: int) -> dict[str, list[Any]]:
    """Take away every tenth value or so of some columns."""
    random = np.random.default_rng(seed)
    gone = {name: random.integers(0, 10, len(columns[name])) == 0 for name in names}
    return {
        name: [None if name in names and gone[name][i] else int(v) for i, v in enumerate(column)]
        for name, column in columns.items()
    }


def numbers(columns: dict[str, Codes], names: str, seed: int) -> dict[str, Any]:
    """Make numbers with decimals of some columns: near their codes, with three digits."""
    random = np.random.default_rng(seed)
    made: dict[str, Any] = dict(columns)
    for name in names:
        spread = random.integers(-500, 501, (3, len(columns[name]))).sum(axis=0)
        made[name] = (1000 * columns[name] + spread) / 1000
    return made


SMALL = (2, 3, 2, 3, 2, 4, 3, 2, 3, 2)
SPARSE = (2, 30, 3, 400, 8, 12, 2, 20, 5)
MANY_STRATA = (2, 6, 5, 8, 3, 9, 7, 4)  # too many for bitmaps, which are counted in another way
COPIED = (2, 3, 2, 3, 2, 3)


def _kind(raw: dict[str, Any], leave_out: str = "", **options: Any) -> Kind:
    known: dict[str, Any] = {}
    for name in ("given", "knowledge"):
        if name in options:
            known[name] = options.pop(name)
    groups = options.get("groups") or {}
    grouped = [name for members in groups.values() for name in members]
    names = [name for name in raw if name not in leave_out and name not in grouped]
    return Kind(Data(raw, options, known), (*groups, *names), _digest(raw))


def _digest(raw: dict[str, Any]) -> int:
    arrays = (np.array([-1 if v is None else v for v in column]) for column in raw.values())
    return zlib.crc32(b"".join(array.tobytes() for array in arrays), len(raw))


def _levels(_: Path) -> Kind:
    return _kind(draw(1500, SMALL, 1))


def _few_rows(_: Path) -> Kind:
    return _kind(draw(60, SMALL, 2))


def _copies(_: Path) -> Kind:
    """Columns that can stand for each other: a copy, and two that determine a third."""
    columns = draw(800, COPIED, 3)
    return _kind({**columns, "copy": columns["d"], "both": columns["a"] * 3 + columns["b"]})


def _gaps(_: Path) -> Kind:
    return _kind(blank(draw(1500, SMALL, 4), "bdeg", 5))


def _gaps_as_levels(_: Path) -> Kind:
    return _kind(blank(draw(1500, SMALL, 4), "bdeg", 5), missing="level")


def _long(_: Path) -> Kind:
    return _kind(draw(LONG, MANY_STRATA, 6))


def _wide(_: Path) -> Kind:
    """As many pairs of columns as are screened before they are counted."""
    noise = np.random.default_rng(19).integers(0, 3, (400, 7000))
    columns = {f"w{place}": column for place, column in enumerate(noise)}
    kind = _kind(draw(7000, SMALL, 20) | columns)
    return Kind(kind.data, kind.names[: len(SMALL)], kind.drawn)


def _sparse(_: Path) -> Kind:
    columns = draw(2500, SPARSE, 7)
    return _kind(columns, types=dict.fromkeys(columns, "nominal"))


def _sparse_gaps(_: Path) -> Kind:
    columns = blank(draw(2500, SPARSE, 21), "bdfh", 22)
    return _kind(columns, types=dict.fromkeys(columns, "nominal"))


def _stored(folder: Path) -> Kind:
    kind = _kind(draw(1500, SMALL, 1))
    return Kind(Data(calls.store(kind.data, folder / "stored.komb")), kind.names, kind.drawn)


def _limited(folder: Path) -> Kind:
    kind = _kind(draw(4000, SMALL, 8))
    table = calls.store(kind.data, folder / "limited.komb", LITTLE_MEMORY)
    limit = {"memory_limit": LITTLE_MEMORY}
    return Kind(Data(table, limit), kind.names, kind.drawn)


def _numbers(_: Path) -> Kind:
    return _kind(numbers(draw(500, (3, 4, 3, 4, 3, 4, 3), 9), "abcdefg", 10))


def _mixed(_: Path) -> Kind:
    return _kind(numbers(draw(700, SMALL[:8], 11), "bdfg", 12))


def _covariates(_: Path) -> Kind:
    return _kind(numbers(draw(1500, SMALL, 13), "j", 14), leave_out="aj", given=["a", "j"])


def _groups(_: Path) -> Kind:
    return _kind(draw(1500, SMALL, 15), groups={"ce": ["c", "e"], "hij": ["h", "i", "j"]})


def _frequencies(_: Path) -> Kind:
    columns = draw(600, (*SMALL[:9], 5), 16)
    return _kind({**columns, "j": columns["j"] + 1}, leave_out="j", weights="j")


def _survey(_: Path) -> Kind:
    columns = draw(900, (*SMALL[:9], 5), 17)
    weights = (columns["j"] + 2) / 4
    return _kind({**columns, "j": weights}, leave_out="j", weights={"j": "survey"})


def _knowledge(_: Path) -> Kind:
    known = {"tiers": [["a", "b", "c"], ["d", "e", "f"]], "forbidden": [["g", "h"]]}
    return _kind(draw(1500, SMALL, 18), knowledge={**known, "required": [["i", "j"]]})


def _network(_: Path) -> Kind:
    model = komb.DiscreteNetwork.random(9, seed=1)
    return Kind(Data(model), model.names, 0)


def _field(_: Path) -> Kind:
    model = komb.MarkovField.random(8, seed=2)
    return Kind(Data(model), model.names, 0)


def _graph(_: Path) -> Kind:
    edges = ["ad", "bd", "be", "ce", "df", "ef", "eg", "gh", "fi", "hi"]
    return Kind(Data(nx.DiGraph([(edge[0], edge[1]) for edge in edges])), tuple("abcdefghi"), 0)


KINDS: dict[str, Callable[[Path], Kind]] = {
    "levels": _levels,
    "few rows": _few_rows,
    "copies": _copies,
    "gaps": _gaps,
    "gaps as levels": _gaps_as_levels,
    "long": _long,
    "sparse": _sparse,
    "sparse gaps": _sparse_gaps,
    "wide": _wide,
    "stored": _stored,
    "limited": _limited,
    "numbers": _numbers,
    "mixed": _mixed,
    "covariates": _covariates,
    "groups": _groups,
    "frequencies": _frequencies,
    "survey": _survey,
    "knowledge": _knowledge,
    "network": _network,
    "field": _field,
    "graph": _graph,
}
