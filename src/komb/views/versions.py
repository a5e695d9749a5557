"""Which versions a result was made with."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

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
