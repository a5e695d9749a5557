"""Kernels of the test on features: what conditions leave of a target and of candidates, compared.

All that is known of rows are sums over blocks of them. Between the passes over the rows there is
algebra on small matrices.
"""

# Kernels are typed by Numba, from the arrays they get; annotations here would only repeat it.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
# mypy: disallow-untyped-decorators=False, disallow-any-unimported=False

from __future__ import annotations

import math

from komb.engine.compiling import inner, kernel, stay_apart, vectorised
from komb.engine.kernels.features import (
    IS_NOMINAL,
    N_OWN,
    clear_tile,
    fill_up,
    rows_of,
    write_joint,
    write_own,
    write_products,
    write_smooth,
)
from komb.engine.kernels.tails import log2_p_value
from komb.engine.kernels.tiles import TILE, add_combinations, add_products

N_FUNCTIONS, N_BASE, N_CHEAP, N_LINEAR = range(4)
"""What is known of some conditions: functions that are new, that are always in, that are cheap,
that are linear."""

FIRST, N_ALL, N_SPREAD, N_FREE, N_LEFT = range(5)
"""What is known of a target that has been adjusted: the place of the first function, how many there
are with those that fill up tiles, how many spreads depend on, rows less functions, and how many
features of the target are left."""

TOTAL, ROOM, MEAN, VARIANCE, STATISTIC, FREEDOM, VERDICT = range(7)
"""Rows of what is found out about a test: all but the last have one number per component."""

LOG2_P_VALUE, DECIDER, SHARE_LEFT = range(3)
"""Places of the verdict; the share is that of the candidate's variance, of degree 1."""

N_COMPONENTS = 4
LINEAR, QUADRATIC, HIGHER, INTERACTION = range(N_COMPONENTS)

LINEAR_COST = 1.0
"""Cost of functions that are linear: they have to be in."""

COST_OF_SPREAD = 4.0
"""The spread of target and candidate may depend on functions of at most this cost."""

FUNCTION_LEFT, FEATURE_LEFT = 1e-6, 1e-3
"""Share of a square that must be left of a function, or of a feature, given those before."""

LARGEST_LEVERAGE = 0.95

MOST_SPREAD_FUNCTIONS = 16

LARGEST_SHARE = 0.25
"""Of the rows: with more functions, no curves are looked for."""

LEAST_PREDICTED = 1e-3
"""Share of the square of a feature that must be predicted to be worth a curve."""

ALMOST_ONE = 1.0 - 1e-15

TINY = -30.0
"""Bits from which on probabilities of several components add up."""


# -- small matrices


@inner
def _up(size):
    return (size + TILE - 1) // TILE * TILE


@inner
def _clear(matrix, n_rows, n_columns):
    for i in range(n_rows):
        for j in range(n_columns):
            matrix[i, j] = 0.0


@vectorised
def _dot(left, right, size):
    total = 0.0
    for place in range(size):
        total += left[place] * right[place]
    return total


@vectorised
def _add(factor, row, size, result):
    for place in range(size):
        result[place] += factor * row[place]


@inner
def _orthonormalise(gram, squares, share, size, inverse):
    """Make vectors orthonormal in their order, given the lower half of their scalar products.

    Row ``j`` of the inverse are the coefficients of the new vector; it is zero if no more than a
    share of the square is left given the vectors before. Instead of scalar products there is the
    Cholesky factor then, and its columns in the upper half, so that all inner loops go along rows.
    """
    stay_apart()
    for j in range(size):
        row, own = gram[j], inverse[j]
        square = row[j]
        for k in range(j):
            factor = row[k] * inverse[k, k]
            row[k] = factor
            if factor != 0.0:
                _add(-factor, gram[k, k + 1 :], j - k - 1, row[k + 1 :])
                square -= factor * factor
        for k in range(len(own)):
            own[k] = 0.0
        if square <= share * squares[j]:
            for k in range(j):
                row[k] = gram[k, j] = 0.0
            row[j] = 0.0
            continue
        scale = 1.0 / math.sqrt(square)
        own[j], row[j] = scale, 1.0 / scale
        for k in range(j):
            gram[k, j] = row[k]
            if row[k] != 0.0:
                _add(-row[k] * scale, inverse[k], k + 1, own)


# -- functions of the conditions


