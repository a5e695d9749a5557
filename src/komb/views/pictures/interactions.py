"""Groups of columns that act together as pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from komb.views.pictures.canvas import fit, grow, make_room, new_axes, shorten
from komb.views.text import show_name, show_names, show_p_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from komb.data.kinds import Place
    from komb.data.names import Name
    from komb.results.interactions import Interaction, Interactions

# Colours of Okabe and Ito, which readers with any kind of colour vision can tell apart.
_COLOURS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#0072B2")
_INK, _FAINT, _DARK, _LIGHT = "#222222", "#999999", "#0072B2", "#56B4E9"
_LETTERS = 24  # of a name
_MOST_GROUPS = 12  # of the picture of groups
_MOST_SQUARES = 40  # columns of a heat map, and columns in order beyond
_LEAST_P = 1e-300
_WIDE, _HIGH = 7.0, 3.6  # inches
_SQUARE, _GENOME = 4.2, 5.0
_CELL = 0.62  # inches of a cell of a table of effects
_MOST_LABELLED = 12 * 12  # cells with their numbers


def plot_groups(found: Interactions, ax: Axes | None = None) -> Axes:
    """Draw the significant groups: columns on a circle, a star of lines for each group."""
    shown, is_new = found.significant[:_MOST_GROUPS], ax is None
    names = list(dict.fromkeys(name for group in shown for name in group.columns))
    size = 2 * max(1.5, 0.32 * len(names) / math.tau * 2)
    ax = new_axes(ax, size, size)
    ax.set_title(f"What acts together on {show_name(found.target)}", loc="left", parse_math=False)
    ax.set_axis_off()
    ax.set_xlim(-1, 1)
    ax.set_ylim(-1, 1)
    turns = [i / len(names) - (len(names) == 2) / 4 for i in range(len(names))]  # a pair lies flat
    places = {
        name: (math.sin(math.tau * turn), math.cos(math.tau * turn))
        for name, turn in zip(names, turns, strict=True)
    }
    for number, group in enumerate(shown):
        _draw_star(ax, [places[name] for name in group.columns], group, number)
    for name, (x, y) in places.items():
        ax.plot(x, y, "o", color=_INK, markersize=8, zorder=3)
        ax.annotate(
            shorten(show_name(name), _LETTERS), (x, y), (9 * x, 9 * y), textcoords="offset points",
            ha="left" if x > 0.3 else "right" if x < -0.3 else "center",
            va="bottom" if y > 0.3 else "top" if y < -0.3 else "center",
            fontsize=9, parse_math=False, annotation_clip=False,
        )  # fmt: skip
    if not shown:
        ax.text(0, 0, "no group", ha="center", va="center", color=_FAINT)
    else:
        ax.legend(
            loc="upper left", bbox_to_anchor=(0, -0.08), frameon=False, fontsize=8, handlelength=1.5
        )
    corners = [(0.0, 0.0), *places.values()]
    if is_new:
        grow(ax, corners)
        make_room(ax)
    else:
        fit(ax, corners)
    return ax


def _draw_star(
    axes: Axes, points: Sequence[tuple[float, float]], group: Interaction, number: int
) -> None:
    """Join the columns of a group in a point between them; of a pair by a line."""
    colour = _COLOURS[number % len(_COLOURS)]
    middle = tuple(sum(each) / len(points) * 0.85 for each in zip(*points, strict=True))
    thickness = min(1.5 + 8.0 * group.bits, 7.0)
    names = shorten(show_names(group.columns), 60)
    label = f"{names}: p = {show_p_value(group.p_family)}, {group.bits:.3f} bits"
    for x, y in points:
        axes.plot(
            [middle[0], x], [middle[1], y], color=colour, linewidth=thickness, zorder=2,
            solid_capstyle="round", label=label,
        )  # fmt: skip
        label = ""
    axes.plot(*middle, "o", color=colour, markersize=thickness + 3, zorder=3)


def plot_heatmap(found: Interactions, ax: Axes | None = None) -> Axes:
    """Draw the p-value of the best group that each pair of columns is in."""
    import numpy as np
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    if found.places:
        return _plot_genome_by_genome(found, ax)
    best = _best_of_pairs(found)
    names = [name for name in found.p_values if any(name in pair for pair in best)]
    place = {name: i for i, name in enumerate(names)}
    picture = np.full((max(len(names), 1),) * 2, np.nan)
    for (first, second), value in best.items():
        if first in place and second in place:
            picture[place[first], place[second]] = picture[place[second], place[first]] = value
    is_new = ax is None
    ax = new_axes(ax, max(_SQUARE, 0.14 * len(names)), max(_SQUARE, 0.14 * len(names)))
    norm = Normalize(0, max(np.nanmax(picture, initial=0.0), 3.0))
    ax.set_facecolor("#F4F4F4")
    ax.imshow(picture, cmap="Blues", norm=norm, interpolation="nearest")
    ax.set_title(f"Pairs and {show_name(found.target)}: best p", loc="left", parse_math=False)
    labels = [shorten(show_name(name), _LETTERS) for name in names]
    size = 8 if len(names) <= 25 else 6
    ax.set_xticks(range(len(names)), labels, rotation=90, fontsize=size, parse_math=False)
    ax.set_yticks(range(len(names)), labels, fontsize=size, parse_math=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    _add_scale(ax, ScalarMappable(norm, "Blues"))
    if is_new:
        make_room(ax)
    return ax


def _add_scale(axes: Axes, colours: Any) -> None:
    scale = axes.figure.colorbar(colours, cax=axes.inset_axes((1.04, 0, 0.04, 1)))
    scale.set_label("-log10 p of the best group with both")


def _plot_genome_by_genome(found: Interactions, ax: Axes | None) -> Axes:
    """Draw the pairs of variants in all groups that are listed, where they are in the genome."""
    is_new, genome = ax is None, _Genome.of(found)
    ax = new_axes(ax, _GENOME, _GENOME)
    groups = sorted(found.groups, key=lambda each: -each.p_value)  # the best ones on top
    points = [
        (genome.place[first], genome.place[second], _height(group.p_value))
        for group in groups
        for pair in combinations([name for name in group.columns if name in genome.place], 2)
        for first, second in (pair, pair[::-1])
    ]
    across, up, heights = zip(*points, strict=True) if points else ((), (), ())
    for set_limits, draw in ((ax.set_xlim, ax.axvline), (ax.set_ylim, ax.axhline)):
        set_limits(genome.edges[0], genome.edges[-1])
        for edge in genome.edges[1:-1]:
            draw(edge, color="#E4E4E4", linewidth=0.6, zorder=0)
    drawn = ax.scatter(
        across, up, c=heights, cmap=_from_pale("Blues"), marker="s", s=10, zorder=2,
        vmin=0, vmax=max([*heights, 3.0]), clip_on=False,
    )  # fmt: skip
    for group in found.significant[:3]:
        for pair in combinations([name for name in group.columns if name in genome.place], 2):
            low, high = sorted(genome.place[name] for name in pair)
            text = shorten(show_names(sorted(pair, key=genome.place.__getitem__)), _LETTERS)
            ax.annotate(
                text, (low, high), (0, 6), textcoords="offset points", fontsize=7,
                ha="left" if low < genome.edges[len(genome.edges) // 4] else "center",
                parse_math=False,
                bbox={"facecolor": "white", "alpha": 0.8, "pad": 1, "linewidth": 0},
            )  # fmt: skip
    genome.label(ax.xaxis)
    genome.label(ax.yaxis)
    ax.set_title(f"Pairs and {show_name(found.target)}: p", loc="left", parse_math=False)
    _add_scale(ax, drawn)
    if is_new:
        make_room(ax)
    return ax


def _from_pale(name: str) -> Any:
    """Return the darker part of a colour map, whose first colour can be seen on white."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap([colormaps[name](0.25 + 0.75 * i / 255) for i in range(256)])


