"""Effect sizes and rankings as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from komb.views.pictures.canvas import make_room, new_axes, shorten
from komb.views.text import show_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from komb.results.effects import Effects, Ranking

# Colours of Okabe and Ito, which readers with any kind of colour vision can tell apart.
_COLOURS = {"unique": "#0072B2", "synergy": "#D55E00", "redundancy": "#BBBBBB"}
_MEMBER, _OTHER = "#0072B2", "#BBBBBB"
_LETTERS = 28  # of a name
_BAR, _WIDTH = 0.3, 4.0  # inches: of a bar, and of the axes
_SHOWN = 20  # columns besides members


def plot_effects(effects: Effects, ax: Axes | None = None) -> Axes:
    """Draw what members tell: stacked bars, and a line for the interval of what each adds."""
    ordered = sorted(effects.details, key=lambda effect: -effect.added)
    names = [show_name(effect.name) for effect in ordered]
    axes, is_new = _make_axes(names, f"What the members tell about {show_name(effects.target)}", ax)
    left = [0.0] * len(ordered)
    for part, colour in _COLOURS.items():
        widths = [getattr(effect, part) for effect in ordered]
        axes.barh(range(len(ordered)), widths, left=left, color=colour, label=part)
        left = [start + wide for start, wide in zip(left, widths, strict=True)]
    for number, effect in enumerate(ordered):
        axes.plot([effect.added_low, effect.added_high], [number, number], color="#222222")
    return _finish(axes, is_new=is_new)


def plot_ranking(ranking: Ranking, ax: Axes | None = None) -> Axes:
    """Draw what columns add: all members, and the first of the others."""
    n_members = sum(entry.is_member for entry in ranking)
    shown = ranking.columns[: n_members + _SHOWN]
    names = [show_name(entry.column) for entry in shown]
    axes, is_new = _make_axes(names, f"What columns tell about {show_name(ranking.target)}", ax)
    for is_member, colour, label in ((True, _MEMBER, "members"), (False, _OTHER, "other columns")):
        places = [number for number, entry in enumerate(shown) if entry.is_member is is_member]
        if places:
            widths = [max(shown[place].added, 0.0) for place in places]
            axes.barh(places, widths, color=colour, label=label)
    return _finish(axes, is_new=is_new)


def _make_axes(names: Sequence[str], title: str, ax: Axes | None) -> tuple[Axes, bool]:
    """Return axes with a line per name, and whether they are on a new figure."""
    is_new = ax is None
    ax = new_axes(ax, _WIDTH, _BAR * max(len(names), 1))
    ax.set_title(title, loc="left", parse_math=False)
    ax.set_yticks(range(len(names)))
    ax.set_yticklabels([shorten(name, _LETTERS) for name in names], parse_math=False)
    ax.set_ylim(len(names) - 0.5, -0.5)
    return ax, is_new


def _finish(axes: Axes, *, is_new: bool) -> Axes:
    axes.set_xlim(left=0)
    axes.set_xlabel("bits per row")
    axes.spines[["top", "right"]].set_visible(False)
    if axes.containers:  # beside the bars, which may be anywhere inside
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, fontsize=8)
    if is_new:
        make_room(axes)
    return axes