@inner
def _make_products(table, block, conditions, work):
    """Make the products of the pool in a block of the rows."""
    stay_apart()
    given, at = conditions.given, 0
    for place in range(len(given)):
        at = write_smooth(table, block, given[place], work.functions, at)
    write_products(work.functions, conditions.factors, rows_of(table, block), work.products)


@kernel
def choose(table, target, conditions, work):
    """Choose the functions that a target depends on, beyond those that are always in.

    Sums of products of the functions are made if nothing is known of the conditions yet. Returns
    how many functions are chosen, and whether the target or its spread bends with the conditions;
    which they are, and what is known of the target, is in ``work``.
    """
    n_own, n_terms = table.columns[target, N_OWN], len(conditions.costs)
    known, inverse = conditions.known, conditions.inverse
    is_new = known[N_FUNCTIONS] == 0
    _sum_products(table, target, conditions, work, is_new)
    if is_new:
        _orthonormalise(work.gram, work.term_squares, FUNCTION_LEFT, n_terms, inverse)
        _keep_functions(table, conditions)
    n_functions = known[N_FUNCTIONS]
    for feature in range(n_own):
        work.squares[feature] = work.own_gram[feature, feature]
        for j in range(n_functions):
            work.fitted[feature, j] = _dot(inverse[j], work.sums[feature], n_terms)
    if n_own > 1 and not table.columns[target, IS_NOMINAL] and n_functions > 1:
        _put_spread(table, target, conditions, work)
    n_chosen = _choose(table, work, n_own, known)
    n_first = n_own if table.columns[target, IS_NOMINAL] else min(n_own, 2)
    return n_chosen, _is_bent(table, work, n_first, known)


@inner
def _sum_products(table, target, conditions, work, is_new):
    """Sum products of functions with the features of a target, and with each other."""
    n_terms, n_own = len(conditions.costs), table.columns[target, N_OWN]
    _clear(work.sums, _up(n_own), _up(n_terms))
    _clear(work.own_gram, _up(n_own), _up(n_own))
    if is_new:
        _clear(work.gram, _up(n_terms), _up(n_terms))
    for block in range(table.n_blocks):
        own = work.own[block]
        write_own(table, block, target, own, 0)
        clear_tile(own, n_own)
        _make_products(table, block, conditions, work)
        add_products(own, n_own, work.products, n_terms, False, work.sums)
        add_products(own, n_own, own, n_own, True, work.own_gram)
        if is_new:
            add_products(work.products, n_terms, work.products, n_terms, True, work.gram)
    if is_new:
        for term in range(n_terms):
            work.term_squares[term] = work.gram[term, term]


@inner
def _keep_functions(table, conditions):
    """Move functions that are new to the front, and note how many are always in, or cheap."""
    inverse, known = conditions.inverse, conditions.known
    n_functions = n_base = n_cheap = 0
    for term in range(len(conditions.costs)):
        if inverse[term, term] > 0.0:
            for k in range(inverse.shape[1]):
                inverse[n_functions, k] = inverse[term, k]
            n_functions += 1
            cost = conditions.costs[term]
            if cost <= LINEAR_COST:
                n_base = known[N_LINEAR] = n_functions
            if cost <= COST_OF_SPREAD:
                n_cheap = n_functions
        is_last_of_cost = (
            term + 1 == len(conditions.costs) or conditions.costs[term + 1] > conditions.costs[term]
        )
        if is_last_of_cost and n_functions <= table.room:
            n_base = max(n_base, n_functions)
    _clear(inverse[n_functions:], len(inverse) - n_functions, inverse.shape[1])
    known[N_FUNCTIONS], known[N_BASE], known[N_CHEAP] = n_functions, n_base, n_cheap


