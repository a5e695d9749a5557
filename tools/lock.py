"""Write down the versions that a fresh environment for development gets today.

    make lock

The result, ``lock.txt``, is a file of constraints for pip: ``pip install -c lock.txt -e .[dev]``
installs these versions of whatever is needed, and nothing that is not.
"""

from __future__ import annotations

import json
import subprocess
import sys

EXTRAS = "dev,docs"


def resolve(extras: str) -> dict[str, str]:
    """Ask pip what it would install into an empty environment; by name."""
    command = [
        sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--dry-run", "--ignore-installed", "--report", "-", "--editable", f".[{extras}]",
    ]  # fmt: skip
    report = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = (entry["metadata"] for entry in json.loads(report)["install"])
    return {entry["name"].lower(): entry["version"] for entry in found if entry["name"] != "komb"}


def main() -> None:
    """Print the file."""
    version = ".".join(map(str, sys.version_info[:2]))
    print(f"# Versions for development and CI, as resolved by Python {version}: make lock")
    for name, pinned in sorted(resolve(EXTRAS).items()):
        print(f"{name}=={pinned}")


if __name__ == "__main__":
    main()
