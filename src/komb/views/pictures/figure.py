"""Axes on a figure of their own that a notebook shows, without pyplot and its open figures."""

from __future__ import annotations

import io

from matplotlib.axes import Axes
from matplotlib.figure import Figure

_DPI = 144  # of the picture in a notebook; it is drawn at half the size


class Picture(Axes):
    """Axes that a notebook shows as a picture of the whole figure."""

    name = "komb"  # of the projection, as matplotlib calls a kind of axes

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        figure = self.get_figure(root=True)
        assert figure is not None  # the axes were made on one
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=_DPI)
        width, height = (round(inches * _DPI / 2) for inches in figure.get_size_inches())
        return file.getvalue(), {"width": width, "height": height}


def new_picture(width: float, height: float) -> Axes:
    """Return axes that fill a new figure; sizes are in inches."""
    figure = Figure(figsize=(width, height), facecolor="white")
    return figure.add_axes((0, 0, 1, 1), axes_class=Picture)
