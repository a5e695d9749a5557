"""A blanket as a picture: the target in the middle, its members around it.

A member that shows on its own has a line to the target. Members that show only together share a
coloured area with the target, and meet in a point inside it before a line goes on to the target: it
is one thing with several ends, not several lines. In the area, a dotted line comes from a witness
that is needed for the others to show; it has a line of its own elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from komb.plots.canvas import fit_texts, make_room, need_matplotlib, shorten
from komb.rendering import show_name

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Name: TypeAlias = Hashable
Point: TypeAlias = tuple[float, float]

# Colours of Okabe and Ito, which readers with any kind of colour vision can tell apart.
_ALONE = "#0072B2"
_TOGETHER = ("#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_INK, _FAINT = "#222222", "#666666"

_LARGEST_AREA = 4  # of the columns of a witness; beyond, an area would cover everything
_MOST_UPRIGHT = 14  # members up to which labels are not turned
_LETTERS = 28  # of a name
_WEAKEST, _STRONGEST = 4.0, 1000.0  # bits; lines get no thinner or thicker beyond
_THINNEST, _THICKEST = 1.0, 7.0  # points
_INWARDS = 0.45  # how far the sides of an area are drawn to its middle


class Spoke(NamedTuple):
    """A member as it is drawn.

    Attributes
    ----------
    name
        The column.
    witness
        What it is seen together with; ``None`` for a member by request.
    bits
        How clearly it depends on the target; ``None`` without a test.
    label
        That in words.
    """

    name: Name
    witness: tuple[Name, ...] | None
    bits: float | None
    label: str

    @property
    def area(self) -> frozenset[Name]:
        """Columns that show together, if they are few enough to be drawn so; empty otherwise."""
        if not self.witness or len(self.witness) > _LARGEST_AREA:
            return frozenset()
        return frozenset((self.name, *self.witness))


def draw_blanket(target: Name, spokes: Sequence[Spoke], ax: Axes | None = None) -> Axes:
    """Draw a target and its members.

    Parameters
    ----------
    target
        Whose blanket it is.
    spokes
        The members.
    ax
        Where to draw; if left out, on a new figure that fits.

    Returns
    -------
    matplotlib.axes.Axes
        ``ax``, or that of the new figure.

    Examples
    --------
    >>> spokes = [Spoke("X1", ("X2",), 60.0, "p = 1e-18"), Spoke("X2", ("X1",), 55.0, "p = 3e-17")]
    >>> [text.get_text() for text in draw_blanket("Y", spokes).texts]
    ['X1\\np = 1e-18', 'X2\\np = 3e-17', 'Y']
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    nodes = arrange(spokes)
    is_new = ax is None
    if ax is None:
        size = 2 * max(1.35, len(nodes) * 0.3 / math.tau)
        figure = Figure(figsize=(size, size), facecolor="white")
        ax = figure.add_axes((0, 0, 1, 1))
    ax.set_title(f"Markov blanket of {show_name(target)}", loc="left", parse_math=False)
    ax.set_axis_off()
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlim(-1.1, 1.1)
    ax.set_ylim(-1.1, 1.1)
    _Drawing(ax, nodes, spokes).draw(target)
    if is_new:
        make_room(ax)
    else:
        fit_texts(ax)
    return ax


def arrange(spokes: Sequence[Spoke]) -> dict[Name, Point]:
    """Give every member, and every witness that is none, a place on a circle.

    Columns that show together are neighbours as far as that is possible.

    Examples
    --------
    >>> spokes = [Spoke("a", ("c",), 9.0, ""), Spoke("b", (), 9.0, ""), Spoke("c", (), 9.0, "")]
    >>> list(arrange(spokes))
    ['a', 'c', 'b']
    """
    partners: dict[Name, list[Name]] = {spoke.name: [] for spoke in spokes}
    for spoke in spokes:
        for other in spoke.witness if spoke.witness and spoke.area else ():
            partners[spoke.name].append(other)
            partners.setdefault(other, []).append(spoke.name)
    order: list[Name] = []
    while len(order) < len(partners):
        waiting = [name for name in partners if name not in order]
        tied = [name for name in waiting if set(partners[name]) & set(order)]
        # the end of a chain is the best beginning; then whoever is tied to the latest one placed
        order.append(
            max(tied, key=lambda name: _latest(order, partners[name]))
            if tied
            else min(waiting, key=lambda name: (len(set(partners[name])) or len(partners)))
        )
    return {name: _place(number, len(order)) for number, name in enumerate(order)}


