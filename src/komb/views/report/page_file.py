"""What every page needs: a file to go to, pictures inside, the versions that made it."""

from __future__ import annotations

import base64
import io
import os
import platform
import warnings
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from komb.data.read.file_bytes import to_path
from komb.errors import FileError, MissingPackageError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_ENDINGS = (".html", ".htm")


def check_page(path: str | os.PathLike[str]) -> Path:
    """Return where a page shall go, or say why it cannot; nothing has been searched then.

    An older page of that name is replaced; nothing but a page ever is, for the name must say that
    it is one.
    """
    file = to_path(path)
    if os.path.isdir(file):
        raise FileError(f"Cannot write {str(file)!r}: it is a folder. Name a file in it.")
    if file.suffix.lower() not in _ENDINGS:
        remedy = "Use a name that ends in .html."
        raise ParameterError.because("path", "be the name of an HTML file", str(path), remedy)
    if not os.path.isdir(file.parent):
        raise FileError(f"There is no folder {str(file.parent)!r} for the report. Make it first.")
    if not os.access(file if os.path.exists(file) else file.parent, os.W_OK):
        raise FileError(
            f"Cannot write {str(file)!r}: permission denied. Name a file where you may write."
        )
    return file


def write_page(page: str, path: Path) -> None:
    """Write a page in one step: an interruption leaves the old one or the new one."""
    # Python strings may hold halves of characters, which no file can; a page can name them.
    content = page.encode("utf-8", "xmlcharrefreplace")
    fresh = path.with_name(f"{path.name}.new")
    try:
        fresh.write_bytes(content)
        os.replace(fresh, path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        remedy = "Name another file, or free disk space."
        raise FileError.on_writing(path, error, remedy) from None


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


PACKAGES = ("numpy", "scipy", "numba", "polars")
"""What every result depends on."""


def show_versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Return the version of Python and of those packages that are installed."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue  # it is optional
    return found