def _best_of_pairs(found: Interactions) -> dict[tuple[Name, Name], float]:
    """Return the best p-value of the groups with each pair, of the columns with the best ones."""
    best: dict[tuple[Name, Name], float] = {}
    kept: dict[Name, None] = {}
    for group in sorted(found.groups, key=lambda each: each.p_value):
        if len({*kept, *group.columns}) > _MOST_SQUARES:
            continue
        kept |= dict.fromkeys(group.columns)
        for pair in combinations(group.columns, 2):
            best.setdefault(pair, _height(group.p_value))
    return best


class _Genome(NamedTuple):
    """Where columns are drawn: chromosomes side by side, in base pairs, or columns as they come."""

    place: dict[Name, float]
    edges: list[float]  # where chromosomes end; before the first, where it starts
    chromosomes: list[str]

    @classmethod
    def of(cls, found: Interactions) -> _Genome:
        """Put the columns of a result on a line."""
        if not found.places:
            places = {name: i + 0.5 for i, name in enumerate(found.p_values)}
            return cls(places, [0.0, float(len(places))], [])
        parts: dict[str, dict[Name, float]] = {}
        for name in sorted(found.places, key=lambda name: _rank(found.places[name])):
            chromosome, position = found.places[name]
            own = parts.setdefault(chromosome, {})
            own[name] = len(own) if position is None else position
        spans = [max(own.values()) - min(own.values()) for own in parts.values()]
        gap = (sum(spans) or len(found.places)) / 25 / len(parts)
        place: dict[Name, float] = {}
        edges = [min(min(own.values()) for own in parts.values()) - gap if len(parts) == 1 else 0.0]
        for own, span in zip(parts.values(), spans, strict=True):
            start = edges[-1] + gap - min(own.values())
            place.update({name: start + at for name, at in own.items()})
            edges.append(edges[-1] + span + 2 * gap)
        return cls(place, edges, list(parts))

    def label(self, axis: Axis) -> None:
        """Name the chromosomes, as many as there is room for; of a single one, base pairs."""
        if len(self.chromosomes) < 2:
            of_one = f"base pairs of chromosome {''.join(self.chromosomes)}"
            axis.set_label_text(of_one if self.chromosomes else "column, in the order of the table")
            return
        shown: list[tuple[float, str]] = []
        for (start, end), name in zip(pairwise(self.edges), self.chromosomes, strict=True):
            middle, room = (start + end) / 2, (1 + len(name)) * self.edges[-1] / 100
            if not shown or middle - shown[-1][0] >= room:
                shown.append((middle, name))
        ticks, labels = zip(*shown, strict=True)
        axis.set_ticks(ticks, labels, fontsize=8, parse_math=False)
        axis.set_label_text("chromosome")


