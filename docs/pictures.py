"""The pictures on these pages, each drawn twice: for the light and for the dark theme.

Numbers in them are computed from the data they speak of while they are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, FancyArrowPatch, Rectangle

import komb
from komb.citests.engines import open_engine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LAMP = Path(__file__).parents[1] / "examples" / "lamp.csv"
LEAST_ROWS_PER_CELL = 5  # below, the G test is not to be trusted
WIDTH = 6.6  # inches; so that letters can still be read on a telephone

Place: TypeAlias = tuple[float, float]
Places: TypeAlias = Mapping[str, Place]


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a picture; those of Okabe and Ito, made lighter on dark ground."""

    name: str
    ink: str
    faint: str
    ground: str
    target: str
    member: str
    helper: str
    heat: tuple[str, str]


LIGHT = Theme("light", "#1f2328", "#8c959f", "#ffffff", "#d55e00", "#0072b2", "#b37400",
              ("#eef2f6", "#0072b2"))  # fmt: skip
DARK = Theme("dark", "#e6edf3", "#7d8590", "#131416", "#ff8a3d", "#56b4e9", "#e6a817",
             ("#22272e", "#56b4e9"))  # fmt: skip


def draw_all(folder: Path) -> None:
    """Draw every picture for both themes, as ``NAME-light.svg`` and ``NAME-dark.svg``."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"font.size": 11, "font.family": "DejaVu Sans", "svg.hashsalt": "komb"}):
        for (name, draw), theme in product(PICTURES.items(), (LIGHT, DARK)):
            figure = draw(theme)
            figure.savefig(
                folder / f"{name}-{theme.name}.svg", transparent=True, metadata={"Date": None}
            )


# ------------------------------------------------------------------------------------------ a graph


def draw_blanket(theme: Theme) -> Figure:
    """Draw a small causal graph with the blanket of one variable marked."""
    places = {
        "stress": (0, 2.2), "ancestry": (0, 0.8), "smoking": (1.9, 2.2), "genes": (1.9, 0.8),
        "illness": (3.5, 1.5), "allergy": (3.5, 0), "cough": (5.2, 2.2), "fever": (5.2, 0.8),
        "sick leave": (7.2, 1.5),
    }  # fmt: skip
    arrows = [
        ("stress", "smoking"), ("ancestry", "genes"), ("smoking", "illness"), ("genes", "illness"),
        ("illness", "cough"), ("illness", "fever"), ("allergy", "fever"),
        ("cough", "sick leave"), ("fever", "sick leave"),
    ]  # fmt: skip
    figure, axes = canvas(WIDTH, 2.7, (-0.8, 8.0), (-0.75, 2.95))
    roles = {
        "illness": "the target", "smoking": "cause", "genes": "cause", "cough": "effect",
        "fever": "effect", "allergy": "other cause\nof an effect",
    }  # fmt: skip
    for name, place in places.items():
        colour = theme.target if name == "illness" else theme.member
        node(axes, place, name, theme, colour if name in roles else None)
        if name in roles:
            axes.text(place[0], place[1] - 0.36, roles[name], color=colour, fontsize=9,
                      ha="center", va="top", style="italic")  # fmt: skip
    for start, end in arrows:
        is_inside = start in roles and end in roles
        connect(axes, places, start, end, theme.ink if is_inside else theme.faint)
    return figure


# ----------------------------------------------------------------------------------------- the lamp


def draw_lamp(theme: Theme) -> Figure:
    """Draw how often the lamp is on, by each switch and by both."""
    table = komb.read_table(LAMP)
    columns = {name: np.array(table.column(name)) for name in ("hall", "stairs", "lamp")}
    is_on = columns["lamp"] == "on"
    figure = Figure(figsize=(WIDTH, 2.4), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1, 1.25))
    for axes, switch in ((left, "hall"), (middle, "stairs")):
        shares = [is_on[columns[switch] == way].mean() for way in ("down", "up")]
        axes.bar(("down", "up"), shares, width=0.6, color=theme.faint)
        for x, share in enumerate(shares):
            axes.text(x, share - 0.09, f"{share:.0%}", ha="center", color=theme.ground)
        axes.set_ylim(0, 1)
        axes.set_yticks([0, 0.5, 1], ["0%", "50%", "100%"])
        axes.axhline(0.5, color=theme.faint, linewidth=0.8, linestyle=":")
        style(axes, theme, f"by {switch}", f"{switch} switch")
    left.set_ylabel("lamp is on")
    shares_of_both = [
        [is_on[(columns["hall"] == h) & (columns["stairs"] == s)].mean() for s in ("down", "up")]
        for h in ("down", "up")
    ]
    tiles(right, shares_of_both, theme, lambda share: f"{share:.0%}")
    right.set_xticks([0, 1], ["down", "up"])
    right.set_yticks([0, 1], ["down", "up"])
    style(right, theme, "by both", "stairs switch")
    right.set_ylabel("hall switch", color=theme.ink)
    return figure


def draw_questions(theme: Theme) -> Figure:
    """Draw the p-value of every column against the lamp: marginally, and given each other."""
    table = komb.read_table(LAMP)
    names = [str(name) for name in table.names if name != "lamp"]
    engine = open_engine(table, "g", alpha=0.01)
    target = table.index("lamp")

    def p_value(name: str, given: str | None) -> float:
        condition = frozenset() if given is None else frozenset({table.index(given)})
        found = engine.outcome(target, table.index(name), condition).p_value
        assert found is not None
        return found

    givens: list[str | None] = [None, *names]
    values = [[np.nan if g == name else p_value(name, g) for g in givens] for name in names]
    figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
    axes = figure.subplots()
    evidence = [[min(-np.log10(max(p, 1e-16)), 6) / 6 for p in row] for row in values]
    tiles(axes, evidence, theme, None)
    for y, row in enumerate(values):
        for x, p in enumerate(row):
            text = "" if np.isnan(p) else "< 1e-16" if p < 1e-16 else f"{p:.2f}"
            is_found = p <= 0.01
            axes.text(x, y, text, ha="center", va="center", fontsize=10,
                      color=theme.ground if is_found else theme.ink,
                      weight="bold" if is_found else "normal")  # fmt: skip
    axes.set_xticks(range(len(givens)), ["marginally", *(f"given\n{name}" for name in names)])
    axes.set_yticks(range(len(names)), names)
    axes.axvline(0.5, color=theme.ink, linewidth=1.5)
    axes.set_aspect("auto")
    axes.tick_params(labeltop=True, labelbottom=False)
    style(axes, theme, "", "")
    axes.text(0, len(names) - 0.35, "order 0\nlooks here", ha="center", va="top", color=theme.ink)
    axes.text(3, len(names) - 0.35, "order 1 looks here too", ha="center", va="top",
              color=theme.ink)  # fmt: skip
    return figure


# ---------------------------------------------------------------------------- witness and separator


def draw_witness(theme: Theme) -> Figure:
    """Draw members that depend marginally, given one other column and given two."""
    figure = Figure(figsize=(WIDTH, 2.15))
    cases = (
        ("order 0", ("age",), "depends by itself"),
        ("order 1", ("hall", "stairs"), "dependent given one other"),
        ("order 2", ("gene 1", "gene 2", "gene 3"), "dependent given two others"),
    )
    for number, (title, names, caption) in enumerate(cases):
        axes = figure.add_axes((number / 3, 0, 1 / 3, 1))
        bare(axes, (-1.7, 1.7), (-1.55, 1.65))
        axes.text(0, 1.45, title, ha="center", color=theme.ink, weight="bold", fontsize=12)
        heights = [0.0] if len(names) == 1 else np.linspace(0.75, -0.75, len(names)).tolist()
        if len(names) > 1:
            axes.add_patch(Ellipse((-0.85, 0), 1.5, 2.35, facecolor=theme.helper, alpha=0.13))
            axes.add_patch(
                Ellipse((-0.85, 0), 1.5, 2.35, fill=False, edgecolor=theme.helper, linestyle="--")
            )
        for position, (name, height) in enumerate(zip(names, heights, strict=True)):
            colour = theme.member if position == 0 else theme.helper
            node(axes, (-0.85, height), name, theme, colour)
        line(axes, (-0.85, heights[0]), (1.05, 0), theme.member)
        node(axes, (1.05, 0), "target", theme, theme.target)
        axes.text(0, -1.45, caption, ha="center", color=theme.ink)
    return figure


def draw_separator(theme: Theme) -> Figure:
    """Draw a dependence that two members explain away together, and one of them alone does not."""
    figure = Figure(figsize=(WIDTH, 2.2))
    cases = (
        ("nothing fixed", (), "A depends on the target"),
        ("B fixed", ("B",), "A still does, by way of C"),
        ("B and C fixed", ("B", "C"), "A does not any more"),
    )
    places = {"A": (-1.2, 0.0), "B": (0.0, 0.7), "C": (0.0, -0.7), "Y": (1.2, 0.0)}
    for number, (title, fixed, caption) in enumerate(cases):
        axes = figure.add_axes((number / 3, 0, 1 / 3, 1))
        bare(axes, (-1.7, 1.7), (-1.6, 1.65))
        axes.text(0, 1.4, title, ha="center", color=theme.ink, weight="bold", fontsize=12)
        for middle in ("B", "C"):
            colour = theme.faint if middle in fixed else theme.helper
            connect(axes, places, "A", middle, colour, width=2)
            connect(axes, places, middle, "Y", colour, width=2)
        for name, place in places.items():
            colour = {"Y": theme.target, "A": theme.helper}.get(name, theme.member)
            node(axes, place, name, theme, colour, is_fixed=name in fixed)
        axes.text(0, -1.5, caption, ha="center", color=theme.ink)
    return figure


# -------------------------------------------------------------------------------------- thin tables


def draw_thinness(theme: Theme) -> Figure:
    """Draw rows per cell of the table behind one test, by order and number of levels."""
    n_rows, orders = 5000, np.arange(5)
    figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
    axes = figure.subplots()
    colours = (theme.member, theme.helper, theme.target, theme.faint)
    for n_levels, colour in zip((2, 3, 5, 10), colours, strict=True):
        rows = n_rows / n_levels ** (2.0 + orders)
        axes.plot(orders, rows, marker="o", color=colour)
        axes.text(4.08, rows[-1], f"{n_levels} levels", color=colour, va="center")
    axes.axhline(LEAST_ROWS_PER_CELL, color=theme.ink, linewidth=1, linestyle="--")
    axes.text(-0.05, LEAST_ROWS_PER_CELL * 0.62, "5 rows per cell", va="center", color=theme.ink)
    axes.set_yscale("log")
    axes.set_yticks([0.01, 0.1, 1, 10, 100, 1000], ["0.01", "0.1", "1", "10", "100", "1,000"])
    axes.minorticks_off()
    axes.set_xticks(orders)
    axes.set_xlim(-0.15, 4.6)
    axes.set_ylim(0.004, 3000)
    style(axes, theme, "", "columns given in the condition (k, or k + l with a separator)")
    axes.set_ylabel(f"rows per cell ({n_rows:,} rows)", color=theme.ink)
    return figure


# ------------------------------------------------------------------------------------------- pieces


def canvas(width: float, height: float, xs: Place, ys: Place) -> tuple[Figure, Axes]:
    """Return a figure with one empty plane on it."""
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    bare(axes, xs, ys)
    return figure, axes


def bare(axes: Axes, xs: Place, ys: Place) -> None:
    """Leave nothing of axes but the plane."""
    axes.set_axis_off()
    axes.set_xlim(*xs)
    axes.set_ylim(*ys)
    axes.set_aspect("equal")


def node(
    axes: Axes, place: Place, name: str, theme: Theme, colour: str | None, *, is_fixed: bool = False
) -> None:
    """Draw a variable; one without a colour is faint, one that is held fixed has a square."""
    axes.text(
        *place, name, ha="center", va="center", zorder=3,
        color=theme.faint if colour is None else theme.ground,
        bbox={
            "boxstyle": f"{'square' if is_fixed else 'round'},pad=0.45",
            "facecolor": theme.ground if colour is None else colour,
            "edgecolor": theme.faint if colour is None else theme.ink if is_fixed else colour,
            "linewidth": 2.5 if is_fixed else 1,
        },
    )  # fmt: skip


def connect(
    axes: Axes, places: Places, start: str, end: str, colour: str, width: float = 1.4
) -> None:
    """Draw an arrow from the edge of one variable's box to that of another."""
    axes.add_patch(
        FancyArrowPatch(
            beside(axes, places, start, end), beside(axes, places, end, start), arrowstyle="-|>",
            mutation_scale=13, color=colour, linewidth=width, shrinkA=1, shrinkB=1, zorder=1,
        )
    )  # fmt: skip


