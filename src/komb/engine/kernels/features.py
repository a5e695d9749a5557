"""Features of columns in a block of rows: ranks and polynomials of them, contrasts, products.

Features are made where they are needed, from two numbers per row of a numeric column and one code
of a nominal one: that takes no longer than to read them.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import math

from komb.engine.compiling import inner, stay_apart
from komb.engine.kernels.tiles import NONE, TILE, fill

IS_NOMINAL, PLACE, N_OWN, N_JOINT, N_SMOOTH, OWN, SMOOTH, N_LEVELS = range(8)
"""What a table knows of a column: where its rows are, how many features of each kind it has, and
where contrasts begin."""

N_FACTS = 8


@inner
def rows_of(table, block):
    """Return how many rows of a block there are; others fill it up."""
    length = table.score.shape[2]
    return min(length, table.n_rows - block * length)


@inner
def write_own(table, block, column, features, at):
    """Write the features of a target or a candidate; return the place behind them."""
    stay_apart()
    facts, n_rows = table.columns[column], rows_of(table, block)
    if facts[IS_NOMINAL]:
        return _write_contrasts(table, block, facts, facts[OWN], facts[N_OWN], features, at)
    score, rank = table.score[block, facts[PLACE]], table.rank[block, facts[PLACE]]
    for degree in range(1, facts[N_OWN] + 1):
        feature = features[at]
        for row in range(n_rows):
            s, u = score[row], rank[row]
            if degree == 1:
                feature[row] = s
            elif degree == 2:
                feature[row] = s * s - 1.0
            elif degree == 3:
                feature[row] = math.sqrt(7.0) * 0.5 * (5.0 * u * u - 3.0) * u
            else:
                feature[row] = 0.375 * ((35.0 * u * u - 30.0) * u * u + 3.0)
        fill_up(feature, n_rows)
        at += 1
    return at


@inner
def write_joint(table, block, column, features, at):
    """Write the features that are multiplied with those of other columns."""
    stay_apart()
    facts, n_rows = table.columns[column], rows_of(table, block)
    if facts[IS_NOMINAL]:
        return _write_contrasts(table, block, facts, facts[OWN], facts[N_JOINT], features, at)
    score, rank = table.score[block, facts[PLACE]], table.rank[block, facts[PLACE]]
    for number in range(facts[N_JOINT]):
        feature = features[at]
        for row in range(n_rows):
            feature[row] = score[row] if number == 0 else _side(rank[row])
        fill_up(feature, n_rows)
        at += 1
    return at


@inner
def write_smooth(table, block, column, functions, at):
    """Write the functions of a condition, the smoothest first."""
    stay_apart()
    facts, n_rows = table.columns[column], rows_of(table, block)
    if facts[IS_NOMINAL]:
        return _write_contrasts(table, block, facts, facts[SMOOTH], facts[N_SMOOTH], functions, at)
    score, rank = table.score[block, facts[PLACE]], table.rank[block, facts[PLACE]]
    for number in range(facts[N_SMOOTH]):
        function = functions[at + number]
        if number < 3:
            for row in range(n_rows):
                s = score[row]
                power = s * s
                function[row] = (
                    s if number == 0 else power - 1.0 if number == 1 else (power - 3.0) * s
                )
        elif number == 4 or number == 5:
            for row in range(n_rows):
                function[row] = _side(rank[row]) * (1.0 if number == 4 else score[row])
        else:
            _write_legendre(rank, functions, at, number, n_rows)
        fill_up(function, n_rows)
    return at + facts[N_SMOOTH]


@inner
def _side(rank):
    """On which side of the median a rank is."""
    return 1.0 if rank > 0.0 else -1.0 if rank < 0.0 else 0.0


@inner
def _write_legendre(rank, functions, at, number, n_rows):
    """Write a Legendre polynomial of unit variance, of degree 2 at place 3 and above from 6 on."""
    function = functions[at + number]
    degree = 2 if number == 3 else number - 3
    once = math.sqrt(4.0 * degree * degree - 1.0) / degree
    twice = (degree - 1.0) / degree * math.sqrt((2.0 * degree + 1.0) / (2.0 * degree - 3.0))
    if degree == 2:
        for row in range(n_rows):
            function[row] = once * math.sqrt(3.0) * rank[row] * rank[row] - twice
        return
    before = functions[at + 3] if degree == 3 else functions[at + number - 1]
    if degree == 3:
        for row in range(n_rows):
            function[row] = rank[row] * (once * before[row] - twice * math.sqrt(3.0))
        return
    older = functions[at + 3] if degree == 4 else functions[at + number - 2]
    for row in range(n_rows):
        function[row] = once * rank[row] * before[row] - twice * older[row]


@inner
def _write_contrasts(table, block, facts, first, count, features, at):
    """Write contrasts between the levels of a nominal column."""
    codes, n_levels, n_rows = (
        table.codes[block, facts[PLACE]],
        facts[N_LEVELS],
        rows_of(table, block),
    )
    for number in range(count):
        feature, begin = features[at + number], first + number * n_levels
        for row in range(n_rows):
            feature[row] = table.contrasts[begin + codes[row]]
        fill_up(feature, n_rows)
    return at + count


@inner
def fill_up(values, n_rows):
    """Set the rows that fill up a block to zero."""
    for row in range(n_rows, len(values)):
        values[row] = 0.0


@inner
def write_products(functions, factors, n_rows, products):
    """Multiply functions, up to four for each product; those that fill up a tile are zero."""
    stay_apart()
    n_products, n_factors = factors.shape
    for place in range(n_products):
        product = products[place]
        if factors[place, 0] == NONE:
            fill(product, n_rows, 1.0)
            continue
        one = functions[factors[place, 0]]
        if factors[place, 1] == NONE:
            for row in range(len(product)):
                product[row] = one[row]
            continue
        other = functions[factors[place, 1]]
        for row in range(len(product)):
            product[row] = one[row] * other[row]
        for number in range(2, n_factors):
            if factors[place, number] != NONE:
                other = functions[factors[place, number]]
                for row in range(len(product)):
                    product[row] *= other[row]
    clear_tile(products, n_products)


@inner
def clear_tile(functions, size):
    """Set the functions that fill up the last tile to zero."""
    for place in range(size, (size + TILE - 1) // TILE * TILE):
        fill(functions[place], 0, 0.0)
