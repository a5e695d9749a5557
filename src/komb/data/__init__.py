"""Discrete tables and where they come from.

>>> from komb.data import boolean_table
>>> boolean_table("parity", 500)
DiscreteTable(500 rows x 4 columns, 2 levels)
"""

from komb.data.bif import read_bif
from komb.data.boolean import BOOLEAN_FUNCTIONS, boolean_network, boolean_table
from komb.data.examples import example
from komb.data.field import MarkovField
from komb.data.files import read_table
from komb.data.network import DiscreteNetwork
from komb.data.table import DiscreteTable

__all__ = [
    "BOOLEAN_FUNCTIONS",
    "DiscreteNetwork",
    "DiscreteTable",
    "MarkovField",
    "boolean_network",
    "boolean_table",
    "example",
    "read_bif",
    "read_table",
]
