"""Groups of columns that are tested and reported as one: a gene's variants, a one-hot block."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from komb.data.arrange.joint import join, replace_columns
from komb.data.encode.column_errors import MAX_LEVELS
from komb.data.names import Name
from komb.data.table import DiscreteTable
from komb.errors import ParameterError, UnknownNameError

SEPARATOR = "_"
"""What ends a prefix."""

MOST_LEVELS_SHARE = 0.5
"""Combinations per row, at most: with more, a group identifies rows."""

_FEW_LEVELS = 20  # up to here a group is no identifier, however few the rows


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
    most = min(MAX_LEVELS - 1, max(_FEW_LEVELS, int(MOST_LEVELS_SHARE * table.n_rows)))
    if len(joint.parts) > most:
        rule = f"have at most {most:,} combinations of values, one for two rows, in a group"
        shown = f"{len(joint.parts):,} in {group!r}"
        remedy = "Take fewer columns, or columns with fewer levels, into the group."
        raise ParameterError.because(parameter, rule, len(joint.parts), remedy, shown=shown)
    named = tuple(
        tuple(own[code] for own, code in zip(levels, part, strict=True)) for part in joint.parts
    )
    return replace_columns(table, columns, group, joint.codes, named)
