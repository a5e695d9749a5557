"""Pictures inside a page."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from komb.errors import MissingPackageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PIXELS_PER_INCH = 96


class Picture(NamedTuple):
    """A picture as a page holds it."""

    title: str  # what is on it, for those who cannot see it
    source: str = ""  # an SVG file in base 64; empty if the picture could not be drawn
    width: int = 0  # in pixels
    height: int = 0
    absence: str = ""  # why it could not be drawn


def take_picture(draw: Callable[[], Axes], title: str) -> Picture:
    """Draw a picture for a page; without matplotlib, say that it is not there."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a box stands for a letter without one
        try:
            axes = draw()
        except MissingPackageError as error:
            return Picture(title, absence=str(error))
        figure = axes.get_figure(root=True)
        assert figure is not None  # axes are drawn on one
        source = base64.b64encode(_to_svg(figure)).decode("ascii")
    width, height = (round(inches * _PIXELS_PER_INCH) for inches in figure.get_size_inches())
    return Picture(title, source, width, height)


def _to_svg(figure: Any) -> bytes:
    import matplotlib as mpl

    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "komb", "svg.fonttype": "path"}):
        # A date would make every page another one.
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return file.getvalue()
