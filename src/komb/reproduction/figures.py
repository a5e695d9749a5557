"""The figure of the paper: precision, recall and F1 on synthetic data, as samples grow.

As in :mod:`komb.views.pictures` nothing here touches pyplot, and matplotlib is loaded when it is
needed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from komb.reproduction import paper
from komb.reproduction.averages import Metric, Runs, Variant, average
from komb.reproduction.journal import Record
from komb.reproduction.paper import Setting
from komb.views.pictures.canvas import need_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METRICS: tuple[Metric, ...] = ("precision", "recall", "f1")
"""Rows of the figure."""

Kind: TypeAlias = Literal["png", "svg"]
KINDS: tuple[Kind, ...] = ("png", "svg")
"""Files that the figure is written to."""

_DPI = 200
_PANEL = 1.9, 1.6  # inches
_TICKS = (50, 100, 200, 500, 1000)
_INK = "#1b1f24"  # of all that is neither line nor paper; a page puts its own there
_INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
_STYLE: dict[Any, Any] = dict.fromkeys(_INKED, _INK) | {
    "axes.facecolor": "none",
    "xtick.labelsize": "small",
    "ytick.labelsize": "small",
}


class _Line(NamedTuple):
    """How a method is drawn. Colours are those of Okabe and Ito; marks and dashes do without."""

    setting: Setting
    colour: str
    mark: str
    dashes: str
    mark_size: int


# From the bottom up: a line that covers another leaves part of it visible.
_LINES = (
    _Line(Setting("komb", 2, 3), "#0072B2", "o", "solid", 7),
    _Line(Setting("komb", 1, 3), "#009E73", "D", "dashdot", 5),
    _Line(Setting("komb", 0, 3), "#E69F00", "^", "dashed", 5),
    _Line(Setting("gs"), "#808080", "s", "dotted", 3),
)


def draw_metrics(records: Sequence[Record], start: str = "") -> Figure | None:
    """Draw precision, recall and F1 over the size of samples, a column for each function.

    GS and kOMB with k=0 to 2 and l=3 are drawn, on the paper's test. ``start`` is where the
    searches of kOMB began: ``""`` is the empty set, anything else the method whose blanket it was.
    Functions without such records of kOMB are left out; without any there is no figure.

    Examples
    --------
    >>> draw_metrics([]) is None
    True
    """
    need_matplotlib()
    import matplotlib as mpl

    runs = Runs(records)
    ours = [line for line in _LINES if line.setting.method == "komb"]
    functions = [
        name for name in paper.FUNCTIONS if any(_by_size(runs, name, line, start) for line in ours)
    ]
    if not functions:
        return None
    with mpl.rc_context(_STYLE):
        return _draw(runs, functions, start)


def render(figure: Figure, kind: Kind) -> bytes:
    """Return a figure as a file; the same figure gives the same bytes."""
    import matplotlib as mpl

    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "komb", "svg.fonttype": "none"}):
        # A date would make every file another one.
        metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {}
        figure.savefig(file, format=kind, dpi=_DPI, metadata=metadata)
    return file.getvalue()


def to_inline_svg(svg: bytes, prefix: str) -> str:
    """Turn an SVG file into an element of a page, in the colours of the text around it.

    The prefix tells the names of its parts from those of other pictures on the page.
    """
    text = svg.decode("utf-8")
    element = text[text.index("<svg") :]
    for what in (r"<metadata>.*?</metadata>", r'<g id="patch_1">.*?</g>'):  # the latter is paper
        element = re.sub(what, "", element, count=1, flags=re.DOTALL)
    named = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", element)
    return named.replace(_INK, "currentColor")


def _draw(runs: Runs, functions: Sequence[str], start: str) -> Figure:
    from matplotlib.figure import Figure

    size = _PANEL[0] * len(functions) + 0.6, _PANEL[1] * len(METRICS) + 0.9
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(METRICS), len(functions), sharex=True, sharey=True, squeeze=False)
    for row, metric in zip(panels, METRICS, strict=True):
        row[0].set_ylabel(metric.replace("f1", "F1"))
        for axes, function in zip(row, functions, strict=True):
            _draw_panel(axes, runs, function, metric, start)
    for axes, function in zip(panels[0], functions, strict=True):
        axes.set_title(function)
    figure.supxlabel("rows of the sample", fontsize="medium")
    handles, labels = panels[0][0].get_legend_handles_labels()
    n_columns = min(len(labels), 2 * len(functions))
    figure.legend(
        handles[::-1], labels[::-1], loc="outside upper center", ncols=n_columns, frameon=False
    )
    return figure


def _draw_panel(axes: Axes, runs: Runs, function: str, metric: Metric, start: str) -> None:
    for line in _LINES:
        found = _by_size(runs, function, line, start)
        means = [average(some, metric).mean or 0.0 for some in found.values()]
        axes.plot(
            list(found),
            means,
            label=line.setting.label,
            color=line.colour,
            linestyle=line.dashes,
            linewidth=1.6,
            marker=line.mark,
            markersize=line.mark_size,
        )
    axes.set_xscale("log")
    axes.set_xticks(_TICKS, [str(size) for size in _TICKS])
    axes.set_xticks([], minor=True)
    axes.set_ylim(-0.05, 1.05)
    axes.grid(color=_INK, alpha=0.2, linewidth=0.6)


def _by_size(runs: Runs, function: str, line: _Line, start: str) -> dict[int, Sequence[Record]]:
    variant = Variant(start=start if line.setting.method == "komb" else "")
    found = {
        size: runs.of("synthetic", function, size, line.setting, variant) for size in paper.SIZES
    }
    return {size: some for size, some in found.items() if some}