@inner
def _put_spread(table, target, conditions, work):
    """Put the square of what is left of the first feature of a target in place of its square.

    Of the square itself the larger part is often due to the mean, which conditions move.
    """
    n_terms, known, inverse = len(conditions.costs), conditions.known, conditions.inverse
    n_functions = known[N_FUNCTIONS]
    _choose(table, work, 1, known)
    _clear(work.weights, TILE, _up(n_terms))
    for j in range(n_functions):
        if work.is_chosen[j]:
            _add(-work.fitted[0, j], inverse[j], n_terms, work.weights[0])
    variance = _sum_spread(table, conditions, work) / table.n_rows
    if variance <= FEATURE_LEFT * work.squares[0] / table.n_rows:  # rounding errors, or nearly so
        for block in range(table.n_blocks):
            write_own(table, block, target, work.own[block], 0)
        return
    work.squares[1] = 0.0
    for block in range(table.n_blocks):
        own, n_rows = work.own[block, 1], rows_of(table, block)
        for row in range(n_rows):
            own[row] = own[row] / variance - 1.0
        work.squares[1] += _dot(own, own, n_rows)
    for j in range(n_functions):
        work.fitted[1, j] = _dot(inverse[j], work.sums[0], n_terms) / variance
    work.fitted[1, 0] -= math.sqrt(table.n_rows)  # the first function is constant


@inner
def _sum_spread(table, conditions, work):
    """Make squares of what is left of a target, sum them, and their products with functions."""
    n_terms, total = len(conditions.costs), 0.0
    _clear(work.sums, TILE, _up(n_terms))
    for block in range(table.n_blocks):
        own, left = work.own[block], work.fit
        _make_products(table, block, conditions, work)
        for row in range(own.shape[1]):
            left[0, row] = own[0, row]
        clear_tile(left, 1)
        add_combinations(work.weights, 1, work.products, n_terms, left)
        for row in range(own.shape[1]):
            left[0, row] *= left[0, row]
            own[1, row] = left[0, row]
            total += left[0, row]
        clear_tile(left, 1)
        add_products(left, 1, work.products, n_terms, False, work.sums)
    return total


@inner
def _choose(table, work, n_own, known):
    """Mark the base, and the functions that one of the first features of a target depends on.

    The variance of a feature is what the base leaves of it, or what all functions leave if that is
    less. Returns how many are marked.
    """
    n_functions, n_base = known[N_FUNCTIONS], known[N_BASE]
    for j in range(n_functions):
        work.is_chosen[j] = j < n_base
    for feature in range(n_own):
        own = work.fitted[feature]
        least = table.least_evidence[n_own] * _variance_left(table, work, feature, known)
        for j in range(n_base, n_functions):
            if own[j] * own[j] > least:
                work.is_chosen[j] = True
    n_chosen = 0
    for j in range(n_functions):
        n_chosen += work.is_chosen[j]
    return n_chosen


@inner
def _variance_left(table, work, feature, known):
    """Variance of what the base leaves of a feature, or all functions if that is less."""
    n_functions, n_base, n_rows = known[N_FUNCTIONS], known[N_BASE], float(table.n_rows)
    own = work.fitted[feature]
    beyond_base = work.squares[feature] - _dot(own, own, n_base)
    beyond_all = beyond_base - _dot(own[n_base:], own[n_base:], n_functions - n_base)
    variance = min(
        beyond_base / (n_rows - n_base),
        max(beyond_all, 0.0) / max(n_rows - n_functions, 0.2 * n_rows),
    )
    return max(variance, 1e-300)


@inner
def _is_bent(table, work, n_first, known):
    """Whether one of the first features depends on a function that is not linear, for sure."""
    first, n_functions = known[N_LINEAR], known[N_FUNCTIONS]
    for feature in range(n_first):
        own = work.fitted[feature]
        least = table.sure_evidence[n_first * (n_functions - first)]
        least *= _variance_left(table, work, feature, known)
        for j in range(first, n_functions):
            if own[j] * own[j] > least:
                return True
    return False


# -- what they leave of a target


