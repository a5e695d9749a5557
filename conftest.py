"""Which tests run where.

Tests and examples that need an optional package are skipped where it is not installed. If several
processes run all tests, kernels are compiled first.
"""

from __future__ import annotations

import doctest
from collections.abc import Generator

import pytest
from tests.optional import MISSING, Missing, reason


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Compile kernels before all tests are run; some tests do not need most of them."""
    if config.args == config.getini("testpaths"):
        from tests.kernels import compile_kernels

        compile_kernels()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests whose parameters come from a package that is not installed."""
    callspec = getattr(item, "callspec", None)
    waiting = list(callspec.params.values()) if callspec is not None else []
    while waiting:
        value = waiting.pop()
        if isinstance(value, Missing):
            value.skip()
        if isinstance(value, list | tuple):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Skip what fails because a package is missing; an example fails inside of doctest."""
    try:
        return (yield)
    except Exception as error:
        cause: BaseException = error
        failures = getattr(error, "failures", [])
        if failures and isinstance(failures[0], doctest.UnexpectedException):
            cause = failures[0].exc_info[1]
        for name in sorted(MISSING):
            if isinstance(cause, ImportError) and name in str(cause):
                pytest.skip(reason(name))
        raise
