"""Uses kernels, and prints as JSON which were read from disk and which had to be compiled.

``python -m tests.guards.kernel_use default`` makes the default call on a small table, ``all`` makes
tests and searches on all kinds of tables that have kernels of their own.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import komb
from komb.engine.compiling import compile_at_once
from tests.guards import calls, freeze
from tests.guards.kinds import KINDS

WITH_KERNELS = (
    "levels",
    "few rows",
    "gaps",
    "sparse",
    "sparse gaps",
    "wide",
    "long",
    "limited",
    "mixed",
)


def use_default() -> None:
    calls.find(calls.small_tables()["columns"], "Y")


def use_all() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in WITH_KERNELS:
            kind = KINDS[name](Path(folder))
            for test in calls.names_of_tests():
                freeze.ask(kind, test, freeze.draw_queries(kind.names, 5))
            for options in ({"order": 1}, {"method": "komb"}):
                freeze.search(kind, kind.names[-1], options)
    komb.interactions(komb.example("lamp"), "lamp")
    calls.load_all_kernels()  # to see which were not used


if __name__ == "__main__":
    if sys.argv[1] == "default":
        use_default()
    else:
        with compile_at_once():  # also those that Python would run at first
            use_all()
    print(json.dumps(calls.kernel_uses()))
