"""One conditional-independence test, of two columns, given others or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from komb.api.opening import check_for_models, find_column
from komb.api.options import FIXED_ALPHA, Search, TestOption, check_not_reading, check_test
from komb.api.oracle import find_oracle
from komb.api.run import Run
from komb.citests.registry import TESTS, find_test, name_of_test, options_of
from komb.data.names import Name, list_names
from komb.data.options import check_options
from komb.data.reading import table as read_table
from komb.data.stored.dask import is_dask_frame
from komb.data.table import encode_table
from komb.errors import ParameterError, UnknownNameError
from komb.results.explanation import TestResult


def ci_test(
    data: object,
    x: Name,
    y: Name,
    given: Iterable[Name] = (),
    *,
    test: TestOption = "auto",
    alpha: float | None = None,
    **options: Any,
) -> TestResult:
    """Test whether two columns are independent given others.

    Parameters
    ----------
    data
        A table or a model, as in :func:`komb.markov_blanket`. Columns other than those named are
        not looked at.
    x, y
        The columns to test.
    given
        The columns to condition on.
    test
        Name of a test (:func:`komb.tests` lists them), or a function ``(x, y, z) -> p-value``.
    alpha
        Level of the test, 0.01 if left out.
    **options
        Those that the test declares: ``df``, ``seed``.

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
    check_test(test)
    _check_options(test, options)
    search = Search.of(method="komb", alpha=alpha, test=test, **options)
    held = list(dict.fromkeys(list_names("given", given)))
    for parameter, name in (("x", x), ("y", y)):
        if name in held:
            remedy = f"Take it out of one of the two: nothing is left of {name!r} once it is fixed."
            raise ParameterError.because("given", f"not contain {parameter!r}", name, remedy)
    if x == y:
        raise ParameterError.because("y", "be another column than 'x'", y, "Name two columns.")
    run = _open(data, {"x": [x], "y": [y], "given": held}, search)
    candidate, target = find_column("x", x, run.data), find_column("y", y, run.data)
    conditions = frozenset(find_column("given", name, run.data) for name in held)
    outcome = run.for_target(target).open_engine().outcome(target, candidate, conditions)
    return TestResult(
        x=x, y=y, given=tuple(held), independent=outcome.independent, statistic=outcome.statistic,
        df=outcome.df, p_value=outcome.p_value,
        test=run.decider(outcome), reliable=outcome.reliable, n_rows=run.data.n_rows,
    )  # fmt: skip


def _check_options(test: TestOption, options: Mapping[str, Any]) -> None:
    """Raise if a test does not declare an option."""
    own = [option.name for option in options_of(find_test(test))]
    for name, value in options.items():
        if name in own or value is None:
            continue
        takers = [
            info.name for info in TESTS.all().values() if name in {o.name for o in info.options}
        ]
        check_not_reading(name, value)
        if not takers:
            raise UnknownNameError.among("option", name, ["given", "test", "alpha", *own], name)
        rule = f"be left out for test {name_of_test(test)!r}, which has no such option"
        remedy = f"Leave it out, or use a test that has it: {', '.join(takers)}."
        raise ParameterError.because(name, rule, value, remedy)


def _open(data: object, wanted: Mapping[str, list[Name]], search: Search) -> Run:
    """Read the columns that are named, and no others."""
    oracle = find_oracle(data)
    if oracle is not None:
        check_for_models(search)
        return Run(oracle, search, None)
    names = [name for named in wanted.values() for name in named]
    if is_dask_frame(data):
        columns = list(data.columns)  # type: ignore[attr-defined]
        data = read_table(data, exclude=[name for name in columns if name not in names])
    try:
        table = encode_table(data, check_options(types="auto", target=wanted["y"][0], only=names))
    except UnknownNameError as error:
        named = [parameter for parameter, names in wanted.items() if error.value in names]
        raise (error.concerning(named[0]) if named else error) from None
    return Run(table, search, FIXED_ALPHA if search.alpha is None else search.alpha)