@kernel
def adjust(table, target, conditions, work, adjusted):
    """Put what is left of a target in front of the chosen functions, and curves behind them.

    ``spreads`` are covariances of two residuals given the conditions, in terms of the first
    functions. In ``work`` is then which features of the target are left.
    """
    n_own, n_terms = table.columns[target, N_OWN], len(conditions.costs)
    n_chosen, n_spread = _gather(conditions, work, n_own, n_terms)
    n_curves = _count_curves(table, work, n_own, n_chosen)
    _clear(work.own_gram, _up(n_own), _up(n_own))
    _clear(work.curve_fit, _up(n_curves), _up(n_chosen))
    for block in range(table.n_blocks):
        functions, own = adjusted.values[block, _up(n_own) :], work.own[block]
        fit = work.fit
        _make_products(table, block, conditions, work)
        _clear(functions, _up(n_chosen), functions.shape[1])
        add_combinations(work.weights, n_chosen, work.products, n_terms, functions)
        _clear(fit, _up(n_own), fit.shape[1])
        add_combinations(work.fitted, n_own, functions, n_chosen, fit)
        if n_curves:
            _bend(table, block, work, n_own, functions)
            add_products(work.curves[block], n_curves, functions, n_chosen, False, work.curve_fit)
        for feature in range(n_own):
            _add(-1.0, fit[feature], fit.shape[1], own[feature])
        add_products(own, n_own, own, n_own, True, work.own_gram)
    if n_curves:
        n_curves = _add_curves(table, work, n_own, n_chosen, n_curves, adjusted.values)
    facts = adjusted.facts
    facts[FIRST], facts[N_ALL] = _up(n_own), _up(n_chosen) + _up(n_curves)
    facts[N_SPREAD], facts[N_FREE] = n_spread, table.n_rows - n_chosen - n_curves
    facts[N_LEFT] = _keep_residuals(table, work, n_own, adjusted.values)
    if conditions.known[N_FUNCTIONS] > 1:
        _sum_spreads(table, work, adjusted)


@inner
def _gather(conditions, work, n_own, n_terms):
    """Move what belongs to the chosen functions to the front; count them, and those in spreads."""
    known, inverse = conditions.known, conditions.inverse
    n_chosen = n_spread = 0
    for j in range(known[N_FUNCTIONS]):
        if work.is_chosen[j]:
            for k in range(_up(n_terms)):
                work.weights[n_chosen, k] = inverse[j, k]
            for feature in range(n_own):
                work.fitted[feature, n_chosen] = work.fitted[feature, j]
            n_chosen += 1
            n_spread += j < known[N_CHEAP]
    _clear(work.weights[n_chosen:], _up(n_chosen) - n_chosen, _up(n_terms))
    for feature in range(_up(n_own)):
        for j in range(n_chosen if feature < n_own else 0, _up(n_chosen)):
            work.fitted[feature, j] = 0.0
    return n_chosen, min(n_spread, MOST_SPREAD_FUNCTIONS)


@inner
def _count_curves(table, work, n_own, n_chosen):
    """Count the curves of features that are predicted; none if there are too many for the rows."""
    n_curves = 0
    for feature in range(n_own):
        predicted = _dot(work.fitted[feature, 1:], work.fitted[feature, 1:], n_chosen - 1)
        work.predicted[feature] = 0.0
        if predicted > LEAST_PREDICTED * work.squares[feature]:
            work.predicted[feature] = predicted
            n_curves += table.n_curves
    return n_curves if n_chosen + n_curves <= LARGEST_SHARE * table.n_rows else 0


@inner
def _bend(table, block, work, n_own, functions):
    """Legendre polynomials of each prediction, put between -1 and 1 by the normal distribution.

    Not by ranks: rows with equal conditions are predicted equally but for the last digits.
    """
    curves, n_rows, at = work.curves[block], rows_of(table, block), 0
    for feature in range(n_own):
        if work.predicted[feature] == 0.0:
            continue
        scale = math.sqrt(0.5 * table.n_rows / work.predicted[feature])
        fit, constant = work.fit[feature], work.fitted[feature, 0] * functions[0, 0]
        for row in range(n_rows):
            curves[at, row] = math.erf((fit[row] - constant) * scale)
        for degree in range(1, table.n_curves):
            x, value, result = curves[at], curves[at + degree - 1], curves[at + degree]
            for row in range(n_rows):
                before = curves[at + degree - 2, row] if degree > 1 else 1.0
                after = (2 * degree + 1) * x[row] * value[row] - degree * before
                result[row] = after / (degree + 1)
        for number in range(table.n_curves):
            for row in range(n_rows):
                curves[at + number, row] *= table.root[number + 1]
            fill_up(curves[at + number], n_rows)
        at += table.n_curves
    clear_tile(curves, at)