def _latest(order: Sequence[Name], partners: Sequence[Name]) -> int:
    return max(order.index(name) for name in partners if name in order)


def _place(number: int, count: int) -> Point:
    """Return a point on the circle, clockwise from the top; none is exactly there if some can."""
    step = math.tau / max(count, 3)  # two are side by side above the target
    first = 0.0 if count in (1, 3) else step / 2
    if count == 2:
        first = -step / 2
    angle = math.pi / 2 - first - number * step
    return math.cos(angle), math.sin(angle)


class _Drawing:
    """Draws members on axes."""

    def __init__(self, axes: Axes, nodes: dict[Name, Point], spokes: Sequence[Spoke]) -> None:
        self.axes = axes
        self.nodes = nodes
        self.spokes = {spoke.name: spoke for spoke in spokes}
        self.legend: dict[str, Artist] = {}

    def draw(self, target: Name) -> None:
        areas = list(dict.fromkeys(s.area for s in self.spokes.values() if s.area))
        for area, colour in zip(areas, cycle(_TOGETHER), strict=False):
            self._draw_area(area, colour)
        for spoke in self.spokes.values():
            if not spoke.area:
                self._draw_line(spoke)
        for name, point in self.nodes.items():
            self._draw_node(name, point)
        self._draw_target(target)
        if self.legend:
            self.axes.legend(
                self.legend.values(), self.legend.keys(), loc="upper left",
                bbox_to_anchor=self._below(), frameon=False, fontsize=8, handlelength=2.5,
            )  # fmt: skip

    def _below(self) -> Point:
        return (0.0, -0.12) if len(self.nodes) <= _MOST_UPRIGHT else (0.0, -0.35)

    def _draw_line(self, spoke: Spoke) -> None:
        """Draw the line of a member that shows on its own, or given too many to draw."""
        x, y = self.nodes[spoke.name]
        style: dict[str, Any] = {"color": _ALONE, "linewidth": width(spoke.bits)}
        meaning = "depends on the target on its own"
        if spoke.witness is None:
            style = {"color": _FAINT, "linewidth": _THINNEST, "linestyle": (0, (4, 3))}
            meaning = "by request"
        elif spoke.witness:
            style |= {"linestyle": (0, (3, 1))}
            meaning = "depends on the target given the other members"
        (line,) = self.axes.plot([0, x], [0, y], zorder=2, solid_capstyle="butt", **style)
        self.legend.setdefault(meaning, line)

    def _draw_area(self, area: frozenset[Name], colour: str) -> None:
        """Draw columns that show together: one area, and lines that meet in it."""
        from matplotlib.patches import PathPatch

        names = [name for name in self.nodes if name in area]
        corners = [(0.0, 0.0), *(self.nodes[name] for name in names)]
        middle = _mean(corners)
        patch = PathPatch(
            _hull(corners, middle), facecolor=(colour, 0.22), edgecolor="none", zorder=1
        )
        self.axes.add_patch(patch)
        self.legend.setdefault("depends on the target only together", patch)
        owners = [n for n in names if n in self.spokes and self.spokes[n].area == area]
        widths = [width(self.spokes[name].bits) for name in owners]
        self._join(middle, (0.0, 0.0), colour, max(widths))
        for name in names:
            if name in owners:
                self._join(middle, self.nodes[name], colour, width(self.spokes[name].bits))
            else:
                line = self._join(middle, self.nodes[name], colour, 1.4, (0, (1, 1.2)))
                self.legend.setdefault("witness: held fixed for it to show", line)
        self.axes.plot(*middle, "o", color=colour, markersize=max(5.0, max(widths) + 2), zorder=3)

    def _join(
        self, start: Point, end: Point, colour: str, points: float, style: Any = "solid"
    ) -> Artist:
        (line,) = self.axes.plot(
            [start[0], end[0]], [start[1], end[1]], color=colour, linewidth=points,
            linestyle=style, zorder=2, solid_capstyle="round",
        )  # fmt: skip
        return line

    def _draw_node(self, name: Name, point: Point) -> None:
        spoke = self.spokes.get(name)
        face = "white" if spoke is None or spoke.witness is None else _INK
        edge = _FAINT if spoke is None else _INK
        self.axes.plot(
            *point, "o", markersize=9, markerfacecolor=face, markeredgecolor=edge, zorder=4
        )
        label = "no member" if spoke is None else spoke.label
        self._label(shorten(show_name(name), _LETTERS), label, point)

    def _label(self, name: str, label: str, point: Point) -> None:
        x, y = point
        angle = math.degrees(math.atan2(y, x))
        if len(self.nodes) > _MOST_UPRIGHT:
            is_left = abs(angle) > 90
            self.axes.annotate(
                f"{label}   {name}" if is_left else f"{name}   {label}", point,
                (9 * x, 9 * y), textcoords="offset points", fontsize=8, color=_INK,
                rotation=angle + 180 * is_left, rotation_mode="anchor", parse_math=False,
                ha="right" if is_left else "left", va="center_baseline", annotation_clip=False,
            )  # fmt: skip
            return
        side = "left" if x > 0.3 else "right" if x < -0.3 else "center"
        level = "bottom" if y > 0.5 else "top" if y < -0.5 else "center"
        self.axes.annotate(
            f"{name}\n{label}", point, (9 * x, 9 * y), textcoords="offset points", fontsize=9,
            color=_INK, ha=side, va=level, multialignment=side, linespacing=1.15,
            parse_math=False, annotation_clip=False,
        )  # fmt: skip

    def _draw_target(self, target: Name) -> None:
        self.axes.text(
            0, 0, shorten(show_name(target), _LETTERS), color="white", fontsize=10,
            fontweight="bold", ha="center", va="center", zorder=5, parse_math=False,
            bbox={"boxstyle": "round,pad=0.45", "facecolor": _INK, "edgecolor": "white"},
        )  # fmt: skip
        if not self.nodes:
            self.axes.text(0, -0.35, "no member", ha="center", va="center", color=_FAINT)


def width(bits: float | None) -> float:
    """How thick a line is, in points.

    Examples
    --------
    >>> [round(width(bits), 1) for bits in (None, 6.6, 53, 1e5)]
    [1.0, 1.5, 3.8, 7.0]
    """
    if bits is None or bits <= _WEAKEST:
        return _THINNEST
    share = math.log(bits / _WEAKEST) / math.log(_STRONGEST / _WEAKEST)
    return _THINNEST + min(share, 1.0) * (_THICKEST - _THINNEST)


def _mean(points: Sequence[Point]) -> Point:
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)


def _hull(corners: Sequence[Point], middle: Point) -> Any:
    """Join corners, in their order around the middle, by sides that are drawn towards it."""
    from matplotlib.path import Path

    around = sorted(corners, key=lambda p: math.atan2(p[1] - middle[1], p[0] - middle[0]))
    vertices, codes = [around[0]], [Path.MOVETO]
    for start, end in zip(around, [*around[1:], around[0]], strict=True):
        half = _mean([start, end])
        bend = tuple(h + _INWARDS * (m - h) for h, m in zip(half, middle, strict=True))
        vertices += [bend, end]  # type: ignore[list-item]
        codes += [Path.CURVE3, Path.CURVE3]
    return Path(vertices, codes)
