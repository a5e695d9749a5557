"""The report of a run: every table in three formats, claims, the figure, and a page with it all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from komb.errors import FileError, MissingPackageError
from komb.reproduction.averages import Variant
from komb.reproduction.claims import check_claims
from komb.reproduction.figures import KINDS, Kind, draw_metrics, render, to_inline_svg
from komb.reproduction.journal import Record, SeparatorRecord
from komb.reproduction.page import make_page
from komb.reproduction.paper_tables import how_to_add, make_tables
from komb.reproduction.table_text import claims_to_markdown, to_csv, to_latex, to_markdown

_FORMATS = {"md": to_markdown, "csv": to_csv, "tex": to_latex}
_FIGURES = {"": "synthetic", "iamb": "synthetic-from-iamb"}  # by where kOMB began


def write_report(
    out: Path,
    records: Sequence[Record],
    separators: Sequence[SeparatorRecord],
    manifest: Mapping[str, object],
    suites: Sequence[str],
) -> list[Path]:
    """Write the tables and the figure of the paper, made from records, and a page with all of it.

    Whatever there are no records for is left out, and the page says which command adds it. The
    figure is left out as well where matplotlib is not installed. Tables go to ``tables`` in the
    folder of the results, pictures to ``figures``, and the page is ``index.html``; the files that
    were written are returned, the page first.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_report(Path(folder), [], [], {}, [])
    >>> [file.name for file in files]
    ['index.html']
    """
    tables = make_tables(records, separators, str(out))
    figures, note = _draw(records, str(out))
    claims = check_claims(records, separators, str(out))
    page = make_page(
        claims,
        tables,
        figures={
            f"kOMB {Variant(start=start).origin}": to_inline_svg(pictures["svg"], _FIGURES[start])
            for start, pictures in figures.items()
        },
        figure_note=note,
        manifest=manifest,
        suites=suites,
        out=str(out),
    )
    files = {out / "index.html": page.encode()}
    if records or separators:
        files[out / "tables" / "claims.md"] = claims_to_markdown(claims).encode()
    for table in tables:
        if table.sections:
            for ending, write in _FORMATS.items():
                files[out / "tables" / f"{table.name}.{ending}"] = write(table).encode()
    for start, pictures in figures.items():
        for kind, picture in pictures.items():
            files[out / "figures" / f"{_FIGURES[start]}.{kind}"] = picture
    for file, text in files.items():
        _write(file, text)
    return list(files)


def _draw(records: Sequence[Record], out: str) -> tuple[dict[str, dict[Kind, bytes]], str]:
    """Return pictures by where kOMB began and by kind, and what to say if there are none."""
    command = how_to_add(["synthetic"], out)
    try:
        drawn = {start: draw_metrics(records, start) for start in _FIGURES}
    except MissingPackageError as error:
        return {}, f"Left out. {error} Then this adds it: {command}"
    figures = {
        start: {kind: render(figure, kind) for kind in KINDS}
        for start, figure in drawn.items()
        if figure is not None
    }
    return figures, "" if figures else f"Nothing has been run for it. This adds it: {command}"


def _write(file: Path, text: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text)
    except OSError as error:
        remedy = "Name another folder, or free disk space."
        raise FileError.on_writing(file, error, remedy) from None
