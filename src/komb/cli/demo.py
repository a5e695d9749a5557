"""The command ``komb demo``."""

from __future__ import annotations

from komb.cli.exits import exit_codes
from komb.cli.output import program, show


@exit_codes()
def demo() -> None:
    """See what komb finds that others miss: a hidden three-way parity."""
    from komb.cli.demo_tour import run_demo

    run_demo(show, program())
