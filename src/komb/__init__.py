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

__version__ = "0.2.0"

if TYPE_CHECKING:
    from komb import errors
    from komb.api.compare import blanket_path, compare
    from komb.api.find import markov_blanket, markov_blankets
    from komb.api.interactions import interactions
    from komb.api.report import report
    from komb.api.selector import MarkovBlanketSelector
    from komb.api.single_test import ci_test
    from komb.citests import register_test, tests
    from komb.citests.option import Option
    from komb.data.kinds import ColumnType
    from komb.data.knowledge import Knowledge
    from komb.data.models.bayesian_network import DiscreteNetwork
    from komb.data.models.boolean_functions import boolean_network, boolean_table
    from komb.data.models.markov_field import MarkovField
    from komb.data.read.bif import read_bif
    from komb.data.read.table_files import example, read_table
    from komb.data.reading import table
    from komb.data.stored.encode import encode
    from komb.data.table import DiscreteTable
    from komb.results.blanket import Blanket
    from komb.results.blankets import Blankets
    from komb.results.comparison import BlanketPath, Comparison
    from komb.results.explanation import Explanation, TestResult
    from komb.results.interactions import Interactions
    from komb.results.member import Member
    from komb.search import algorithms, register_algorithm

__all__ = [
    "Blanket",
    "BlanketPath",
    "Blankets",
    "ColumnType",
    "Comparison",
    "DiscreteNetwork",
    "DiscreteTable",
    "Explanation",
    "Interactions",
    "Knowledge",
    "MarkovBlanketSelector",
    "MarkovField",
    "Member",
    "Option",
    "TestResult",
    "__version__",
    "algorithms",
    "blanket_path",
    "boolean_network",
    "boolean_table",
    "ci_test",
    "compare",
    "encode",
    "errors",
    "example",
    "interactions",
    "markov_blanket",
    "markov_blankets",
    "read_bif",
    "read_table",
    "register_algorithm",
    "register_test",
    "report",
    "table",
    "tests",
]

_HOMES = {
    "Blanket": "komb.results.blanket",
    "BlanketPath": "komb.results.comparison",
    "Blankets": "komb.results.blankets",
    "ColumnType": "komb.data.kinds",
    "Comparison": "komb.results.comparison",
    "DiscreteNetwork": "komb.data.models.bayesian_network",
    "DiscreteTable": "komb.data.table",
    "Explanation": "komb.results.explanation",
    "Interactions": "komb.results.interactions",
    "Knowledge": "komb.data.knowledge",
    "MarkovBlanketSelector": "komb.api.selector",
    "MarkovField": "komb.data.models.markov_field",
    "Member": "komb.results.member",
    "Option": "komb.citests.option",
    "TestResult": "komb.results.explanation",
    "algorithms": "komb.search",
    "blanket_path": "komb.api.compare",
    "boolean_network": "komb.data.models.boolean_functions",
    "boolean_table": "komb.data.models.boolean_functions",
    "ci_test": "komb.api.single_test",
    "compare": "komb.api.compare",
    "encode": "komb.data.stored.encode",
    "example": "komb.data.read.table_files",
    "interactions": "komb.api.interactions",
    "markov_blanket": "komb.api.find",
    "markov_blankets": "komb.api.find",
    "read_bif": "komb.data.read.bif",
    "read_table": "komb.data.read.table_files",
    "register_algorithm": "komb.search",
    "register_test": "komb.citests",
    "report": "komb.api.report",
    "table": "komb.data.reading",
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
