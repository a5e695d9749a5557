"""komb: Markov blankets of discrete data, combinations included.

>>> import komb
>>> table = komb.boolean_table("parity", 500, n_parents=2)  # Y is X1 xor X2, with some noise
>>> komb.markov_blanket(table, "Y").members
('X1', 'X2')

Names are imported when they are first used, so ``import komb`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from komb._version import __version__

if TYPE_CHECKING:
    from komb import errors
    from komb.citests import tests
    from komb.comparing import compare
    from komb.comparison import Comparison
    from komb.data import (
        DiscreteNetwork,
        DiscreteTable,
        MarkovField,
        boolean_network,
        boolean_table,
        example,
        read_bif,
        read_table,
    )
    from komb.discover import markov_blanket, markov_blankets
    from komb.explanation import Explanation
    from komb.paths import BlanketPath, blanket_path
    from komb.reporting import report
    from komb.results import Blanket, Blankets, Member, plot_blankets
    from komb.search import algorithms
    from komb.selector import MarkovBlanketSelector

__all__ = [
    "Blanket",
    "BlanketPath",
    "Blankets",
    "Comparison",
    "DiscreteNetwork",
    "DiscreteTable",
    "Explanation",
    "MarkovBlanketSelector",
    "MarkovField",
    "Member",
    "__version__",
    "algorithms",
    "blanket_path",
    "boolean_network",
    "boolean_table",
    "compare",
    "errors",
    "example",
    "markov_blanket",
    "markov_blankets",
    "plot_blankets",
    "read_bif",
    "read_table",
    "report",
    "tests",
]

_HOMES = {
    "Blanket": "komb.results",
    "BlanketPath": "komb.paths",
    "Blankets": "komb.results",
    "Comparison": "komb.comparison",
    "DiscreteNetwork": "komb.data",
    "DiscreteTable": "komb.data",
    "Explanation": "komb.explanation",
    "MarkovBlanketSelector": "komb.selector",
    "MarkovField": "komb.data",
    "Member": "komb.results",
    "algorithms": "komb.search",
    "blanket_path": "komb.paths",
    "boolean_network": "komb.data",
    "boolean_table": "komb.data",
    "compare": "komb.comparing",
    "example": "komb.data",
    "markov_blanket": "komb.discover",
    "markov_blankets": "komb.discover",
    "plot_blankets": "komb.results",
    "read_bif": "komb.data",
    "read_table": "komb.data",
    "report": "komb.reporting",
    "tests": "komb.citests",
}


def __getattr__(name: str) -> object:
    if name == "errors":
        return import_module("komb.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'komb' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    return __all__
