"""Groups of columns that are tested and reported as one: a gene's variants, a one-hot block."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from komb.data.levels import CodeArray, Levels, code_dtype
from komb.data.names import Name, list_names
from komb.data.problems import FEW_LEVELS, MAX_LEVELS
from komb.data.table import DiscreteTable
from komb.errors import Argument, ParameterError, UnknownNameError

Groups: TypeAlias = Mapping[Any, Iterable[Name]] | str | None
Codes: TypeAlias = npt.NDArray[np.int64]

PREFIX = "prefix"
"""Find one-hot blocks by the names of their columns."""

_EXAMPLE = "Write it as ", Argument("groups", {"gene": ["rs1", "rs2"]}), "."

SEPARATOR = "_"
"""What ends a prefix."""

MOST_LEVELS_SHARE = 0.5
"""Combinations per row, at most: with more, a group identifies rows."""


def check_groups(groups: object) -> dict[Name, tuple[Name, ...]] | str:
    """Check what can be checked before there is a table."""
    if isinstance(groups, str) and groups == PREFIX:
        return groups
    if not isinstance(groups, Mapping):
        rule = f"map names of groups to lists of columns, or be {PREFIX!r}"
        raise ParameterError.because("groups", rule, groups, _EXAMPLE)
    home: dict[Name, Name] = {}
    checked: dict[Name, tuple[Name, ...]] = {}
    for group, columns in groups.items():
        if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
            rule = f"have a list of names of columns for {group!r}"
            raise ParameterError.because("groups", rule, columns, _EXAMPLE)
        checked[group] = tuple(dict.fromkeys(list_names("groups", columns)))
        if not checked[group]:
            rule = f"name at least one column for {group!r}"
            raise ParameterError.because("groups", rule, [], _EXAMPLE)
        for name in checked[group]:
            if name in home:
                shown = f"{name!r} in {home[name]!r} and {group!r}"
                remedy = "Take it out of one of the two."
                rule = "have no column in two groups"
                raise ParameterError.because("groups", rule, name, remedy, shown=shown)
            home[name] = group
    return checked


def columns_of(groups: Mapping[Name, tuple[Name, ...]] | str) -> tuple[Name, ...]:
    """Return the columns of all groups that are named."""
    listed = groups.values() if isinstance(groups, Mapping) else ()
    return tuple(name for columns in listed for name in columns)


def find_blocks(table: DiscreteTable, without: Collection[Name]) -> dict[Name, tuple[Name, ...]]:
    """Find one-hot blocks: columns that share a prefix, of which at most one is set in any row.

    A block has at least two columns whose names are text and equal up to the last underscore. Each
    has two levels (or one, if it is constant); the higher is taken for "set". No row has two set,
    and no other column has the prefix for its name.
    """
    by_prefix: dict[str, list[str]] = {}
    for name in table.names:
        if isinstance(name, str) and SEPARATOR in name.strip(SEPARATOR):
            by_prefix.setdefault(name.rpartition(SEPARATOR)[0], []).append(name)
    known = set(table.names)
    return {
        prefix: tuple(columns)
        for prefix, columns in by_prefix.items()
        if len(columns) > 1 and prefix not in known
        if not any(name in without for name in columns)
        if _is_one_hot(table, columns)
    }


def _is_one_hot(table: DiscreteTable, columns: list[str]) -> bool:
    positions = [table.index(name) for name in columns]
    if any(len(table.levels[x]) > 2 or not _is_flag(table.levels[x]) for x in positions):
        return False
    n_set = np.zeros(table.n_rows, dtype=np.int64)
    for x in positions:
        is_set = np.array([bool(level) for level in table.levels[x]] + [False])
        n_set += is_set[table.codes[x]]
    return bool((n_set <= 1).all())


def _is_flag(levels: Iterable[object]) -> bool:
    return all(level in (0, 1) for level in levels)  # True and False among them


def group_columns(
    table: DiscreteTable, groups: Mapping[Name, tuple[Name, ...]], parameter: str = "groups"
) -> DiscreteTable:
    """Put one column of combinations into the place of the columns of each group."""
    members = {name for columns in groups.values() for name in columns}
    for group, columns in groups.items():
        for name in columns:
            if name not in table.names:
                raise UnknownNameError.among("column", name, table.names, parameter)
        if group in table.names and group not in members:
            rule = "give groups names that no other column has"
            raise ParameterError.because(parameter, rule, group, "Choose another name.")
    for group, columns in groups.items():
        table = _group(table, group, columns, parameter)
    return table


def _group(
    table: DiscreteTable, group: Name, columns: tuple[Name, ...], parameter: str
) -> DiscreteTable:
    positions = [table.index(name) for name in columns]
    levels = [table.levels[x] for x in positions]
    joint = join([table.codes[x] for x in positions], [len(own) for own in levels])
    most = min(MAX_LEVELS - 1, max(FEW_LEVELS, int(MOST_LEVELS_SHARE * table.n_rows)))
    if len(joint.parts) > most:
        rule = f"have at most {most:,} combinations of values, one for two rows, in a group"
        shown = f"{len(joint.parts):,} in {group!r}"
        remedy = "Take fewer columns, or columns with fewer levels, into the group."
        raise ParameterError.because(parameter, rule, len(joint.parts), remedy, shown=shown)
    named = tuple(
        tuple(own[code] for own, code in zip(levels, part, strict=True)) for part in joint.parts
    )
    return replace_columns(table, columns, group, joint.codes, named)


class Joint(NamedTuple):
    """A column of combinations; the code above the last level marks rows that lack a value."""

    codes: Codes
    parts: tuple[tuple[int, ...], ...]  # of each level, the codes of the columns it is made of


def join(columns: Sequence[npt.NDArray[np.unsignedinteger]], n_levels: Sequence[int]) -> Joint:
    """Count off the combinations of values that occur, in the order of the levels."""
    is_known = np.ones(len(columns[0]), dtype=bool)
    for codes, count in zip(columns, n_levels, strict=True):
        is_known &= codes < count
    combined = np.zeros(int(is_known.sum()), dtype=np.int64)
    for codes, count in zip(columns, n_levels, strict=True):
        # renumbered at every step, so that products of many levels do not overflow
        _, combined = np.unique(combined * count + codes[is_known], return_inverse=True)
    _, first = np.unique(combined, return_index=True)
    parts = np.column_stack([codes[is_known][first] for codes in columns])
    joined = np.full(len(is_known), len(first), dtype=np.int64)
    joined[is_known] = combined
    return Joint(joined, tuple(map(tuple, parts.tolist())))


def replace_columns(
    table: DiscreteTable, old: Sequence[Name], name: Name, codes: Codes, levels: Levels
) -> DiscreteTable:
    """Put one column into the place of the first of some others, at the end if there are none."""
    gone = set(old)
    place = min((table.index(each) for each in old), default=table.n_columns)
    kept = [i for i in range(table.n_columns) if table.names[i] not in gone]
    before = sum(i < place for i in kept)
    dtype = max(table.codes.dtype, code_dtype(len(levels) + 1), key=lambda kind: kind.itemsize)
    joined: CodeArray = np.empty((len(kept) + 1, table.n_rows), dtype=dtype)
    for row, i in enumerate(kept):
        joined[row + (row >= before)] = table.codes[i]
    joined[before] = codes
    names, all_levels = [table.names[i] for i in kept], [table.levels[i] for i in kept]
    names.insert(before, name)
    all_levels.insert(before, levels)
    return table.derive(names, joined, all_levels, made=[name])
