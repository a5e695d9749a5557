"""One conditional-independence test, of two columns, given others or not."""

from __future__ import annotations

from collections.abc import Iterable

from komb.api.options import FIXED_ALPHA, SearchOptions, TestOption, list_names
from komb.api.settings import find_column
from komb.data.encode.codes import Name
from komb.data.encode.treatment import (
    AUTO,
    DEFAULT_BINS,
    Bins,
    Discretize,
    NaValues,
    TypeOption,
)
from komb.data.table import encode_table
from komb.errors import ParameterError, UnknownNameError
from komb.results.test_result import TestResult
from komb.sessions.table_session import open_table


def ci_test(
    data: object,
    x: Name,
    y: Name,
    given: Iterable[Name] = (),
    *,
    test: TestOption = "auto",
    alpha: float = FIXED_ALPHA,
    df: str = "observed",
    seed: int = 0,
    types: TypeOption = AUTO,
    discretize: Discretize = None,
    bins: Bins = DEFAULT_BINS,
    missing: str | None = None,
    na_values: NaValues = (),
) -> TestResult:
    """Test whether two columns are independent given others.

    Parameters
    ----------
    data
        A table, as in :func:`komb.markov_blanket`. Columns other than those named are not looked
        at.
    x, y
        The columns to test.
    given
        The columns to condition on.
    test
        Name of a test (:func:`komb.tests` lists them), or a function ``(x, y, z) -> p-value``.
    alpha
        Level of the test.
    df
        Rule for the degrees of freedom, ``"observed"`` or ``"adjusted"``, of a test that has one.
    seed
        For a test that draws random numbers.
    types, discretize, bins, missing, na_values
        As in :func:`komb.markov_blanket`.

    Returns
    -------
    TestResult

    Raises
    ------
    komb.errors.InputError
        If anything passed in cannot be used.

    Examples
    --------
    >>> import komb
    >>> table = komb.boolean_table("parity", 500, n_parents=2)  # Y is X1 xor X2, with some noise
    >>> komb.ci_test(table, "X1", "Y").independent
    True
    >>> komb.ci_test(table, "X1", "Y", given=["X2"]).independent
    False
    """
    options = SearchOptions(
        method="komb", alpha=alpha, test=test, df=df, seed=seed, types=types, discretize=discretize,
        bins=bins, missing=missing, na_values=na_values,
    )  # fmt: skip
    held = list(dict.fromkeys(list_names("given", given)))
    for parameter, name in (("x", x), ("y", y)):
        if name in held:
            remedy = f"Take it out of one of the two: nothing is left of {name!r} once it is fixed."
            raise ParameterError.because("given", f"not contain {parameter!r}", name, remedy)
    if x == y:
        raise ParameterError.because("y", "be another column than 'x'", y, "Name two columns.")
    wanted = {"x": [x], "y": [y], "given": held}
    try:
        table = encode_table(data, options.treatment, target=y, only=[x, y, *held])
    except UnknownNameError as error:
        named = [parameter for parameter, names in wanted.items() if error.value in names]
        raise (error.concerning(named[0]) if named else error) from None
    candidate, target = find_column("x", x, table), find_column("y", y, table)
    conditions = [find_column("given", name, table) for name in held]
    session = open_table(table, test=test, alpha=alpha, df=df, seed=seed)
    outcome = session.outcome(target, candidate, conditions)
    assert outcome.statistic is not None  # only an oracle has none
    return TestResult(
        x=x, y=y, given=tuple(held), independent=outcome.independent, statistic=outcome.statistic,
        df=outcome.df, p_value=outcome.p_value, test=outcome.test, reliable=outcome.reliable,
        n_rows=table.n_rows,
    )  # fmt: skip