@inner
def _add_curves(table, work, n_own, n_chosen, n_curves, adjusted):
    """Add the curves that a target depends on to the functions; return how many there are."""
    first = _up(n_own)
    for i in range(_up(n_curves)):
        for j in range(_up(n_chosen)):
            work.curve_fit[i, j] *= -1.0
    _clear(work.gram, _up(n_curves), _up(n_curves))
    _clear(work.sums, _up(n_own), _up(n_curves))
    for block in range(table.n_blocks):
        curves, own = work.curves[block], work.own[block]
        add_combinations(work.curve_fit, n_curves, adjusted[block, first:], n_chosen, curves)
        add_products(curves, n_curves, curves, n_curves, True, work.gram)
        add_products(own, n_own, curves, n_curves, False, work.sums)
    for curve in range(n_curves):
        work.term_squares[curve] = table.n_rows
    _orthonormalise(work.gram, work.term_squares, FEATURE_LEFT, n_curves, work.curve_inverse)
    n_found = _choose_curves(table, work, n_own, n_chosen, n_curves)
    if n_found:
        _clear(work.own_gram, _up(n_own), _up(n_own))
        for block in range(table.n_blocks):
            functions, own = adjusted[block, first + _up(n_chosen) :], work.own[block]
            _clear(functions, _up(n_found), functions.shape[1])
            add_combinations(work.curve_weights, n_found, work.curves[block], n_curves, functions)
            add_combinations(work.curve_own, n_own, functions, n_found, own)
            add_products(own, n_own, own, n_own, True, work.own_gram)
    return n_found


@inner
def _choose_curves(table, work, n_own, n_chosen, n_curves):
    """Choose curves that a feature of the target depends on; note them and its coefficients."""
    n_found = 0
    _clear(work.curve_weights, _up(n_curves), _up(n_curves))
    _clear(work.curve_own, _up(n_own), _up(n_curves))
    for curve in range(n_curves):
        own = work.curve_inverse[curve]
        is_needed = False
        for feature in range(n_own):
            product = _dot(own, work.sums[feature], curve + 1)
            work.curve_own[feature, n_found] = -product
            variance = work.own_gram[feature, feature] / (table.n_rows - n_chosen)
            least = table.least_evidence[n_own] * max(variance, 1e-300)
            is_needed |= own[curve] > 0.0 and product * product > least
        for k in range(curve + 1):
            work.curve_weights[n_found, k] = own[k] if is_needed else 0.0
        n_found += is_needed
    for feature in range(n_own):
        for place in range(n_found, _up(n_curves)):
            work.curve_own[feature, place] = 0.0
    for place in range(n_found, _up(n_curves)):
        for k in range(_up(n_curves)):
            work.curve_weights[place, k] = 0.0
    return n_found


@inner
def _keep_residuals(table, work, n_own, adjusted):
    """Make what is left of a target orthonormal, and put it to the front; count the features."""
    _clear(work.own_inverse, _up(n_own), _up(n_own))
    _orthonormalise(work.own_gram, work.squares, FEATURE_LEFT, n_own, work.own_inverse)
    n_left = 0
    for feature in range(n_own):
        work.is_left[feature] = work.own_inverse[feature, feature] > 0.0
        if work.is_left[feature]:
            for k in range(n_own):
                work.own_inverse[n_left, k] = work.own_inverse[feature, k]
            n_left += 1
    _clear(work.own_inverse[n_left:], _up(n_own) - n_left, n_own)
    for block in range(table.n_blocks):
        residuals = adjusted[block]
        _clear(residuals, _up(n_own), residuals.shape[1])
        add_combinations(work.own_inverse, n_own, work.own[block], n_own, residuals)
    return n_left


@inner
def _sum_spreads(table, work, adjusted):
    """Project products of two residuals on the first functions.

    Residuals in rows that the functions fit closely are too small, by what their leverage says.
    """
    facts, spreads = adjusted.facts, adjusted.spreads
    _clear(spreads, len(spreads), spreads.shape[1])
    for block in range(table.n_blocks):
        values, weights = adjusted.values[block], work.fit[0]
        for row in range(len(weights)):
            weights[row] = 0.0
        for place in range(facts[FIRST], facts[FIRST] + facts[N_ALL]):
            _add_squares(values[place], weights)
        for row in range(len(weights)):
            weights[row] = 1.0 / (1.0 - min(weights[row], LARGEST_LEVERAGE))
        n_pairs = _multiply_pairs(values, facts[N_LEFT], weights, work.pairs)
        functions = values[facts[FIRST] :]
        add_products(work.pairs, n_pairs, functions, facts[N_SPREAD], False, spreads)
    for pair in range(len(spreads)):
        for function in range(facts[N_SPREAD], spreads.shape[1]):
            spreads[pair, function] = 0.0


