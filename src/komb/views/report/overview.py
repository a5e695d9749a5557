"""The data at a glance: every column with its levels, its gaps and where it was cut."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from html import escape

import numpy as np

from komb.data.encode.bin_labels import show_numbers
from komb.data.encode.codes import Name
from komb.data.table import DiscreteTable
from komb.results.blanket import Blanket
from komb.views.html.markup import notes_html, scroll_box, table_html
from komb.views.text import NOTHING, plural, show_name, show_names

_MOST_BARS = 24  # of a column; of one with more levels the most frequent are drawn
_MOST_COLUMNS = 25  # shown at once; of more, those that matter, and all on request
_BAR, _GAP, _HEIGHT = 8, 2, 28  # pixels
_NAMES_WIDTH = 90  # characters of a list of levels


def overview_html(table: DiscreteTable, blanket: Blanket) -> str:
    """Describe the columns of a table.

    Parameters
    ----------
    table
        What was searched.
    blanket
        What was found: the target and the members come first where there are many columns.
    """
    matters = {blanket.target, *blanket.members}
    positions = range(table.n_columns)
    gaps = [_missing(table, position) for position in positions]
    facts = f"<p>{escape(_size(table))}</p>\n{notes_html(_notes(table, blanket, gaps))}"
    if table.n_columns <= _MOST_COLUMNS:
        return facts + _columns(table, blanket, gaps, positions, "All columns")
    first = [position for position in positions if table.names[position] in matters]
    summary = f"All {plural(table.n_columns, 'column')}"
    return (
        f"{facts}{_columns(table, blanket, gaps, first, 'The target and its blanket')}"
        f"<details><summary>{escape(summary)}</summary>\n"
        f"{_columns(table, blanket, gaps, positions, summary)}</details>\n"
    )


def _size(table: DiscreteTable) -> str:
    low, high = int(table.cardinalities.min()), int(table.cardinalities.max())
    levels = plural(low, "level") if low == high else f"{low:,} to {plural(high, 'level')}"
    rows, columns = plural(table.n_rows, "row"), plural(table.n_columns, "column")
    return f"{rows} and {columns} of {levels} each."


def _notes(table: DiscreteTable, blanket: Blanket, gaps: Sequence[int]) -> Iterator[str]:
    excluded = blanket.parameters.get("exclude") or ()
    if excluded:
        yield f"Left out on request: {show_names(excluded, _NAMES_WIDTH)}."
    if any(gaps):
        way = _way_with_missing(str(blanket.parameters.get("missing")), gaps)
        columns = plural(sum(map(bool, gaps)), "column")
        yield f"{plural(sum(gaps), 'missing value')} in {columns}, {way}."
    if table.cuts:
        yield f"{plural(len(table.cuts), 'column')} of numbers cut into bins, as shown below."
    constant = [n for n, levels in zip(table.names, table.levels, strict=True) if len(levels) < 2]
    if constant:
        yield f"Constant, and so of no use: {show_names(constant, _NAMES_WIDTH)}."


def _way_with_missing(missing: str, gaps: Sequence[int]) -> str:
    """Say what became of missing values, of which there are so many in each column.

    Examples
    --------
    >>> _way_with_missing("level", [1, 0]), _way_with_missing("level", [3, 2])
    ('a level of its own', 'a level of their own in each')
    """
    is_one = sum(gaps) == 1
    if missing == "level":
        where = " in each" if sum(map(bool, gaps)) > 1 else ""
        return f"a level of {'its' if is_one else 'their'} own{where}"
    tests = f"the tests {'it concerns' if is_one else 'they concern'}"
    return f"left out of {tests}" if missing == "testwise" else "kept"


def _columns(
    table: DiscreteTable,
    blanket: Blanket,
    gaps: Sequence[int],
    positions: Sequence[int],
    title: str,
) -> str:
    headings = {"column": "left", "levels": "right", "missing": "right", "how often": "left"}
    if not any(gaps):
        del headings["missing"]
    rows = []
    for position in positions:
        name, levels = table.names[position], table.levels[position]
        row = {
            "column": _name(name, blanket),
            "levels": _count(len(levels), "level" if len(levels) == 1 else "levels"),
            "missing": _count(gaps[position], "missing"),
            "how often": _levels(table, position) + _cuts(table, name),
        }
        rows.append([row[heading] for heading in headings])
    return scroll_box(title, table_html(headings, rows, headings.values()), "columns")


def _count(number: int, unit: str) -> str:
    """Write a number; on a narrow screen, where there are no headings, with its unit."""
    if not number:
        return f'<span class="wide">{NOTHING}</span>'
    return f'{number:,}<span class="narrow"> {unit}</span>'


def _name(name: Name, blanket: Blanket) -> str:
    kinds: Collection[tuple[str, bool]] = (
        ("target", name == blanket.target),
        ("member", name in blanket.members),
        ("identifier?", name in blanket.identifiers),
    )
    tags = "".join(
        f' <span class="tag {kind.rstrip("?")}">{kind}</span>' for kind, holds in kinds if holds
    )
    return f'<span class="name">{escape(show_name(name))}</span>{tags}'


def _missing(table: DiscreteTable, position: int) -> int:
    codes, levels = table.codes[position], table.levels[position]
    count = int(np.count_nonzero(codes == len(levels))) if table.has_missing else 0
    return count + (int(np.count_nonzero(codes == levels.index(None))) if None in levels else 0)


def _levels(table: DiscreteTable, position: int) -> str:
    """Draw how often each level occurs, and say it."""
    levels = [*table.levels[position], *([None] if table.has_missing else [])]
    counts = np.bincount(table.codes[position], minlength=len(levels))[: len(levels)].tolist()
    occurring = [(level, count) for level, count in zip(levels, counts, strict=True) if count]
    shown = occurring
    if len(occurring) > _MOST_BARS:
        shown = sorted(occurring, key=lambda pair: -pair[1])[:_MOST_BARS]
    labels = [f"{_show_level(level)}: {count:,}" for level, count in shown]
    text = show_names(labels, _NAMES_WIDTH)
    if len(occurring) > len(shown):
        text = f"the {len(shown)} most frequent of {plural(len(occurring), 'level')}; {text}"
    return f'{_bars(shown, text)}<span class="levels">{escape(text)}</span>'


def _show_level(level: object) -> str:
    return "missing" if level is None else show_name(level)


def _bars(shown: Sequence[tuple[object, int]], text: str) -> str:
    most = max(count for _, count in shown)
    heights = [max(1, round(_HEIGHT * count / most)) for _, count in shown]
    kinds = [' class="gap"' if level is None else "" for level, _ in shown]
    bars = "".join(
        f'<rect x="{number * (_BAR + _GAP)}" y="{_HEIGHT - height}" width="{_BAR}" '
        f'height="{height}"{kind}/>'
        for number, (height, kind) in enumerate(zip(heights, kinds, strict=True))
    )
    width = len(shown) * (_BAR + _GAP) - _GAP
    size = f'width="{width}" height="{_HEIGHT}" viewBox="0 0 {width} {_HEIGHT}"'
    return f'<svg class="bars" {size} role="img" aria-label="{escape(text)}">{bars}</svg>'


def _cuts(table: DiscreteTable, name: Name) -> str:
    if name not in table.cuts:
        return ""
    points = show_names(show_numbers(table.cuts[name]), _NAMES_WIDTH)
    return f'<span class="cuts">{escape(f"cut at {points}" if points else "not cut")}</span>'
