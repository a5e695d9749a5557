"""Many blankets as one picture: a row for each target, a column for each possible member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from komb.views.pictures.canvas import make_room, new_axes, shorten
from komb.views.text import plural, show_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from komb.data.names import Name
    from komb.results.blanket import Blanket

_LETTERS = 28  # of a name
_WEAKEST, _STRONGEST = 3.0, 1000.0  # bits that colours tell apart
_TICKS = (7, 20, 50, 150, 400, 1000)  # bits
_SELF, _ABSENT, _GRID, _REQUEST = "#D0D0D0", "#F4F4F4", "white", "#999999"
_LARGE, _SMALL = 0.32, 0.13  # inches of a cell, for few and for many columns
_FEW, _MANY = 12, 60  # columns


class Cell(NamedTuple):
    """One member of one target."""

    bits: float | None  # the evidence for it; ``None`` for a member by request
    is_together: bool = False  # whether it depends on the target only given others
    # whether the member's own blanket was searched, and does not have the target
    is_one_sided: bool = False


def plot_blankets(blankets: Mapping[Name, Blanket], ax: Axes | None = None) -> Axes:
    """Draw the blankets of many targets: a row each, its members in colours."""
    members = (name for blanket in blankets.values() for name in blanket)
    names = dict.fromkeys([*blankets, *members])
    place = {name: number for number, name in enumerate(names)}
    cells = {
        (place[target], place[member.name]): Cell(
            bits=member.bits,
            is_together=bool(member.witness),
            is_one_sided=member.name in blankets and target not in blankets[member.name],
        )
        for target, blanket in blankets.items()
        for member in blanket.evidence
    }
    return draw_heatmap(
        f"Markov blankets of {plural(len(blankets), 'target')}",
        [show_name(target) for target in blankets],
        [show_name(name) for name in names],
        cells,
        ax,
    )


def draw_heatmap(
    title: str,
    targets: Sequence[str],
    members: Sequence[str],
    cells: Mapping[tuple[int, int], Cell],
    ax: Axes | None = None,
) -> Axes:
    """Draw which target has which member, and how strong the evidence is."""
    n_rows, n_columns = max(len(targets), 1), max(len(members), 1)
    inches = _cell_size(max(n_rows, n_columns))
    is_new = ax is None
    ax = new_axes(ax, inches * n_columns, inches * n_rows)
    if not is_new:
        box = ax.get_window_extent()
        dpi = ax.figure.dpi
        inches = min(box.width / dpi / n_columns, box.height / dpi / n_rows, _LARGE)
    _paint(ax, len(targets), n_rows, n_columns, cells)
    _mark(ax, cells, inches)
    _label(ax, title, targets, members, inches)
    _add_scale(ax, inches * n_columns)
    _add_legend(ax, cells)
    if is_new:
        make_room(ax)
    return ax


def _cell_size(count: int) -> float:
    share = min(max((count - _FEW) / (_MANY - _FEW), 0.0), 1.0)
    return _LARGE + share * (_SMALL - _LARGE)


def _paint(
    axes: Axes, n_targets: int, n_rows: int, n_columns: int, cells: Mapping[tuple[int, int], Cell]
) -> None:
    """Colour the cells; what is no member stays pale, and a column against itself is grey."""
    import numpy as np
    from matplotlib.colors import to_rgb

    picture = np.empty((n_rows, n_columns, 3))
    picture[:] = to_rgb(_ABSENT)
    for number in range(n_targets):
        picture[number, number] = to_rgb(_SELF)
    for place, cell in cells.items():
        picture[place] = _colour(cell)
    axes.imshow(picture, interpolation="nearest", aspect="equal")
    width = 0.3 if max(n_rows, n_columns) > _MANY else 0.8
    down, across = np.arange(0.5, n_rows - 1), np.arange(0.5, n_columns - 1)
    axes.hlines(down, -0.5, n_columns - 0.5, color=_GRID, linewidth=width)
    axes.vlines(across, -0.5, n_rows - 0.5, color=_GRID, linewidth=width)


def _scale() -> tuple[Any, Any]:
    """Return how bits become colours: dark ones are strong, also in print."""
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm

    return colormaps["viridis_r"], LogNorm(_WEAKEST, _STRONGEST, clip=True)


def _colour(cell: Cell) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    if cell.bits is None:
        return to_rgb(_REQUEST)
    colours, norm = _scale()
    return to_rgb(colours(norm(max(cell.bits, _WEAKEST))))


def _mark(axes: Axes, cells: Mapping[tuple[int, int], Cell], inches: float) -> None:
    """Put a sign on cells that are one-sided or need others, in ink that can be seen."""
    for (row, column), cell in cells.items():
        red, green, blue = _colour(cell)
        ink = "black" if 0.3 * red + 0.6 * green + 0.1 * blue > 0.5 else "white"
        size = 72 * inches
        if cell.is_one_sided:
            axes.plot(column, row, "o", color=ink, markersize=0.26 * size, markeredgewidth=0)
        if cell.is_together:
            axes.plot(
                column, row, "s", markerfacecolor="none", markeredgecolor=ink,
                markersize=0.58 * size, markeredgewidth=max(0.4, 0.05 * size),
            )  # fmt: skip


def _label(
    axes: Axes, title: str, targets: Sequence[str], members: Sequence[str], inches: float
) -> None:
    # Names are text: a dollar in one of them starts no formula.
    size = min(max(72 * inches * 0.62, 4.5), 9.0)
    across = [shorten(name, _LETTERS) for name in members]
    down = [shorten(name, _LETTERS) for name in targets]
    axes.set_title(title, loc="left", parse_math=False)
    axes.set_xticks(range(len(across)), across, rotation=90, parse_math=False, fontsize=size)
    axes.set_yticks(range(len(down)), down, parse_math=False, fontsize=size)
    axes.tick_params(which="both", length=0, labeltop=True, labelbottom=False)
    axes.set_ylabel("target")
    axes.set_xlabel("member")
    axes.xaxis.set_label_position("top")
    axes.spines[:].set_visible(False)
    if not targets:
        axes.text(0, 0, "no target", ha="center", va="center")


def _add_scale(axes: Axes, inches: float) -> None:
    """Add a bar that says what the colours mean, at the right."""
    from matplotlib.cm import ScalarMappable

    colours, norm = _scale()
    bar = axes.inset_axes((1 + 0.15 / inches, 0, 0.12 / inches, 1))
    scale = axes.figure.colorbar(ScalarMappable(norm, colours), cax=bar)
    # not every test has a p-value, but all have bits
    more = {_STRONGEST: " or more"}  # which all look the same
    labels = [f"{bits:,} bits{more.get(bits, '')} (p = {2.0**-bits:.0g})" for bits in _TICKS]
    scale.set_ticks(list(_TICKS), labels=labels, fontsize=8)
    scale.ax.tick_params(which="minor", length=0)
    scale.outline.set_visible(False)


def _add_legend(axes: Axes, cells: Mapping[tuple[int, int], Cell]) -> None:
    from matplotlib.lines import Line2D

    signs: dict[str, dict[str, Any]] = {}
    if any(cell.is_one_sided for cell in cells.values()):
        signs["one-sided: the target is not in the member's blanket"] = {
            "marker": "o",
            "color": "black",
        }
    if any(cell.is_together for cell in cells.values()):
        signs["dependent only given others"] = {
            "marker": "s", "markerfacecolor": "none", "color": "black",
        }  # fmt: skip
    if any(cell.bits is None for cell in cells.values()):
        signs["by request"] = {"marker": "s", "color": _REQUEST}
    handles = [Line2D([], [], linestyle="none", label=m, **style) for m, style in signs.items()]
    if handles:
        axes.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(0, 0), frameon=False, fontsize=8
        )