@inner
def _add_squares(values, result):
    for row in range(len(result)):
        result[row] += values[row] * values[row]


@inner
def _multiply_pairs(features, size, weights, pairs):
    """Multiply all unordered pairs of features, with a weight per row; return how many."""
    place = 0
    for i in range(size):
        for j in range(i, size):
            first, second, product = features[i], features[j], pairs[place]
            for row in range(len(product)):
                product[row] = first[row] * second[row] * weights[row]
            place += 1
    clear_tile(pairs, place)
    return place


# -- candidates


@kernel
def compare(table, adjusted, candidates, plan, work, found, unlikely):
    """Compare what is left of some candidates, which are alike, with what is left of a target.

    Variances may depend on the conditions where a p-value is not above ``unlikely`` if they do not.
    """
    facts = adjusted.facts
    for place in range(len(candidates)):
        test = found[place]
        _sum_features(table, adjusted, candidates[place], plan, work)
        left = all_of_it = 0.0
        for k in range(plan.n_linear):
            all_of_it += work.term_squares[k]
            left += work.gram[k, k]
        test[VERDICT, SHARE_LEFT] = left / all_of_it
        _orthonormalise(
            work.gram, work.term_squares, FEATURE_LEFT, plan.n_features, work.feature_inverse
        )
        correlation = _keep_alike(work.gram, work.feature_inverse, plan)
        _sum_squares(work.sums, work.feature_inverse, plan, facts[N_FREE], correlation, test)
        _refer(plan, test)
        if len(adjusted.given) and test[VERDICT, LOG2_P_VALUE] <= unlikely:
            _compare_spreads(table, adjusted, candidates[place], plan, work, test)


@inner
def _write_features(table, block, given, candidate, plan, work):
    """Write features of a candidate, and their products with features of the conditions."""
    stay_apart()
    at = write_own(table, block, candidate, work.functions, 0)
    at = write_joint(table, block, candidate, work.functions, at)
    for place in range(len(given)):
        at = write_joint(table, block, given[place], work.functions, at)
    write_products(work.functions, plan.factors, rows_of(table, block), work.products)


@inner
def _sum_features(table, adjusted, candidate, plan, work):
    """Sum products of what the conditions leave of a candidate's features."""
    facts, n_features = adjusted.facts, plan.n_features
    n_left, n_all = facts[N_LEFT], facts[N_ALL]
    _clear(work.weights, _up(n_features), n_all)
    _clear(work.gram, _up(n_features), _up(n_features))
    _clear(work.sums, _up(n_left), _up(n_features))
    for block in range(table.n_blocks):
        values = adjusted.values[block]
        _write_features(table, block, adjusted.given, candidate, plan, work)
        features = work.products
        add_products(features, n_features, values[facts[FIRST] :], n_all, False, work.weights)
        add_products(features, n_features, features, n_features, True, work.gram)
        add_products(values, n_left, features, n_features, False, work.sums)
    for i in range(n_features):
        work.term_squares[i] = work.gram[i, i]
        for j in range(i + 1):
            work.gram[i, j] -= _dot(work.weights[i], work.weights[j], n_all)


@inner
def _keep_alike(factors, inverse, plan):
    """Let products with conditions be as alike as they are; return their squared correlations.

    Scores and signs are alike, so the products are. If each counts by itself, what they have in
    common counts several times, and that is what most interactions are. Each product is made
    orthogonal to the features of the candidate only: a unit row of the Cholesky factor.
    """
    n_own, n_features = plan.n_own, plan.n_features
    for j in range(n_features - 1, n_own - 1, -1):
        row = factors[j]
        length = _dot(row[n_own:], row[n_own:], j + 1 - n_own)
        scale = 1.0 / math.sqrt(length) if length > 0.0 else 0.0
        for k in range(n_own, j + 1):
            row[k] *= scale
        for i in range(j + 1):
            inverse[j, i] *= row[j]
        for k in range(n_own, j):
            _add(row[k], inverse[k], k + 1, inverse[j])
    total = 0.0
    for j in range(n_own, n_features):
        for k in range(n_own, j + 1):
            correlation = _dot(factors[j, n_own:], factors[k, n_own:], k + 1 - n_own)
            total += correlation * correlation * (1.0 if k == j else 2.0)
    return total