def _rank(place: Place) -> tuple[int, str, int]:
    """Order chromosomes by their numbers, those without one behind."""
    number = place.chromosome.lower().removeprefix("chr")
    return int(number) if number.isdecimal() else 10_000, number, place.position or 0


def _height(p_value: float) -> float:
    return -math.log10(max(p_value, _LEAST_P))


def plot_manhattan(found: Interactions, ax: Axes | None = None) -> Axes:
    """Draw the best p-value of every column: alone as a point, in a group as a diamond."""
    is_new = ax is None
    ax = new_axes(ax, _WIDE, _HIGH)
    genome = _Genome.of(found)
    groups: dict[Name, float] = {}
    for group in found.groups:
        for name in group.columns:
            groups[name] = min(group.p_value, groups.get(name, 1.0))
    best = {name for group in found.significant for name in group.columns}
    chromosome = {name: found.places[name].chromosome for name in found.places}
    numbers = {label: number for number, label in enumerate(genome.chromosomes)}
    for number, colour in enumerate((_DARK, _LIGHT)):
        own = [n for n in genome.place if numbers.get(chromosome.get(n, ""), 0) % 2 == number]
        heights = [_height(found.p_values[name]) for name in own]
        ax.plot([genome.place[n] for n in own], heights, ".", color=colour, markersize=3)
    for names, size, alpha in ((groups.keys() - best, 2, 0.35), (best, 4, 1.0)):
        shown = sorted(names & genome.place.keys(), key=genome.place.__getitem__)
        ax.plot(
            [genome.place[name] for name in shown], [_height(groups[name]) for name in shown], "D",
            color=_COLOURS[0], markersize=size, markeredgewidth=0, alpha=alpha,
        )  # fmt: skip
    _label_best(ax, found, genome.place)
    lines = [
        ax.axhline(
            _height(found.level / max(number, 1)), color=_FAINT, linewidth=0.8, linestyle=style,
            label=f"{found.level:g} / {what}",
        )
        for number, style, what in (
            (len(genome.place), "--", "columns"),
            (sum(each.n_tested for each in found.searched), ":", "groups"),
        )
    ]  # fmt: skip
    genome.label(ax.xaxis)
    ax.set_xlim(genome.edges[0], genome.edges[-1])
    ax.set_ylabel("-log10 p")
    ax.set_ylim(bottom=0)
    ax.margins(y=0.15)
    ax.set_title(
        f"Best p-value of each column: {show_name(found.target)}", loc="left", parse_math=False
    )
    _add_legend(ax, lines)
    return _finish(ax, is_new=is_new)


