"""Which method found which column, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from komb.views.pictures.canvas import make_room, new_axes
from komb.views.text import Mark, show_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle

    from komb.results.comparison import Comparison


@dataclass(frozen=True, slots=True)
class _Style:
    """How a mark is drawn; one without a meaning is not in the legend."""

    meaning: str
    sign: str
    face: str
    ink: str


# Colours of Okabe and Ito, which readers with any kind of colour vision can tell apart; the signs
# tell marks apart in print without colours.
_STYLES: dict[Mark, _Style] = {
    "found": _Style("", "✓", "#0072B2", "white"),
    "hit": _Style("found and true", "✓", "#0072B2", "white"),
    "extra": _Style("found, not true", "+", "#E69F00", "black"),
    "missed": _Style("true, but missed", "-", "white", "#D55E00"),
    "absent": _Style("", "", "#EEEEEE", "white"),
}

_CELL = 0.34  # inches
_SHORT = 3  # letters that fit above a cell


def plot_comparison(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw which method found which column; true members have their names in bold."""
    return draw_matrix(
        f"Markov blanket of {show_name(comparison.target)}",
        list(comparison.blankets),
        [show_name(member) for member in comparison.members],
        [
            [comparison.mark(label, member) for label in comparison.blankets]
            for member in comparison.members
        ],
        ax,
    )


def draw_matrix(
    title: str,
    labels: Sequence[str],
    members: Sequence[str],
    marks: Sequence[Sequence[Mark]],
    ax: Axes | None = None,
) -> Axes:
    """Draw which method found which column."""
    axes = new_axes(ax, _CELL * max(len(labels), 1), _CELL * max(len(members), 1))
    _draw(axes, title, labels, members, marks)
    if ax is None:
        make_room(axes)
    return axes


def _draw(
    axes: Axes,
    title: str,
    labels: Sequence[str],
    members: Sequence[str],
    marks: Sequence[Sequence[Mark]],
) -> None:
    for y, row in enumerate(marks):
        for x, mark in enumerate(row):
            style = _STYLES[mark]
            axes.add_patch(_tile(style, x, y))
            axes.text(x, y, style.sign, color=style.ink, ha="center", va="center")
    if not members:
        axes.text(-0.4, 0, "no member", va="center")
    _label(axes, title, labels, members)
    for tick, row in zip(axes.get_yticklabels(), marks, strict=True):
        tick.set_fontweight("bold" if {"hit", "missed"}.intersection(row) else "normal")
    seen = set(chain.from_iterable(marks))
    handles = [_tile(style) for mark, style in _STYLES.items() if mark in seen and style.meaning]
    if handles:
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def _tile(style: _Style, x: float = 0, y: float = 0) -> Rectangle:
    from matplotlib.patches import Rectangle

    edge = style.ink if style.face == "white" else "white"
    return Rectangle(
        (x - 0.46, y - 0.46), 0.92, 0.92, facecolor=style.face, edgecolor=edge, label=style.meaning
    )


def _label(axes: Axes, title: str, labels: Sequence[str], members: Sequence[str]) -> None:
    # Names are text: a dollar in one of them starts no formula.
    axes.set_title(title, loc="left", parse_math=False)
    axes.set_xlim(-0.5, max(len(labels), 1) - 0.5)
    axes.set_ylim(max(len(members), 1) - 0.5, -0.5)
    axes.set_aspect("equal")
    is_short = max(map(len, labels), default=0) <= _SHORT
    rotation = 0 if is_short else 90
    axes.set_xticks(range(len(labels)), labels, rotation=rotation, parse_math=False)
    axes.set_yticks(range(len(members)), members, parse_math=False)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
