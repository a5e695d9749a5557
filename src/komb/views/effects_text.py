"""Effect sizes, and a ranking of all columns by them, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from komb.views.text import NOTHING, Grid, Sheet, plural, show_name, show_names

if TYPE_CHECKING:
    from komb.results.effects import Effect, Effects, Ranked, Ranking

_NAMES_WIDTH = 40  # characters of a list of names
_HEADINGS = ("member", "unique>", "synergy>", "redundancy>", "alone>", "95 %>", "added>", "95 %>",
             "added to what")  # fmt: skip
_GROUP_HEADINGS = ("group", "together>", "sum of each alone>", "synergy>")


def show_bits(value: float) -> str:
    """Show bits per row; an estimate below zero says that there are none."""
    return f"{max(value, 0.0):.3f}"


def effects_sheet(effects: Effects) -> Sheet:
    """Say how much each member tells, the one that adds most first."""
    ordered = sorted(effects.details, key=lambda effect: -effect.added)
    groups = [
        (
            show_names(group.columns, _NAMES_WIDTH),
            show_bits(group.together),
            show_bits(group.alone),
            show_bits(group.synergy),
        )
        for group in effects.groups
    ]
    return Sheet(
        title=f"What the members tell about {show_name(effects.target)}, in bits per row",
        facts=(
            f"Knowing {show_name(effects.target)} itself would be {show_bits(effects.entropy)} bits"
        ),
        grids=(
            Grid(_HEADINGS, tuple(_show_effect(effect, len(effects)) for effect in ordered)),
            Grid(_GROUP_HEADINGS, tuple(groups)),
        ),
        notes=tuple(_notes(effects)),
    )


def _show_effect(effect: Effect, n_members: int) -> tuple[str, ...]:
    parts = (effect.unique, effect.synergy, effect.redundancy, effect.alone)
    rest = "all other members" if effect.complete else show_names(effect.given, _NAMES_WIDTH)
    return (
        show_name(effect.name),
        *map(show_bits, parts),
        f"{show_bits(effect.alone_low)} to {show_bits(effect.alone_high)}",
        show_bits(effect.added),
        f"{show_bits(effect.added_low)} to {show_bits(effect.added_high)}",
        (rest or "(nothing)") if n_members > 1 else "(it is the only member)",
    )


def _notes(effects: Effects) -> Iterator[str]:
    if effects.details:
        yield (
            "One bit answers one yes-or-no question about the target, in every row. Alone: what a "
            "member tells by itself, unique + redundancy. Added: what it tells beyond the members "
            "named, unique + synergy. Corrected for chance: about 0 where there is nothing."
        )
    n_thin = sum(not effect.complete for effect in effects.details)
    if n_thin:
        has = "has" if n_thin == 1 else "have"
        yield (
            f"{plural(n_thin, 'member')} {has} too few rows per cell to be conditioned on all "
            "others: what is added to fewer of them may be more, or less, than what is added to "
            "all."
        )


_SHOWN = 20  # columns besides members
_RANKING_HEADINGS = ("rank>", "column", "member", "added>", "alone>", "added to what",
                     "independent given")  # fmt: skip


def ranking_sheet(ranking: Ranking) -> Sheet:
    """List the members, and the first of the other columns."""
    n_members = sum(entry.is_member for entry in ranking)
    shown = ranking.columns[: n_members + _SHOWN]
    return Sheet(
        title=f"Columns by what they tell about {show_name(ranking.target)}, in bits per row",
        facts=f"{plural(len(ranking), 'column')}, {plural(n_members, 'member')} first",
        grids=(Grid(_RANKING_HEADINGS, tuple(map(_show, shown))),),
        notes=tuple(_ranking_notes(ranking, len(shown))),
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


def _ranking_notes(ranking: Ranking, n_shown: int) -> Iterator[str]:
    if n_shown < len(ranking):
        yield f"{plural(len(ranking) - n_shown, 'more column')}: see 'to_frame'."
    if len(ranking):
        yield (
            "One bit answers one yes-or-no question about the target, in every row. Added: what a "
            "column tells beyond the columns named. Alone: what it tells by itself. Corrected for "
            "chance: about 0 where there is nothing."
        )