def beside(axes: Axes, places: Places, name: str, other: str) -> Place:
    """Return the point on the edge of a box that looks at another one."""
    left, right = axes.get_xlim()
    figure = axes.get_figure(root=True)
    assert figure is not None
    point = (right - left) / (72 * figure.get_figwidth() * axes.get_position().width)
    half_width, half_height = (3.5 * len(name) + 7) * point, 12 * point
    (x, y), (other_x, other_y) = places[name], places[other]
    dx, dy = other_x - x, other_y - y
    share = min(half_width / abs(dx) if dx else 1, half_height / abs(dy) if dy else 1)
    return x + share * dx, y + share * dy


def line(axes: Axes, start: Place, end: Place, colour: str) -> None:
    """Draw a dependence between two variables."""
    axes.plot(*zip(start, end, strict=True), color=colour, linewidth=3, zorder=1)


def tiles(
    axes: Axes,
    shades: Sequence[Sequence[float]],
    theme: Theme,
    show: Callable[[float], str] | None,
) -> None:
    """Draw a matrix of numbers between 0 and 1."""
    scale = mpl.colors.LinearSegmentedColormap.from_list("heat", theme.heat)
    for y, row in enumerate(shades):
        for x, shade in enumerate(row):
            colour = "none" if np.isnan(shade) else scale(shade)
            axes.add_patch(Rectangle((x - 0.48, y - 0.47), 0.96, 0.94, facecolor=colour))
            if show is not None:
                ink = theme.ground if shade > 0.5 else theme.ink
                axes.text(x, y, show(shade), ha="center", va="center", color=ink, fontsize=13)
    axes.set_xlim(-0.5, len(shades[0]) - 0.5)
    axes.set_ylim(len(shades) - 0.5, -0.5)


def style(axes: Axes, theme: Theme, title: str, below: str) -> None:
    """Give axes the colours of a theme."""
    axes.set_title(title, color=theme.ink, fontsize=12, weight="bold")
    axes.set_xlabel(below, color=theme.ink)
    axes.yaxis.label.set_color(theme.ink)
    axes.tick_params(colors=theme.ink, length=0)
    axes.spines[:].set_visible(False)


PICTURES: dict[str, Callable[[Theme], Figure]] = {
    "blanket": draw_blanket,
    "lamp": draw_lamp,
    "questions": draw_questions,
    "witness": draw_witness,
    "separator": draw_separator,
    "thinness": draw_thinness,
}
