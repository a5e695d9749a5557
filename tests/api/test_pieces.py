"""A search of a table on disk, counted piece by piece, has the answer of one in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import komb
from komb.data import parts
from komb.data.stored import format as formats
from komb.data.table import DiscreteTable
from komb.errors import FileError, MemoryLimitError
from komb.search import algorithms
from tests.citests.kinds import RULE_TESTS
from tests.engine.tables import LOW_KIND, make_table, with_missing

LIMIT = 1000  # bytes, for all the tables here too few


def store(
    table: DiscreteTable, folder: Path, rows: int, patch: pytest.MonkeyPatch
) -> DiscreteTable:
    """Have a table on disk counted in pieces of so many rows."""

    def cut(n_rows: int, _: int, __: int) -> list[slice]:
        return [slice(first, first + rows) for first in range(0, n_rows, rows)]

    for module in (parts, formats):
        patch.setattr(module, "cut_rows", cut)
    return komb.encode(table, folder / "t.komb", memory_limit=LIMIT, overwrite=True)


def answer(table: DiscreteTable, target: Any, **options: Any) -> dict[str, Any]:
    """What a search says, but for how much work it was."""
    said = komb.markov_blanket(table, target, **options).to_dict()
    work = ("seconds", "tests", "tables", "unreliable", "fallbacks", "roles", "effects")
    return {name: value for name, value in said.items() if name not in work}


def codes_of(table: DiscreteTable) -> DiscreteTable:
    """The table as one says what is missing in it; columns without any value are left out."""
    kept = [i for i, levels in enumerate(table.levels) if levels]
    codes = table.codes[kept].astype(np.int64)
    levels = table.cardinalities[kept]
    return DiscreteTable.from_codes(
        np.where(codes < levels[:, None], codes, -1).T, missing="testwise"
    )


@pytest.fixture
def fixture_patch(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    return monkeypatch


@pytest.mark.parametrize("method", ["auto", "komb", "iamb", "mmmb"])
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    drawn=st.tuples(
        st.lists(st.sampled_from(LOW_KIND), min_size=3, max_size=6),
        st.integers(5, 400),
        st.integers(0, 10**6),
    ),
    share=st.sampled_from([0.0, 0.0, 0.05, 0.3]),
    rows_per_piece=st.integers(1, 400),
    test=st.sampled_from(RULE_TESTS),
)
def test_any_pieces(
    tmp_path_factory: pytest.TempPathFactory,
    fixture_patch: pytest.MonkeyPatch,
    method: str,
    drawn: tuple[list[int | str], int, int],
    share: float,
    rows_per_piece: int,
    test: str,
) -> None:
    kinds, n_rows, seed = drawn
    table = make_table(kinds, n_rows, seed)
    table = codes_of(with_missing(table, [share] * table.n_columns, seed))
    targets = [
        name for name, levels in zip(table.names, table.levels, strict=True) if len(levels) > 1
    ]
    if not targets or table.n_columns < 2:
        return
    rows = max(rows_per_piece, n_rows // 20)
    stored = store(table, tmp_path_factory.mktemp("any"), rows, fixture_patch)
    options: dict[str, Any] = {"method": method, "test": test}
    expected = answer(table, targets[-1], **options)
    assert answer(stored, targets[-1], **options) == expected


NETWORK = make_table([2, 3, "copy", "parity", 4, 2, "rare", "parity"], 900, 5)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DiscreteTable:
    return store(NETWORK, tmp_path, 250, monkeypatch)


class TestWholeSearches:
    @pytest.mark.parametrize("method", list(algorithms()))
    def test_every_method(self, stored: DiscreteTable, method: str) -> None:
        for target in NETWORK.names[2:4]:
            expected = answer(NETWORK, target, method=method)
            assert answer(stored, target, method=method) == expected

    @pytest.mark.parametrize("n_jobs", [1, 2, 4])
    def test_threads_and_workers(self, stored: DiscreteTable, n_jobs: int) -> None:
        expected = answer(NETWORK, NETWORK.names[-1])
        assert answer(stored, NETWORK.names[-1], n_jobs=n_jobs) == expected
        if n_jobs == 2:
            several = komb.markov_blankets(stored, NETWORK.names[-2:], n_jobs=2)
            assert (
                several[NETWORK.names[-1]].members
                == komb.markov_blanket(NETWORK, NETWORK.names[-1]).members
            )

    def test_other_functions(self, stored: DiscreteTable) -> None:
        target = NETWORK.names[3]
        assert (
            komb.compare(stored, target, methods=["auto", "gs"]).members
            == komb.compare(NETWORK, target, methods=["auto", "gs"]).members
        )
        ours, theirs = (
            [reason.text for reason in komb.markov_blanket(table, target).explain().reasons]
            for table in (stored, NETWORK)
        )
        assert ours == theirs
        assert komb.report(stored, target, methods=[]).blanket.members
        assert str(komb.ci_test(stored, 0, target)) == str(komb.ci_test(NETWORK, 0, target))

    def test_a_test_of_rows(self, stored: DiscreteTable) -> None:
        with pytest.raises(MemoryLimitError, match="in memory"):
            komb.markov_blanket(stored, 3, method="gs", test="perm")
        with pytest.raises(MemoryLimitError, match="in memory"):
            komb.markov_blanket(stored, 3).stability(2)
        large = komb.table(stored, memory_limit="1 GB")
        assert komb.markov_blanket(large, 3, method="gs", test="perm")

    def test_a_file_that_is_gone(self, stored: DiscreteTable, tmp_path: Path) -> None:
        (tmp_path / "t.komb" / "codes.npy").unlink()
        with pytest.raises(FileError, match=r"'codes.npy' is missing"):
            komb.markov_blanket(stored, 3)
