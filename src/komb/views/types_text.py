"""What was decided about columns, in a few lines: only what a reader might not expect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from komb.data.bins import show_numbers, show_times
from komb.data.kinds import BINS, EMPTY, IDENTIFIER, NESTED, RANKS, TEXT, TIME
from komb.views.text import Grid, Sheet, plural, show_name, show_names

if TYPE_CHECKING:
    from komb.data.kinds import ColumnType
    from komb.data.names import Name

_NAMES_WIDTH = 60
_MOST_REASONS = 5  # columns whose treatment is explained
_WORDS = {IDENTIFIER: "identifier", TEXT: "free text", NESTED: "no levels", EMPTY: "no values"}


def types_sheet(types: Mapping[Name, ColumnType]) -> Sheet:
    """Say what every column was found to be."""
    rows = (
        (show_name(name), of.kind, of.treatment, f"{of.missing:,}" if of.missing else "", of.reason)
        for name, of in types.items()
    )
    headings = ("column", "type", "treatment", "missing>", "why")
    return Sheet(plural(len(types), "column"), grids=(Grid(headings, tuple(rows)),))


def type_notes(types: Mapping[Name, ColumnType], missing: str = "testwise") -> Iterator[str]:
    """Say what was read in another way, or has missing values."""
    kept = {name: found for name, found in types.items() if not found.is_left_out}
    explained = [(name, found.reason) for name, found in kept.items() if found.reason]
    for name, reason in explained[:_MOST_REASONS]:
        yield f"{show_name(name)}: {reason}."
    if len(explained) > _MOST_REASONS:
        yield f"{plural(len(explained) - _MOST_REASONS, 'more column')} with remarks: see 'types'."
    counts = [found.missing for found in kept.values() if found.missing]
    if counts:
        ways = {"testwise": "left out of the tests they concern", "level": "a level of their own"}
        total, columns = plural(sum(counts), "missing value"), plural(len(counts), "column")
        yield f"{total} in {columns}, {ways.get(missing, missing)}."


def left_out_notes(types: Mapping[Name, ColumnType]) -> Iterator[str]:
    """Name columns that are no part of the search."""
    by_kind: dict[str, list[Name]] = {}
    for name, found in types.items():
        if found.is_left_out:
            by_kind.setdefault(found.kind, []).append(name)
    if not by_kind:
        return
    parts = [
        f"{show_names(names, _NAMES_WIDTH)} ({_WORDS[kind]})" for kind, names in by_kind.items()
    ]
    hint = ""
    if IDENTIFIER in by_kind or TEXT in by_kind:
        first = next(iter(by_kind.get(IDENTIFIER, by_kind.get(TEXT, []))))
        hint = f" Where that is wrong: komb.table(data, types={{{first!r}: 'nominal'}}), or --type."
    yield f"Left out: {'; '.join(parts)}.{hint}"


def rank_notes(types: Mapping[Name, ColumnType]) -> Iterator[str]:
    """Say which columns were tested by their values."""
    ranked = [name for name, found in types.items() if found.treatment == RANKS]
    if ranked:
        yield f"Numbers, tested by their ranks: {show_names(ranked, _NAMES_WIDTH)}."


def bin_notes(
    types: Mapping[Name, ColumnType], cuts: Mapping[Name, tuple[float, ...]]
) -> Iterator[str]:
    """Say which columns were cut without being asked for."""
    cut = [name for name in cuts if name in types and types[name].treatment == BINS]
    if not cut:
        return
    sizes = sorted({len(cuts[name]) + 1 for name in cut})
    bins = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
    if len(cut) == 1:
        names = f"{show_name(cut[0])} (at {show_names(show_cuts(cut[0], cuts, types))})"
    else:
        names = f"{show_names(cut, _NAMES_WIDTH)}; at which values is in 'cuts'"
    yield f"Cut into {bins} bins of equally many rows: {names}."


def show_cuts(
    name: Name, cuts: Mapping[Name, tuple[float, ...]], types: Mapping[Name, ColumnType]
) -> list[str]:
    """Show the cut points of a column, as times if that is what they are."""
    is_time = name in types and types[name].kind == TIME
    return (show_times if is_time else show_numbers)(cuts[name])
