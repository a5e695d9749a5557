"""Packages that komb works with but does not need: tests that do are skipped without them.

``from tests.optional import pandas as pd`` is ``import pandas as pd``, except that a test which
uses what is not installed is skipped, and says what it misses. Outside of tests, where parameters
are listed, a stand-in takes its place; ``conftest.py`` skips the tests that get one.
"""

from __future__ import annotations

import importlib
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, NoReturn

import pytest

PACKAGES = (
    "bed_reader", "dask", "distributed", "matplotlib", "pandas", "pgenlib", "pgmpy", "pyarrow",
)  # fmt: skip
MISSING = {name for name in PACKAGES if find_spec(name) is None}


def reason(name: str) -> str:
    return f"needs {name}, which is not installed: pip install {name}"


class Missing:
    """Stands for a package that is not installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Missing:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return self._use()

    def __call__(self, *_: object, **__: object) -> Missing:
        return self._use()

    def __getitem__(self, _: object) -> Missing:
        return self._use()

    def skip(self) -> NoReturn:
        """Skip the test that runs."""
        pytest.skip(reason(self._name))

    def _use(self) -> Missing:
        if "PYTEST_CURRENT_TEST" in os.environ:
            self.skip()
        return self


if TYPE_CHECKING:
    import bed_reader as bed_reader
    import pandas as pandas
    import pgenlib as pgenlib
    import pyarrow as pyarrow
else:
    bed_reader = (
        Missing("bed_reader") if "bed_reader" in MISSING else importlib.import_module("bed_reader")
    )
    pandas = Missing("pandas") if "pandas" in MISSING else importlib.import_module("pandas")
    pgenlib = Missing("pgenlib") if "pgenlib" in MISSING else importlib.import_module("pgenlib")
    pyarrow = Missing("pyarrow") if "pyarrow" in MISSING else importlib.import_module("pyarrow")
