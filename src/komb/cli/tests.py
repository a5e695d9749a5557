"""The command ``komb tests``."""

from __future__ import annotations

from komb.cli.exits import exit_codes
from komb.cli.output import show
from komb.views.text import Grid, Sheet


@exit_codes()
def tests() -> None:
    """List the conditional-independence tests."""
    from komb.citests import tests as known

    rows = tuple((info.name, info.summary, info.citation) for info in known().values())
    show(Sheet("Tests", grids=(Grid(("name", "what it is", "citation"), rows),)))
