"""A blanket as a picture: the target in the middle, its members around it.

A member that is marginally dependent has a line to the target. Members that depend on it given each
other share a coloured area with the target, and meet in a point inside it before a line goes on to
the target: it is one thing with several ends. In the area, a dotted line comes from a column
that the others are conditioned on, and owes its place to something else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from komb.data.names import Name
from komb.views.blanket_text import show_strength
from komb.views.pictures.canvas import fit, grow, make_room, new_axes, shorten
from komb.views.text import show_name

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from komb.results.blanket import Blanket

Point: TypeAlias = tuple[float, float]

# Colours of Okabe and Ito, which readers with any kind of colour vision can tell apart.
_ALONE = "#0072B2"
_TOGETHER = ("#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_INK, _FAINT = "#222222", "#666666"

_LARGEST_AREA = 5  # columns; beyond, an area would cover everything
_MOST_UPRIGHT = 14  # members up to which labels are not turned
_LETTERS = 28  # of a name
_WEAKEST, _STRONGEST = 4.0, 1000.0  # bits; lines get no thinner or thicker beyond
_THINNEST, _THICKEST = 1.0, 7.0  # points
_ALL_LINES = 200.0  # points; where there are many lines, they have to be thinner
_INWARDS = 0.45  # how far the sides of an area are drawn to its middle
_FAN = math.radians(130)  # that an area may take up, for the target to be at its edge
_WIDEST_STEP = math.radians(75)  # between members of one area
_HUB = 0.26  # radius of the target where there are many members
_RADIUS, _SPACING = 1.35, 0.3  # inches, at least: of the circle, and between members


class Spoke(NamedTuple):
    """A member as it is drawn."""

    name: Name  # the column
    # what it depends on the target given; ``None`` for a member by request
    witness: tuple[Name, ...] | None
    bits: float | None  # the evidence for it; ``None`` without a test
    label: str  # that in words
    # whether the method conditions on all other members, needed or not
    is_last_of_all: bool = False

    @property
    def area(self) -> frozenset[Name]:
        """The member and its witness, if there is a point in drawing an area; empty otherwise."""
        if not self.witness or self.is_last_of_all or len(self.witness) >= _LARGEST_AREA:
            return frozenset()
        return frozenset((self.name, *self.witness))


def plot_blanket(blanket: Blanket, ax: Axes | None = None) -> Axes:
    """Draw the target of a blanket amid its members."""
    # With an order every witness is a small one.
    has_order = blanket.settled_parameters.get("order") is not None
    spokes = [
        Spoke(
            member.name,
            member.witness,
            member.bits,
            show_strength(member),
            not has_order and set(member.witness or ()) == {*blanket.members} - {member.name},
        )
        for member in blanket.evidence
    ]
    return draw_blanket(blanket.target, spokes, ax)


def draw_blanket(target: Name, spokes: Sequence[Spoke], ax: Axes | None = None) -> Axes:
    """Draw a target and its members."""
    nodes, is_new = arrange(spokes), ax is None
    size = 2 * max(_RADIUS, len(nodes) * _SPACING / math.tau)
    ax = new_axes(ax, size, size)
    ax.set_title(f"Markov blanket of {show_name(target)}", loc="left", parse_math=False)
    ax.set_axis_off()
    ax.set_xlim(-1, 1)
    ax.set_ylim(-1, 1)
    _Drawing(ax, nodes, spokes).draw(target)
    corners = [(0.0, 0.0), *nodes.values()]
    if is_new:
        grow(ax, corners)
        make_room(ax)
    else:
        fit(ax, corners)
    return ax


def arrange(spokes: Sequence[Spoke]) -> dict[Name, Point]:
    """Give every member, and every witness that is none, a place on a circle.

    Columns of one area are neighbours as far as that is possible.
    """
    partners: dict[Name, set[Name]] = {spoke.name: set() for spoke in spokes}
    for spoke in spokes:
        for name in sorted(spoke.area, key=str):
            partners.setdefault(name, set())
            partners[name] |= spoke.area - {name}
    order: list[Name] = []
    while len(order) < len(partners):
        waiting = [name for name in partners if name not in order]
        tied = [name for name in waiting if partners[name] & set(order)]
        if tied:  # next to the one it belongs to, if that was the last
            order.append(
                max(tied, key=lambda name: max(map(order.index, partners[name] & {*order})))
            )
        else:  # the end of a chain is the best beginning
            order.append(min(waiting, key=lambda name: len(partners[name]) or len(partners)))
    largest = max((len(spoke.area) for spoke in spokes), default=0)
    return dict(zip(order, _places(len(order), largest), strict=True))


def _places(count: int, largest_area: int) -> Iterator[Point]:
    """Yield points on a circle, clockwise and evenly spaced to both sides of its top."""
    step = math.tau / max(count, 1)
    if largest_area > 1:
        step = min(step, _WIDEST_STEP, _FAN / (largest_area - 1))
    for number in range(count):
        angle = math.pi / 2 - (number - (count - 1) / 2) * step
        yield (1.0, 0.0) if count == 1 else (math.cos(angle), math.sin(angle))


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
                bbox_to_anchor=(0, 0), frameon=False, fontsize=8, handlelength=2.5,
            )  # fmt: skip

    @property
    def _has_many(self) -> bool:
        return len(self.nodes) > _MOST_UPRIGHT

    def _width(self, spoke: Spoke) -> float:
        return min(width(spoke.bits), _ALL_LINES / len(self.nodes))

    def _draw_line(self, spoke: Spoke) -> None:
        """Draw the line of a member that depends marginally, or given too many to draw."""
        x, y = self.nodes[spoke.name]
        style: dict[str, Any] = {"color": _ALONE, "linewidth": self._width(spoke)}
        meaning = "depends by itself"
        if spoke.witness is None:
            style = {"color": _FAINT, "linewidth": _THINNEST, "linestyle": (0, (4, 3))}
            meaning = "by request"
        elif spoke.witness:
            style |= {"linestyle": (0, (3, 1))}
            meaning = "dependent given all other members"
        (line,) = self.axes.plot([0, x], [0, y], zorder=2, solid_capstyle="butt", **style)
        self.legend.setdefault(meaning, line)

    def _draw_area(self, area: frozenset[Name], colour: str) -> None:
        """Draw columns that show together: one area, and lines that meet in it."""
        from matplotlib.patches import PathPatch

        names = [name for name in self.nodes if name in area]
        corners = [(0.0, 0.0), *(self.nodes[name] for name in names)]
        middle = _middle(corners)
        patch = PathPatch(
            _hull(corners, middle), facecolor=(colour, 0.22), edgecolor="none", zorder=1
        )
        self.axes.add_patch(patch)
        self.legend.setdefault("depend together", patch)
        owners = [n for n in names if n in self.spokes and self.spokes[n].area == area]
        widths = [self._width(self.spokes[name]) for name in owners]
        self._join(middle, (0.0, 0.0), colour, max(widths))
        for name in names:
            if name in owners:
                self._join(middle, self.nodes[name], colour, self._width(self.spokes[name]))
            else:
                line = self._join(middle, self.nodes[name], colour, 1.4, (0, (1, 1.2)))
                self.legend.setdefault("conditioned on for the others", line)
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
        if self._has_many:
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
        if self._has_many:  # lines end before they run into each other
            from matplotlib.patches import Circle

            self.axes.add_patch(Circle((0, 0), _HUB, facecolor=_INK, edgecolor="white", zorder=5))
        self.axes.text(
            0, 0, shorten(show_name(target), _LETTERS), color="white", fontsize=10,
            fontweight="bold", ha="center", va="center", zorder=6, parse_math=False,
            bbox={"boxstyle": "round,pad=0.45", "facecolor": _INK, "edgecolor": "white"},
        )  # fmt: skip
        if not self.nodes:
            self.axes.text(0, -0.3, "no member", ha="center", va="center", color=_FAINT)


def width(bits: float | None) -> float:
    """How thick a line is, in points."""
    if bits is None or bits <= _WEAKEST:
        return _THINNEST
    share = math.log(bits / _WEAKEST) / math.log(_STRONGEST / _WEAKEST)
    return _THINNEST + min(share, 1.0) * (_THICKEST - _THINNEST)


def _mean(points: Sequence[Point]) -> Point:
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)


def _middle(corners: Sequence[Point]) -> Point:
    """Return where the lines of an area meet: in its middle, but not on the target."""
    x, y = _mean(corners)
    distance = math.hypot(x, y)
    if distance > 0.2:
        return round(x, 9), round(y, 9)
    if distance > 0.01:
        return 0.3 * x / distance, 0.3 * y / distance
    along = corners[1]
    return -0.3 * along[1] + 0.0, 0.3 * along[0]


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