def _label_best(axes: Axes, found: Interactions, place: Mapping[Name, float]) -> None:
    """Name the columns of the first significant groups."""
    named: set[Name] = set()
    for group in found.significant[:3]:
        for name in group.columns:
            if name in place and name not in named:
                named.add(name)
                axes.annotate(
                    shorten(show_name(name), _LETTERS),
                    (place[name], _height(group.p_value)),
                    (0, 5),
                    textcoords="offset points", ha="center", fontsize=7, parse_math=False,
                )  # fmt: skip


def _add_legend(axes: Axes, lines: Sequence[Any]) -> None:
    from matplotlib.lines import Line2D

    alone = Line2D([], [], linestyle="none", marker=".", color=_DARK, label="the column by itself")
    group = Line2D(
        [], [], linestyle="none", marker="D", markersize=4, color=_COLOURS[0],
        label="its best group, of those listed",
    )  # fmt: skip
    axes.legend(
        handles=[alone, group, *lines], loc="upper left", bbox_to_anchor=(0, -0.16), ncols=4,
        frameon=False, fontsize=8,
    )  # fmt: skip


def plot_qq(found: Interactions, ax: Axes | None = None) -> Axes:
    """Draw the p-values of single columns beside those expected if none of them depends."""
    is_new = ax is None
    ax = new_axes(ax, _SQUARE, _SQUARE)
    heights = sorted(_height(p) for p in found.p_values.values())
    n = len(heights)
    expected = [-math.log10((n - i - 0.5) / n) for i in range(n)]
    most = max(expected, default=1.0)
    low, high = _band(n)
    ax.fill_between(
        expected, low, high, color="#E8E8E8", linewidth=0, label="95 % if nothing depends"
    )
    ax.plot([0, most], [0, most], color=_FAINT, linewidth=1)
    ax.plot(expected, heights, ".", color=_DARK, markersize=4)
    ax.set_xlabel("expected -log10 p")
    ax.set_ylabel("observed -log10 p")
    title = f"Single columns and {show_name(found.target)}: lambda = {found.inflation:.2f}"
    ax.set_title(title, loc="left", parse_math=False)
    ax.legend(loc="upper left", frameon=False, fontsize=8)
    return _finish(ax, is_new=is_new)


def _band(n: int) -> tuple[list[float], list[float]]:
    """Return where the observed p-values of independent columns lie, each with 95 %."""
    import numpy as np
    from scipy.special import betaincinv

    rank = np.arange(n)
    low, high = (betaincinv(n - rank, rank + 1, share).tolist() for share in (0.975, 0.025))
    return [_height(p) for p in low], [_height(p) for p in high]


