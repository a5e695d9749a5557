"""List the licences of everything that komb pulls in, as far as it is installed.

    make licences

Packages that state none are marked, and so are those that pull them in.
"""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

NONE = "NONE STATED"


def dependencies() -> dict[str, set[str]]:
    """Walk over what komb requires, extras included; by name, with who requires it."""
    asked_by: dict[str, set[str]] = {}
    waiting = [("komb", "")]
    while waiting:
        name, parent = waiting.pop()
        is_new = name not in asked_by
        asked_by.setdefault(name, set()).add(parent)
        if not is_new:
            continue
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        for requirement in found.requires or ():
            is_extra = "extra ==" in requirement
            if not is_extra or name == "komb":  # extras of others are not asked for
                waiting.append((normalise(requirement), name))
    return asked_by


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
    stated = str(about["License-Expression"] or about["License"] or "")
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
