"""What every picture needs: matplotlib, a figure that fits, a file to go to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from komb.data.read.file_bytes import to_path
from komb.errors import FileError, MissingPackageError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point: TypeAlias = tuple[float, float]

_MARGIN = 0.1  # inches
_FITTING_STEPS = 30
_LEAST_SHARE = 0.2  # of axes that two units of the data take up, however long the texts are
_RIM = 0.06  # around points, in units of the data
_DPI = 200


def check_picture(path: str | os.PathLike[str]) -> Path:
    """Return where a picture shall go, or say why it cannot; nothing has been drawn then."""
    need_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    file = to_path(path)
    if file.suffix.lower().removeprefix(".") not in FigureCanvasBase.get_supported_filetypes():
        remedy = "Use a name that ends in .png, .pdf or .svg."
        raise ParameterError.because("plot", "be the name of an image file", str(path), remedy)
    if not os.path.isdir(file.parent):
        raise FileError(f"There is no folder {str(file.parent)!r} for the plot. Make it first.")
    if os.path.isdir(file):
        raise FileError(f"Cannot write {str(file)!r}: it is a folder. Name a file in it.")
    return file


def check_axes(ax: object) -> None:
    """Raise if a picture cannot be drawn there."""
    need_matplotlib()
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        remedy = 'To write a file: plot().figure.savefig("picture.png").'
        raise ParameterError.because("ax", "be matplotlib axes, or None", ax, remedy)


def new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes that the caller has, or new ones on a figure of this size, in inches."""
    check_axes(ax)
    from komb.views.pictures.figure import new_picture

    return new_picture(width, height) if ax is None else ax


def save_picture(axes: Axes, path: str | os.PathLike[str]) -> None:
    """Write the figure that axes are on to a file."""
    file = check_picture(path)
    try:
        axes.figure.canvas.print_figure(file, dpi=_DPI)
    except OSError as error:
        remedy = "Name another file, or free disk space."
        raise FileError.on_writing(file, error, remedy) from None


def need_matplotlib() -> None:
    """Raise :class:`komb.errors.MissingPackageError` if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingPackageError(
            "Plots need matplotlib, which is not installed. Install it: "
            'pip install "komb[plots]", or pip install matplotlib.'
        ) from None


def make_room(axes: Axes) -> None:
    """Let a figure grow until labels, title and legend are on it, whatever their length."""
    figure = axes.get_figure(root=True)
    assert figure is not None  # the axes were made on one
    cells, everything = axes.get_window_extent().frozen(), axes.get_tightbbox()
    if everything is None:
        return
    box = everything.padded(_MARGIN * figure.dpi)
    figure.set_size_inches(box.width / figure.dpi, box.height / figure.dpi)
    left, bottom = (cells.x0 - box.x0) / box.width, (cells.y0 - box.y0) / box.height
    axes.set_position((left, bottom, cells.width / box.width, cells.height / box.height))


def grow(axes: Axes, points: Iterable[Point]) -> None:
    """Let axes that fill a figure grow, or shrink, to their points and texts; the scale stays."""
    figure = axes.get_figure(root=True)
    assert figure is not None  # the axes were made on one
    (x0, x1), (y0, y1) = _extent(axes, points)
    pixels = axes.transData.transform([(x0, y0), (x1, y1)])
    figure.set_size_inches(*((pixels[1] - pixels[0]) / figure.dpi))
    axes.set_xlim(x0, x1)
    axes.set_ylim(y0, y1)


def fit(axes: Axes, points: Iterable[Point]) -> None:
    """Set the limits of axes of a given size so that all points and texts are within them.

    Both directions get the same scale.
    """
    corners = list(points)
    axes.set_aspect("auto")
    box = axes.get_window_extent()
    most = 1 / (_LEAST_SHARE * min(box.width, box.height))
    for _ in range(_FITTING_STEPS):  # texts keep their size, so a step only brings limits nearer
        (x0, x1), (y0, y1) = _extent(axes, corners)
        scale = min(max((x1 - x0) / box.width, (y1 - y0) / box.height) / 2, most)
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        axes.set_xlim(x - scale * box.width, x + scale * box.width)
        axes.set_ylim(y - scale * box.height, y + scale * box.height)
    axes.set_aspect("equal", adjustable="datalim")


def _extent(axes: Axes, points: Iterable[Point]) -> tuple[Point, Point]:
    """Return the range of points and texts in both directions, in units of the data."""
    to_data = axes.transData.inverted()
    boxes = [to_data.transform(text.get_window_extent().get_points()) for text in axes.texts]
    corners = [*(tuple(corner) for box in boxes for corner in box), *points]
    xs, ys = zip(*corners, strict=True)
    return (min(xs) - _RIM, max(xs) + _RIM), (min(ys) - _RIM, max(ys) + _RIM)


def shorten(text: str, letters: int) -> str:
    """Cut a text that is too long to be drawn, in the middle: ends often tell names apart."""
    if len(text) <= letters:
        return text
    half = (letters - 1) // 2
    return f"{text[: letters - 1 - half]}…{text[-half:]}"
