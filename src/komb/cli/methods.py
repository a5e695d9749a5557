"""The commands about komb itself: ``komb methods``, ``komb tests`` and ``komb warmup``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from komb.cli.exits import exit_codes, flag_of
from komb.cli.output import show
from komb.views.text import NOTHING, Grid, Sheet, show_seconds

if TYPE_CHECKING:
    from komb.search import AlgorithmInfo

_NOTES = (
    "sound: exact if its assumption holds, no test errs and the size of sets is not limited.",
    "'komb methods NAME' describes one in detail.",
)


@exit_codes()
def methods(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Describe this method in detail.", show_default=False),
    ] = None,
) -> None:
    """List the methods, or describe one in detail."""
    from komb.search import algorithms
    from komb.search.registry import find_algorithm

    if name is not None:
        show(_describe(find_algorithm(name)))
        return
    rows = tuple(
        (info.name, str(info.year), info.assumes, _yes_or_no(info.is_sound), info.citation)
        for info in algorithms().values()
    )
    grid = Grid(("name", "year", "assumes", "sound", "citation"), rows)
    show(Sheet("Methods", grids=(grid,), notes=_NOTES))


def _describe(info: AlgorithmInfo) -> Sheet:
    flags = ", ".join(flag_of(option.name) for option in info.options)
    rows = (
        ("assumes", info.assumes),
        ("sound", _yes_or_no(info.is_sound)),
        ("strength", info.guarantee),
        ("weakness", info.weakness),
        ("options", flags or NOTHING),
        ("source", info.citation),
    )
    return Sheet(f"{info.name}: {info.summary}", grids=(Grid(("", ""), rows),))


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


@exit_codes()
def tests() -> None:
    """List the conditional-independence tests."""
    from komb.citests import tests as known

    rows = tuple((info.name, info.summary, info.citation) for info in known().values())
    show(Sheet("Tests", grids=(Grid(("name", "what it is", "citation"), rows),)))


@exit_codes()
def warmup() -> None:
    """Compile all kernels now, so that no search has to wait for them."""
    from komb.api.warmup import compile_all

    began = time.perf_counter()
    folder = compile_all()
    where = "there is no folder to keep them in" if folder is None else f"kept in {folder}"
    show(f"All kernels are ready, after {show_seconds(time.perf_counter() - began)}: {where}.")
