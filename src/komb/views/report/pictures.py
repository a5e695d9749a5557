"""Pictures inside a page."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from komb.errors import MissingPackageError
from komb.views.html.markup import scroll_box

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PIXELS_AN_INCH = 96


def picture_html(draw: Callable[[], Axes], title: str) -> str:
    """Put a picture into a page, whole; without matplotlib, say that it is not there.

    Parameters
    ----------
    draw
        Makes the picture.
    title
        What is on it, for those who cannot see it.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a box stands for a letter without one
        try:
            axes = draw()
        except MissingPackageError as error:
            return f'<p class="soft">No picture: {escape(str(error))}</p>\n'
        figure = axes.get_figure(root=True)
        assert figure is not None  # axes are drawn on one
        source = base64.b64encode(_to_svg(figure)).decode("ascii")
    width, height = (round(inches * _PIXELS_AN_INCH) for inches in figure.get_size_inches())
    image = (
        f'<img alt="{escape(title)}" width="{width}" height="{height}" '
        f'src="data:image/svg+xml;base64,{source}">'
    )
    return scroll_box(title, image, "plot")


def _to_svg(figure: Any) -> bytes:
    import matplotlib as mpl

    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "komb", "svg.fonttype": "path"}):
        # A date would make every page another one.
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return file.getvalue()
