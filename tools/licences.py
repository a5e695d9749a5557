"""List the licences of everything that komb pulls in, as far as it is installed.

    make licences

Packages that state none are marked, and so are those that pull them in.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
NONE = "NONE STATED"


def dependencies() -> dict[str, set[str]]:
    """Walk over what komb requires, extras included; by name, with who requires it."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    asked = [*project["dependencies"], *(entry for extra in extras for entry in extra)]
    waiting = [(normalise(entry), "komb") for entry in asked]
    asked_by: dict[str, set[str]] = {}
    while waiting:
        name, parent = waiting.pop()
        is_new = name not in asked_by
        asked_by.setdefault(name, set()).add(parent)
        if is_new and name != "komb":
            waiting.extend((normalise(entry), name) for entry in required_by(name))
    return asked_by


def required_by(name: str) -> list[str]:
    """Return what a package requires if it is installed; its extras are not asked for."""
    try:
        requirements = distribution(name).requires or []
    except PackageNotFoundError:
        return []
    return [entry for entry in requirements if "extra ==" not in entry]


def normalise(requirement: str) -> str:
    """Return the name in a requirement.

    Examples
    --------
    >>> normalise("Scikit_Learn[alldeps]>=1.6; extra == 'x'")
    'scikit-learn'
    """
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def licence(found: Distribution) -> str:
    """Return what a distribution says of its licence, on one line."""
    about: Any = found.metadata
    stated = str(about.get("License-Expression") or about.get("License") or "")
    if not stated or len(stated) > 60:  # some put the whole text there
        named = [entry for entry in about.get_all("Classifier", []) if entry.startswith("License")]
        stated = ", ".join(entry.rpartition(" :: ")[2] for entry in named) or stated
    return " ".join(stated.split())[:60] or NONE


def main() -> None:
    """Print the list."""
    rows = []
    for name, parents in sorted(dependencies().items()):
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        asked = f"  (required by {', '.join(sorted(parents))})" if licence(found) == NONE else ""
        rows.append((name, found.version, licence(found) + asked))
    for name, version, text in rows:
        print(f"{name:28} {version:14} {text}")


if __name__ == "__main__":
    main()
