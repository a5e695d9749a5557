"""Slow, obvious twins of everything fast: dictionaries, loops and the formulas as printed.

Nothing here imports komb. A table is a list of columns, a column a list of level numbers; a
variable is the number of its column. ``y`` is the target, ``x`` a candidate, ``given`` (or ``z``)
the condition, ``s`` the blanket, ``k`` the order and ``most`` the bound on separators. Every
search has a twin of the same name, with an underscore for a hyphen.

By layer: ``discretization`` (data); ``counts``; ``statistics``, ``moments``, ``permutation``,
``information`` and ``decision`` (citests); ``sessions`` and ``adjusted``; ``komb``, ``growing``,
``neighbours``, ``bamb`` and ``auto`` with their ``steps``, and ``parts`` (search);
``explanation`` (api).
"""

from tests.naive import (
    adjusted,
    auto,
    bamb,
    counts,
    decision,
    discretization,
    explanation,
    growing,
    information,
    komb,
    moments,
    neighbours,
    parts,
    permutation,
    sessions,
    statistics,
    steps,
)

CLASSICS = {
    "gs": growing.gs,
    "iamb": growing.iamb,
    "lrh": growing.lrh,
    "hiton-mb": neighbours.hiton_mb,
    "mmmb": neighbours.mmmb,
    "pcmb": neighbours.pcmb,
    "stmb": neighbours.stmb,
    "bamb": bamb.bamb,
}

SEARCHES = {**CLASSICS, "komb": komb.komb, "auto": auto.automatic}
"""A twin of every search; those of the classics take the same."""

__all__ = [
    "CLASSICS",
    "SEARCHES",
    "adjusted",
    "auto",
    "bamb",
    "counts",
    "decision",
    "discretization",
    "explanation",
    "growing",
    "information",
    "komb",
    "moments",
    "neighbours",
    "parts",
    "permutation",
    "sessions",
    "statistics",
    "steps",
]