def plot_cells(each: Interaction, ax: Axes | None = None) -> Axes:
    """Draw the table of effects of a group: a square for each cell, the target's mean in it."""
    import numpy as np

    cells = each.cells
    assert cells is not None, "effects are kept for the first groups"
    is_new, sizes = ax is None, [len(levels) for levels in cells.levels]
    means = np.array([np.nan if mean is None else mean for mean in cells.means]).reshape(sizes)
    counts = np.array(cells.n_rows).reshape(sizes)
    down = [number for number in range(len(sizes)) if number % 2 == 0]
    across = [number for number in range(len(sizes)) if number % 2 == 1]
    order = [*down, *across]
    shape = math.prod(sizes[i] for i in down), math.prod(sizes[i] for i in across)
    means, counts = (values.transpose(order).reshape(shape) for values in (means, counts))
    ax = new_axes(ax, _CELL * shape[1] * 1.4, _CELL * shape[0])
    middle = float(np.nansum(means * counts) / max(counts.sum(), 1))
    reach = max(float(np.nanmax(np.abs(means - middle))), 1e-12)
    image = ax.imshow(means, cmap="RdBu_r", vmin=middle - reach, vmax=middle + reach, aspect="auto")
    _write_cells(ax, means, counts, image)
    for axis, chosen, setter in (("y", down, ax.set_yticks), ("x", across, ax.set_xticks)):
        labels = _label_levels([cells.levels[i] for i in chosen])
        setter(range(len(labels)), labels, fontsize=8, parse_math=False)
        text = ", ".join(shorten(show_name(each.columns[i]), _LETTERS) for i in chosen)
        getattr(ax, f"set_{axis}label")(text, parse_math=False)
    _separate(ax, [sizes[i] for i in down], [sizes[i] for i in across], shape)
    what = "mean" if cells.level is None else f"share of {cells.level}"
    ax.set_title(f"{show_name(each.target)}: {what}", loc="left", parse_math=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if is_new:
        make_room(ax)
    return ax


def _write_cells(axes: Axes, means: Any, counts: Any, image: Any) -> None:
    """Write mean and rows into each cell, in ink that can be seen."""
    if means.size > _MOST_LABELLED:
        return
    for (row, column), mean in _entries(means):
        count = int(counts[row, column])
        if not count:
            axes.text(column, row, "no rows", ha="center", va="center", fontsize=7, color=_FAINT)
            continue
        red, green, blue, _ = image.cmap(image.norm(mean))
        ink = "black" if 0.3 * red + 0.6 * green + 0.1 * blue > 0.5 else "white"
        text = f"{mean:.3g}\n{count:,} rows" if count != 1 else f"{mean:.3g}\n1 row"
        axes.text(column, row, text, ha="center", va="center", fontsize=7, color=ink)


def _entries(means: Any) -> Iterator[tuple[tuple[int, int], float]]:
    for row in range(means.shape[0]):
        for column in range(means.shape[1]):
            yield (row, column), float(means[row, column])


def _label_levels(levels: Sequence[Sequence[str]]) -> list[str]:
    """Return the levels of one column, or combinations of those of several."""
    labels = [""]
    for own in levels:
        labels = [f"{label}, {level}" if label else str(level) for label in labels for level in own]
    return [shorten(label, _LETTERS) for label in labels]


def _separate(
    axes: Axes, down: Sequence[int], across: Sequence[int], shape: tuple[int, int]
) -> None:
    """Draw white lines between cells, thick ones where the level of the first column changes."""
    for sizes, total, draw in ((down, shape[0], axes.axhline), (across, shape[1], axes.axvline)):
        inner = math.prod(sizes[1:])
        for place in range(1, total):
            draw(place - 0.5, color="white", linewidth=4 if place % inner == 0 and inner > 1 else 1)


def _finish(axes: Axes, *, is_new: bool) -> Axes:
    axes.spines[["top", "right"]].set_visible(False)
    if is_new:
        make_room(axes)
    return axes


DRAWN: dict[str, Callable[[Interactions, Axes | None], Axes]] = {
    "groups": plot_groups,
    "heatmap": plot_heatmap,
    "manhattan": plot_manhattan,
    "qq": plot_qq,
}
"""What can be drawn of all groups, by name."""
