"""The Boolean networks of the paper: a noisy function of fair coins.

With parity no single parent carries any information on the result, and no smaller group of them
either, so these are the hardest cases for a search that assumes faithfulness.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import product
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from komb.data.checks import check_count, check_number
from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.table import DiscreteTable
from komb.errors import ParameterError, UnknownNameError

BOOLEAN_FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "parity": "1 if an odd number of parents is 1",
        "ex-1": "1 if exactly one parent is 1",
        "ex-2": "1 if exactly two parents are 1",
        "and": "1 if all parents are 1",
        "or": "1 if at least one parent is 1",
    }
)
"""The functions by name; ``ex-3``, ``ex-4``, ... are understood as well."""

_MOST_PARENTS = 20  # of a network, whose table has 2 ** n_parents rows


def boolean_network(
    function: str, n_parents: int = 3, noise: float = 0.1, n_irrelevant: int = 0
) -> DiscreteNetwork:
    """Build the network of a noisy Boolean function.

    Parameters
    ----------
    function
        One of :data:`komb.data.models.boolean_functions.BOOLEAN_FUNCTIONS`, or ``ex-s`` for
        "exactly ``s`` parents are 1".
    n_parents
        How many fair coins ``X1``, ``X2``, ... the function takes.
    noise
        Probability that ``Y`` is not the value of the function.
    n_irrelevant
        How many more fair coins ``E1``, ``E2``, ... have nothing to do with ``Y``.

    Returns
    -------
    DiscreteNetwork
        With variables ``X1, ..., Y, E1, ...``, all of them 0 or 1.

    Examples
    --------
    >>> network = boolean_network("parity", n_irrelevant=1)
    >>> network.names, network.blanket("Y"), network.blanket("X1")
    (('X1', 'X2', 'X3', 'Y', 'E1'), ('X1', 'X2', 'X3'), ('X2', 'X3', 'Y'))
    """
    evaluate, inputs, others = _check(function, n_parents, noise, n_irrelevant)
    if len(inputs) > _MOST_PARENTS:
        rule = f"be at most {_MOST_PARENTS} for a network, which needs a table of all cases"
        remedy = "Use boolean_table, which does without."
        raise ParameterError.because("n_parents", rule, n_parents, remedy)
    cases = np.array(list(product((0, 1), repeat=len(inputs))), np.int64)
    chance = np.where(evaluate(cases.sum(axis=1)), 1 - noise, noise)
    table = np.stack([1 - chance, chance], axis=-1).reshape([2] * (len(inputs) + 1))
    coin = np.array([0.5, 0.5])
    parents: dict[str, list[str]] = {name: [] for name in inputs}
    parents["Y"] = inputs
    parents.update({name: [] for name in others})
    return DiscreteNetwork(parents, {name: table if name == "Y" else coin for name in parents})


def boolean_table(
    function: str,
    n_rows: int,
    *,
    n_parents: int = 3,
    noise: float = 0.1,
    n_irrelevant: int = 0,
    seed: int = 0,
) -> DiscreteTable:
    """Draw a table from the network of a noisy Boolean function.

    The function is evaluated row by row, so there may be any number of parents.

    Parameters
    ----------
    function, n_parents, noise, n_irrelevant
        As in :func:`boolean_network`.
    n_rows
        How many rows.
    seed
        The same seed gives the same table.

    Returns
    -------
    DiscreteTable
        With columns ``X1, ..., Y, E1, ...``.

    Examples
    --------
    >>> table = boolean_table("parity", 1000, n_irrelevant=6)
    >>> table
    DiscreteTable(1000 rows x 10 columns, 2 levels)
    """
    evaluate, inputs, others = _check(function, n_parents, noise, n_irrelevant)
    total = check_count("n_rows", n_rows, 1)
    rng = np.random.default_rng(check_count("seed", seed))
    names = [*inputs, "Y", *others]
    codes = rng.integers(0, 2, (len(names), total), np.uint8)
    n_ones = codes[: len(inputs)].sum(axis=0, dtype=np.int64)
    codes[len(inputs)] = evaluate(n_ones) ^ (rng.random(total) < noise)
    return DiscreteTable.from_codes(codes.T, names)


def _check(
    function: str, n_parents: int, noise: float, n_irrelevant: int
) -> tuple[Callable[[npt.NDArray[np.int64]], npt.NDArray[np.bool_]], list[str], list[str]]:
    n_inputs = check_count("n_parents", n_parents, 1)
    check_number("noise", noise, 0, 1, 0.1)
    n_others = check_count("n_irrelevant", n_irrelevant)
    inputs = [f"X{number}" for number in range(1, n_inputs + 1)]
    return (
        _evaluator(function, n_inputs),
        inputs,
        [f"E{number}" for number in range(1, n_others + 1)],
    )


def _evaluator(
    function: str, n_parents: int
) -> Callable[[npt.NDArray[np.int64]], npt.NDArray[np.bool_]]:
    """Return the function; all of them depend only on how many parents are 1."""
    if function == "parity":
        return lambda n_ones: n_ones % 2 == 1
    if function == "and":
        return lambda n_ones: n_ones == n_parents
    if function == "or":
        return lambda n_ones: n_ones >= 1
    match = re.fullmatch(r"ex-(\d+)", str(function))
    if match is None:
        raise UnknownNameError.among("Boolean function", function, BOOLEAN_FUNCTIONS)
    exact = int(match[1])
    if exact > n_parents:
        rule = f"ask for at most {n_parents} ones, the number of parents"
        remedy = f"Try 'ex-{n_parents}' or n_parents={exact}."
        raise ParameterError.because("function", rule, function, remedy)
    return lambda n_ones: n_ones == exact