@inner
def _sum_squares(products, inverse, plan, n_free, correlation, test):
    """Sum squares in components, with the moments they have if no variance depends on anything."""
    weights = plan.weights
    n_target, n_features = weights.shape[1:]
    for component in range(N_COMPONENTS):
        total = mean = variance = 0.0
        n_rows = n_columns = 0
        for j in range(n_target):
            is_any = False
            for k in range(n_features):
                weight = weights[component, j, k]
                if weight > 0.0 and inverse[k, k] > 0.0:
                    product = _dot(inverse[k], products[j], k + 1)
                    total += weight * product * product
                    mean += weight
                    variance += weight * weight
                    is_any = True
            n_rows += is_any
        for k in range(n_features):
            n_columns += plan.is_in[component, k] and inverse[k, k] > 0.0
        if component == INTERACTION:
            variance = plan.n_first * correlation
        test[TOTAL, component] = total
        test[ROOM, component] = min(n_rows, n_columns) * n_free
        test[MEAN, component] = mean / n_free
        test[VARIANCE, component] = 2.0 * variance / (n_free * n_free)


@inner
def _refer(plan, test):
    """Refer sums of squares with their moments to chi-squares, and combine them to one p-value."""
    stay_apart()
    for component in range(N_COMPONENTS):
        mean, variance = test[MEAN, component], test[VARIANCE, component]
        room = test[ROOM, component]
        freedom = statistic = 0.0
        if mean > 0.0 and variance > 0.0:
            freedom = 2.0 * mean * mean / variance
            if freedom >= room - 2:
                freedom = 0.0
        if freedom > 0.0:
            share = min(test[TOTAL, component] * freedom / (mean * room), ALMOST_ONE)
            statistic = -(room - 0.5 * freedom - 1.0) * math.log1p(-share)
        test[STATISTIC, component] = statistic
        test[FREEDOM, component] = freedom
    _combine(plan, test)


@inner
def _combine(plan, test):
    """Have the component with the smallest p-value for its weight decide."""
    share_of_all = 0.0
    for component in range(N_COMPONENTS):
        if test[FREEDOM, component] > 0.0:
            share_of_all += plan.share[component]
    least, decider = math.inf, 0
    for component in range(N_COMPONENTS):
        freedom = test[FREEDOM, component]
        if freedom > 0.0:
            bits = log2_p_value(test[STATISTIC, component], freedom, plan.addresses)
            bits -= math.log2(plan.share[component] / share_of_all)
            if bits < least:
                least, decider = bits, component
    least = min(least, 0.0)
    if least > TINY:  # else the others add nothing
        none = 1.0
        for component in range(N_COMPONENTS):
            if test[FREEDOM, component] > 0.0:
                none *= 1.0 - plan.share[component] / share_of_all * 2.0**least
        least = math.log2(max(1.0 - none, 2.0**TINY))
    test[VERDICT, LOG2_P_VALUE] = least if share_of_all > 0.0 else 0.0
    test[VERDICT, DECIDER] = decider


