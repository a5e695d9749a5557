"""The command ``komb demo``."""

from __future__ import annotations

from komb.cli.exits import exit_codes
from komb.cli.output import program, show


@exit_codes()
def demo() -> None:
    """Show what komb finds and other methods miss: a three-way parity."""
    from komb.cli.demo_tour import run_demo

    run_demo(show, program())
