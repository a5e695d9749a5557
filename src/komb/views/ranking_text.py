"""A ranking of all columns as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from komb.views.effects_text import show_bits
from komb.views.text import NOTHING, Grid, Sheet, plural, show_name, show_names

if TYPE_CHECKING:
    from komb.results.ranking import Ranked, Ranking

_NAMES_WIDTH = 40  # characters of a list of names
_SHOWN = 20  # columns besides members
_HEADINGS = ("rank>", "column", "member", "added>", "alone>", "added to what", "independent given")


def ranking_sheet(ranking: Ranking) -> Sheet:
    """List the members, and the first of the other columns."""
    n_members = sum(entry.is_member for entry in ranking)
    shown = ranking.columns[: n_members + _SHOWN]
    return Sheet(
        title=f"Columns by what they tell about {show_name(ranking.target)}, in bits per row",
        facts=f"{plural(len(ranking), 'column')}, {plural(n_members, 'member')} first",
        grids=(Grid(_HEADINGS, tuple(map(_show, shown))),),
        notes=tuple(_notes(ranking, len(shown))),
    )


def _show(entry: Ranked) -> tuple[str, ...]:
    return (
        str(entry.rank),
        show_name(entry.column),
        "yes" if entry.is_member else "",
        show_bits(entry.added),
        show_bits(entry.alone),
        show_names(entry.given, _NAMES_WIDTH) or "(nothing)",
        NOTHING
        if entry.separator is None
        else show_names(entry.separator, _NAMES_WIDTH) or "(nothing)",
    )


def _notes(ranking: Ranking, n_shown: int) -> Iterator[str]:
    if n_shown < len(ranking):
        yield f"{plural(len(ranking) - n_shown, 'more column')}: see 'to_frame'."
    if len(ranking):
        yield (
            "One bit answers one yes-or-no question about the target, in every row. Added: what a "
            "column tells beyond the columns named. Alone: what it tells by itself. Corrected for "
            "chance: about 0 where there is nothing."
        )