@inner
def _compare_spreads(table, adjusted, candidate, plan, work, test):
    """Refer a test again, with variances that depend on the conditions."""
    facts, n_own, n_features = adjusted.facts, plan.n_own, plan.n_features
    n_products, n_all = n_features - n_own, facts[N_ALL]
    _weigh_features(work, n_features, n_all)
    _clear(work.own_spreads, _up(n_own * (n_own + 1) // 2), _up(facts[N_SPREAD]))
    n_crossed = plan.n_first * (plan.n_first + 1) // 2
    for pair in range(n_crossed):
        _clear(work.crossed[pair], _up(n_products), _up(n_products))
    for block in range(table.n_blocks):
        values, left = adjusted.values[block], work.left
        functions = values[facts[FIRST] :]
        _write_features(table, block, adjusted.given, candidate, plan, work)
        _clear(left, _up(n_features), left.shape[1])
        add_combinations(work.feature_inverse, n_features, work.products, n_features, left)
        add_combinations(work.weights, n_features, functions, n_all, left)
        ones = work.fit[0]
        for row in range(len(ones)):
            ones[row] = 1.0
        n_pairs = _multiply_pairs(left, n_own, ones, work.pairs)
        add_products(work.pairs, n_pairs, functions, facts[N_SPREAD], False, work.own_spreads)
        if n_products:
            _sum_crossed(adjusted, functions, n_own, n_features, plan, work)
    _sum_moments(adjusted, plan, work, test)
    _refer(plan, test)


@inner
def _weigh_features(work, n_features, n_all):
    """Turn coefficients of features into those of what is left of them, made orthonormal."""
    inverse, weights = work.feature_inverse, work.weights
    for i in range(n_features - 1, -1, -1):
        for function in range(n_all):
            weights[i, function] *= -inverse[i, i]
        for k in range(i):
            if inverse[i, k] != 0.0:
                _add(-inverse[i, k], weights[k], n_all, weights[i])
    for i in range(_up(n_features)):
        for k in range(n_features if i < n_features else 0, _up(n_features)):
            inverse[i, k] = 0.0


@inner
def _sum_crossed(adjusted, functions, n_own, n_features, plan, work):
    """Sum products of what is left of products with conditions, for each pair of first features."""
    facts, n_products = adjusted.facts, n_features - n_own
    for place in range(n_products):
        left, product = work.left[n_own + place], work.products[place]
        for row in range(len(left)):
            product[row] = left[row]
    clear_tile(work.products, n_products)
    weights, pair = work.fit[0], 0
    for i in range(plan.n_first):
        for j in range(i, plan.n_first):
            spread = adjusted.spreads[_pair(i, j, facts[N_LEFT])]
            for row in range(len(weights)):
                weights[row] = 0.0
            for function in range(facts[N_SPREAD]):
                _add(spread[function], functions[function], len(weights), weights)
            for place in range(n_products):
                product, scaled = work.products[place], work.scaled[place]
                for row in range(len(weights)):
                    scaled[row] = product[row] * weights[row]
            clear_tile(work.scaled, n_products)
            sums = work.crossed[pair]
            add_products(work.scaled, n_products, work.products, n_products, True, sums)
            pair += 1


@inner
def _pair(i, j, size):
    """Return the number of an unordered pair among all of so many elements."""
    first, second = min(i, j), max(i, j)
    return first * size - first * (first + 1) // 2 + second


@inner
def _sum_moments(adjusted, plan, work, test):
    """Mean and variance of sums of squares under independence."""
    facts, n_own = adjusted.facts, plan.n_own
    n_target, n_features = plan.weights.shape[1:]
    for i in range(n_target * (n_target + 1) // 2):
        for k in range(n_own * (n_own + 1) // 2):
            covariance = _dot(adjusted.spreads[i], work.own_spreads[k], facts[N_SPREAD])
            work.own_covariances[i, k] = covariance
    for component in range(N_COMPONENTS):
        weights, mean, variance = plan.weights[component], 0.0, 0.0
        first, last = (n_own, n_features) if component == INTERACTION else (0, n_own)
        for j in range(n_target):
            for k in range(first, last):
                if weights[j, k] > 0.0:
                    mean += weights[j, k] * _covariance(plan, work, j, j, k, k)
                    variance += 2.0 * weights[j, k] * _shared(plan, work, weights, j, k)
        test[MEAN, component], test[VARIANCE, component] = mean, variance


@inner
def _shared(plan, work, weights, j, k):
    """Sum squared covariances of one product with all that are in the same component."""
    total = 0.0
    for i in range(weights.shape[0]):
        for m in range(weights.shape[1]):
            if weights[i, m] > 0.0:
                covariance = _covariance(plan, work, i, j, k, m)
                total += weights[i, m] * covariance * covariance
    return total


@inner
def _covariance(plan, work, i, j, k, m):
    """Covariance of products of features of a target with features of a candidate."""
    n_own = plan.n_own
    if k >= n_own:
        return work.crossed[_pair(i, j, plan.n_first), max(k, m) - n_own, min(k, m) - n_own]
    return work.own_covariances[_pair(i, j, plan.weights.shape[1]), _pair(k, m, n_own)]


# -- for screens


@kernel
def make_features(table, column, features):
    """Write the features of a column in all rows: own, joint and smooth ones."""
    for block in range(table.n_blocks):
        at = write_own(table, block, column, features[block], 0)
        at = write_joint(table, block, column, features[block], at)
        write_smooth(table, block, column, features[block], at)


@kernel
def orthonormalise(gram, squares, share, inverse):
    """Make vectors orthonormal in their order, given their scalar products."""
    _orthonormalise(gram, squares, share, len(gram), inverse)
