"""Tables that come with komb, to try things on."""

from __future__ import annotations

from importlib.resources import as_file, files

from komb.data.read.table_files import read_table
from komb.data.table import DiscreteTable
from komb.errors import UnknownNameError

NAMES = ("lamp",)
"""The tables there are."""


def example(name: str = "lamp") -> DiscreteTable:
    """Return a table that comes with komb.

    Parameters
    ----------
    name
        ``"lamp"``: 500 rows of a lamp with a switch in the hall and one on the stairs, wrong in
        one row of twenty, and three columns that have nothing to do with it.

    Returns
    -------
    DiscreteTable
        As :func:`komb.read_table` would read it.

    Examples
    --------
    >>> example("lamp").names
    ('weekday', 'weather', 'hall', 'stairs', 'guests', 'lamp')
    """
    if name not in NAMES:
        raise UnknownNameError.among("example", name, NAMES)
    with as_file(files("komb.data") / "example_tables" / f"{name}.csv") as path:
        return read_table(path)
