"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

make lowest
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ALONG = ["click==8.1.8"]
"""What the lowest versions need besides: the lowest typer does not know newer ones."""

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def lowest(requirements: list[str]) -> list[str]:
    """Turn lower bounds into exact versions.

    Examples
    --------
    >>> lowest(["numpy>=2.0", "pandas-stubs", "komb[networks]"])
    ['numpy==2.0']
    """
    bounds = (re.match(r"([\w.-]+)\s*>=\s*([\w.]+)", entry) for entry in requirements)
    return [f"{bound[1]}=={bound[2]}" for bound in bounds if bound is not None]


def main() -> None:
    """Print the file."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    print("\n".join(lowest(project["dependencies"]) + ALONG))


if __name__ == "__main__":
    main()
