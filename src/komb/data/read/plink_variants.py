"""The variants of a PLINK file, and the names of their columns."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from komb.data.read.plink_text import read_fields

UNNAMED = "."
"""What stands for a variant without an id."""


def read_bim(file: Path, limit: int) -> list[str]:
    r"""Return a name for every variant of a ``.bim`` file.

    That is its id. A variant without one (``.``), or whose id is not the only one of its kind, is
    called ``chromosome:position``, and with its alleles, ``chromosome:position:A1:A2``, where that
    is not the only one either.
    """
    what = "chromosome, id, distance, position and two alleles"
    lines = [fields for _, fields in read_fields(file, limit, 6, what)]
    names = [fields[1] for fields in lines]
    for pattern in ("{0}:{3}", "{0}:{3}:{4}:{5}"):
        repeated = {name for name, count in Counter(names).items() if count > 1} | {UNNAMED}
        if not repeated.intersection(names):
            break
        names = [
            pattern.format(*fields) if name in repeated else name
            for name, fields in zip(names, lines, strict=True)
        ]
    return names
