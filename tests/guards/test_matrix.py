"""Everything works for every kind of data; where it does not, that is a hole, listed here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import pytest

from tests.guards import calls
from tests.guards.matrix import FUNCTIONS, KINDS, Case, make_case
from tests.local_cluster import local_client

MODELS = "network field graph"
LISTED = (
    ("csv stored limited bed", "selector", "takes no table that was read by komb"),
    ("limited dask", "resume", "notes nothing of what is counted part by part"),
    ("dask", "selector", "loses the names of columns"),
    (MODELS, "make_table store", "has no rows to encode"),
    (MODELS, "stability explain explain_elsewhere effects ranking selector", "needs rows"),
    (f"dask {MODELS}", "command", "reads files only"),
)
"""Kinds, functions that do not work for them, and why; one line for all that have one cause."""

HOLES = {
    (kind, function): f"{function}: {reason}"
    for kinds, functions, reason in LISTED
    for kind, function in product(kinds.split(), functions.split())
}

N_HOLES = 35
"""Only goes down: where something begins to work, its test fails until the hole is gone."""

SAID = (*calls.REFUSALS, ValueError, AssertionError)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local_client(processes=False) as client:
        yield client


@pytest.fixture(scope="module")
def cases(request: Any, tmp_path_factory: Any) -> Callable[[str], Case]:
    @cache
    def make(kind: str) -> Case:
        if kind == "dask":
            request.getfixturevalue("client")  # the active client counts
        return make_case(kind, tmp_path_factory.mktemp(kind))

    return make


def _parameters() -> Iterator[Any]:
    for kind, function in product(KINDS, FUNCTIONS):
        reason = HOLES.get((kind, function))
        hole = pytest.mark.xfail(reason=reason or "", raises=SAID, strict=True)
        yield pytest.param(kind, function, marks=[hole] if reason else [])


@pytest.mark.parametrize(("kind", "function"), list(_parameters()))
def test_it_works(cases: Callable[[str], Case], kind: str, function: str) -> None:
    FUNCTIONS[function](cases(kind))


def test_holes_only_go_away() -> None:
    assert len(HOLES) == N_HOLES
    assert HOLES.keys() <= set(product(KINDS, FUNCTIONS))
