"""A folder of results on groups of columns: tables, pictures and a page with all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from komb import __version__
from komb.data.read.file_bytes import to_path
from komb.errors import FileError, MissingPackageError
from komb.views.pictures.canvas import save_picture
from komb.views.report.page import render
from komb.views.report.page_file import show_versions, take_picture, write_page
from komb.views.text import show_name, show_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from komb.results.interactions import Interactions

_MOST_TABLES = 10  # of effects that have a picture

_ABOUT = {
    "groups": "The groups",
    "manhattan": "The best p-value of every column",
    "qq": "P-values of single columns beside those expected",
    "heatmap": "Pairs of columns",
}


def check_folder(folder: str | os.PathLike[str]) -> Path:
    """Make a folder for results, or say why that cannot be; nothing has been searched then."""
    path = to_path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError.on_writing(path, error, "Name another folder.") from None
    if not os.access(path, os.W_OK):
        raise FileError(f"Cannot write into {str(path)!r}: permission denied. Name another folder.")
    return path


def save_results(found: Interactions, folder: Path, source: str = "") -> list[Path]:
    """Write tables, pictures (where matplotlib is installed) and the page; returns the files."""
    written = [folder / "groups.tsv", folder / "columns.tsv", folder / "results.json"]
    texts = [found.to_plink(), "\n".join(_columns(found)) + "\n", found.to_json(indent=1)]
    for file, text in zip(written, texts, strict=True):
        try:
            file.write_text(text, "utf-8")
        except OSError as error:
            raise FileError.on_writing(file, error, "Make room, or name another folder.") from None
    try:
        for name, draw in _pictures(found):
            save_picture(draw(), folder / f"{name}.png")
            written.append(folder / f"{name}.png")
    except MissingPackageError:
        pass  # the page says which package it is
    page = folder / "report.html"
    write_page(make_page(found, source), page)
    return [*written, page]


def _columns(found: Interactions) -> Iterator[str]:
    """Return the tests of single columns, as PLINK writes them."""
    yield "CHR\tSNP\tBP\tP"
    for name, p_value in found.p_values.items():
        at = found.places.get(name)
        chromosome, position = ("NA", None) if at is None else at
        place = "NA" if position is None else position
        yield f"{chromosome}\t{'_'.join(str(name).split())}\t{place}\t{p_value:.6g}"


def _pictures(found: Interactions) -> Iterator[tuple[str, Callable[[], Axes]]]:
    for kind in _ABOUT:
        yield kind, lambda kind=kind: found.plot(kind=kind)  # type: ignore[misc]
    for group in found.significant[:_MOST_TABLES]:
        if group.cells is not None:
            yield f"effects-{group.rank}", group.plot


def make_page(found: Interactions, source: str = "") -> str:
    """Write the page: the answer, its tables and its pictures."""
    sheet = found._sheet()
    pictures = [
        take_picture(lambda kind=kind: found.plot(kind=kind), about)  # type: ignore[misc]
        for kind, about in _ABOUT.items()
    ]
    effects = [
        (show_names(group.columns), take_picture(group.plot, show_names(group.columns)))
        for group in found.significant[:_MOST_TABLES]
        if group.cells is not None
    ]
    subtitle = [source, sheet.facts, f"komb {__version__}", f"{datetime.now(UTC):%Y-%m-%d}"]
    return render(
        "interactions.html.j2",
        title=f"What acts together on {show_name(found.target)}?",
        subtitle=" · ".join(filter(None, subtitle)),
        sheet=sheet,
        pictures=pictures,
        effects=effects,
        made_with=[*_made_with(found)],
    )


def _made_with(found: Interactions) -> Iterator[tuple[str, Any]]:
    yield "test", found.test
    yield "family-wise error", f"{found.level:g}"
    if found.given:
        yield "covariates", show_names(found.given)
    for each in found.searched:
        yield (
            f"groups of {each.size}",
            f"{each.n_tested:,} of {each.n_groups:,} tested; "
            f"no other has {each.most_bits:.2g} bits",
        )
    versions = {"komb": __version__, **show_versions()}
    yield "versions", ", ".join(f"{name} {number}" for name, number in versions.items())
