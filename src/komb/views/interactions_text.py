"""Groups of columns that act together, as text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from typing import TYPE_CHECKING

from komb.views.effects_text import show_bits
from komb.views.text import (
    NOTHING,
    Grid,
    Sheet,
    plural,
    show_freedom,
    show_name,
    show_names,
    show_p_value,
    show_seconds,
    show_statistic,
)

if TYPE_CHECKING:
    from komb.results.interactions import Cells, Interaction, Interactions

_SHOWN, _SHOWN_MORE = 30, 5  # groups that are significant, and others
_MOST_CELLS = 36  # of a table of effects that is printed
_HEADINGS = (
    "rank>", "columns", "where", "statistic>", "df>", "p>", "family-wise p>", "FDR p>", "bits>",
    "bits in all>", "rows>", "proxies>",
)  # fmt: skip
_VERBS = {"interaction": "act together on", "association": "are associated with"}


def interactions_sheet(found: Interactions) -> Sheet:
    """Say which groups there are, and what no other group has."""
    n_found = len(found.significant)
    shown = found.groups[: min(n_found, _SHOWN) + (_SHOWN_MORE if n_found <= _SHOWN else 0)]
    lines = [_show(each) for each in shown]
    used = [not lines or any(line[i] != NOTHING for line in lines) for i in range(len(_HEADINGS))]
    headings, *rows = (tuple(compress(line, used)) for line in (_HEADINGS, *lines))
    return Sheet(
        title=_answer(found, n_found),
        facts=", ".join(_facts(found)),
        grids=(Grid(headings, tuple(rows)),),
        notes=tuple(_notes(found, n_found, len(shown))),
    )


def certificate(found: Interactions) -> str:
    """Say what no group carries."""
    other = "other " if found.significant else ""
    what = "beyond its parts" if found.test == "interaction" else "in all"
    most = max(each.most_bits for each in found.searched)
    left_out = sum(each.n_groups - each.n_tested for each in found.searched)
    besides = f", besides {plural(left_out, 'group')} with too many cells to be tested"
    return (
        f"With 95 % confidence, no {other}group of up to {found.order} of these columns carries "
        f"more than {most:.2g} bits {what}{besides if left_out else ''}."
    )


def interaction_sheet(each: Interaction) -> Sheet:
    """Show one group with its table of effects."""
    columns, target = show_names(each.columns), show_name(each.target)
    where = f"at {', '.join(each.places)}, " if each.places else ""
    facts = (
        f"{where}statistic {show_statistic(each.statistic)}, df {show_freedom(each.df)}, "
        f"p = {show_p_value(each.p_value)}, family-wise {show_p_value(each.p_family)}, "
        f"{show_bits(each.bits)} bits beyond its parts"
    )
    grids = () if each.cells is None else (_cells_grid(each, each.cells),)
    return Sheet(f"{columns} together on {target}", facts, grids)


def _cells_grid(each: Interaction, cells: Cells) -> Grid:
    """One line per cell: the levels, rows, and the mean or share."""
    what = "mean>" if cells.level is None else f"share of {cells.level}>"
    rows: list[tuple[str, ...]] = []
    for number, (count, mean) in enumerate(zip(cells.n_rows, cells.means, strict=True)):
        left, names = number, []
        for levels in reversed(cells.levels):
            names.append(levels[left % len(levels)])
            left //= len(levels)
        if mean is not None and len(rows) < _MOST_CELLS:
            rows.append((*reversed(names), f"{count:,}", f"{mean:.3g}"))
    return Grid((*map(show_name, each.columns), "rows>", what), tuple(rows))


def _answer(found: Interactions, n_found: int) -> str:
    target, verb = show_name(found.target), _VERBS[found.test]
    if n_found:
        groups = plural(n_found, "group")
        if n_found == 1:
            verb = verb.replace("are", "is").replace("act ", "acts ")
        return f"{groups} of columns {verb} {target}"
    singular = verb.replace("are", "is").replace("act ", "acts ")
    return f"No group of up to {found.order} of these columns {singular} {target}"


def _facts(found: Interactions) -> Iterator[str]:
    yield plural(found.n_rows, "row")
    yield plural(found.n_columns, "column")
    for each in found.searched:
        yield f"{each.n_tested:,} groups of {each.size}"
    yield f"test {found.test!r}"
    yield f"family-wise error {found.level:g}"
    if found.given:
        yield f"given {show_names(found.given, 60)}"
    yield show_seconds(found.seconds)


def _show(each: Interaction) -> tuple[str, ...]:
    return (
        str(each.rank), show_names(each.columns), ", ".join(each.places) or NOTHING,
        show_statistic(each.statistic),
        show_freedom(each.df), show_p_value(each.p_value), show_p_value(each.p_family),
        show_p_value(each.p_fdr), show_bits(each.bits), show_bits(each.bits_in_all),
        f"{each.n_rows:,}", str(len(each.proxies)) if each.proxies else NOTHING,
    )  # fmt: skip


def _notes(found: Interactions, n_found: int, n_shown: int) -> Iterator[str]:
    yield certificate(found)
    if n_shown > n_found:
        yield f"Groups from rank {n_found + 1} on are not significant."
    if n_shown < len(found):
        yield f"{plural(len(found) - n_shown, 'more group')}: see 'to_frame'."
    if any(each.proxies for each in found.groups[:n_shown]):
        yield (
            "Proxies: groups of near-copies of the same columns, which are one finding with them."
        )
    if n_shown:
        yield (
            "Bits: what a group tells about the target beyond all of its subsets, per row; what is "
            "expected under independence is subtracted."
        )
    yield from found.notes
