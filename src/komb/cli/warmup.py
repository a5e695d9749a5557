"""The command ``komb warmup``."""

from __future__ import annotations

import time

from komb.cli.exits import exit_codes
from komb.cli.output import show
from komb.views.text import show_seconds


@exit_codes()
def warmup() -> None:
    """Compile all kernels now, so that no search has to wait for them."""
    from komb.api.warmup import compile_all

    began = time.perf_counter()
    folder = compile_all()
    where = "there is no folder to keep them in" if folder is None else f"kept in {folder}"
    show(f"All kernels are ready, after {show_seconds(time.perf_counter() - began)}: {where}.")
