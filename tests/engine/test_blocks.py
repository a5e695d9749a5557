"""Blocks that are counted piece by piece hold the counts of the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import komb
from komb.data import parts as parts_of_tables
from komb.data.table import DiscreteTable
from komb.engine import blocks as blocks_module
from komb.engine import joint_counts
from komb.engine.blocks import Blocks, ThreadCounter, merge_sets
from komb.engine.joint_counts import Columns, JointCounts, words_of
from komb.engine.threads import use_threads
from komb.errors import FileError
from tests import naive
from tests.engine.tables import make_table, tables, tables_with_missing

some = settings(max_examples=40, deadline=None, derandomize=True)


class Recorder(ThreadCounter):
    """Notes what it is asked to count."""

    def __init__(self, table: DiscreteTable) -> None:
        super().__init__(table)
        self.asked: list[Columns] = []

    def count(self, blocks: Sequence[Columns]) -> list[JointCounts]:
        self.asked += blocks
        return super().count(blocks)


@pytest.fixture(params=[1, 7, 100])
def pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pieces of so many rows."""

    def cut(n_rows: int, _: int, __: int) -> list[slice]:
        return [slice(lo, lo + request.param) for lo in range(0, n_rows, request.param)]

    monkeypatch.setattr(parts_of_tables, "cut_rows", cut)


def check_against_twin(table: DiscreteTable, counts: JointCounts) -> None:
    """A missing value is one more code, the last."""
    columns = table.codes.tolist()
    expected = naive.counts.joint_counts(columns, counts.columns)
    codes = counts.codes().T.tolist()
    found = {
        tuple(combination): count
        for combination, count in zip(codes, counts.counts.tolist(), strict=True)
        if count
    }
    assert found == dict(expected)
    assert counts.is_dense or (counts.counts > 0).all()


def drawn_sets(n_columns: int) -> st.SearchStrategy[list[Columns]]:
    columns = st.sets(st.integers(0, n_columns - 1), min_size=0, max_size=4)
    return st.lists(columns.map(lambda drawn: tuple(sorted(drawn))), min_size=1, max_size=12)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("most_dense", [1 << 24, 0, 12])
@some
@given(
    table=tables(n_rows=(1, 80)) | tables_with_missing(n_rows=(1, 80)),
    limit=st.sampled_from([10, 3000, 10**7]),
    data=st.data(),
)
def test_sets(most_dense: int, table: DiscreteTable, limit: int, data: st.DataObject) -> None:
    """Dense or listed, whatever was counted before, and however little memory there is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joint_counts, "MOST_DENSE_CELLS", most_dense)
        patch.setattr(blocks_module, "LEAST_BYTES", 0)
        blocks = Blocks(ThreadCounter(table), limit)
        for _ in range(3):
            sets = data.draw(drawn_sets(table.n_columns))
            seen: list[int] = []
            for places, counts in blocks.count(sets):
                seen += places
                for place in places:
                    check_against_twin(table, counts.margin(sets[place]))
            assert sorted(seen) == list(range(len(sets)))


def test_a_subset_is_not_counted_again() -> None:
    counter = Recorder(make_table([2, 3, 2, 4, 2], 400, 1))
    blocks = Blocks(counter)
    pairs = [(a, b) for b in range(5) for a in range(b)]
    [(places, _)] = blocks.count(pairs)
    assert sorted(places) == list(range(10))
    assert counter.asked == [(0, 1, 2, 3, 4)]
    assert [places for places, _ in blocks.count([(0,), (3,), (1, 2)])] == [[0, 1, 2]]
    assert len(counter.asked) == 1


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was counted longest ago is forgotten, and counted again."""
    monkeypatch.setattr(blocks_module, "LEAST_BYTES", 0)
    monkeypatch.setattr(blocks_module, "BLOCK_CELLS", 0)
    counter = Recorder(make_table([2, 3, 4, 5], 50, 1))
    blocks = Blocks(counter, memory_limit=2 * 8 * (6 + 20))
    for asked in ([(0, 1)], [(0, 1)], [(2, 3)], [(0, 1)], [(1, 2, 3)], [(0, 1)]):
        assert list(blocks.count(asked))
    assert counter.asked == [(0, 1), (2, 3), (1, 2, 3), (0, 1)]


@some
@given(drawn_sets(9), st.integers(1, 60))
def test_merged_sets(sets: list[Columns], most: int) -> None:
    n_codes = [2, 3, 2, 5, 2, 7, 2, 3, 1]
    merged = list(merge_sets(sets, n_codes, most))
    assert sorted(own for _, inside in merged for own in inside) == sorted(set(sets))
    for block, inside in merged:
        assert list(block) == sorted(set(block))
        assert all(set(own) <= set(block) for own in inside)
        cells = np.prod([n_codes[column] for column in block])
        assert cells <= most or block in sets


def test_many_sets_are_merged_well() -> None:
    """All pairs of 40 columns with a target: a block has many of them."""
    sets = [(a, b, 40) for b in range(40) for a in range(b)]
    merged = dict(merge_sets(sets, [3] * 41, 1 << 15))
    assert sum(map(len, merged.values())) == len(sets) == 780
    assert len(merged) < 80


def test_wide_keys() -> None:
    """More combinations than one word can number."""
    codes = np.random.default_rng(0).integers(0, 300, (12, 50))
    table = DiscreteTable.from_codes(codes.T)
    everything = tuple(range(12))
    assert len(words_of([300] * 12)) > 1
    [counts] = ThreadCounter(table).count([everything])
    assert counts.keys is not None
    check_against_twin(table, counts)
    check_against_twin(table, counts.margin((3, 7)))


@pytest.mark.parametrize("most_dense", [1 << 24, 0])
def test_codes_without_levels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_dense: int
) -> None:
    """Kernels would write outside of their tables."""
    monkeypatch.setattr(joint_counts, "MOST_DENSE_CELLS", most_dense)
    path = tmp_path / "t.komb"
    komb.encode({"x": [0, 1] * 50, "y": [0, 1, 2, 3] * 25}, path)
    array = np.load(path / "codes.npy", mmap_mode="r+")
    array[0, 37] = 200
    array.flush()
    counter = ThreadCounter(komb.read_table(path, memory_limit=10))
    with pytest.raises(FileError, match=r"'codes.npy' has codes without levels in 'x'"):
        counter.count([(1,), (0, 1)])
    assert counter.count([(1,)])[0].counts.tolist() == [25] * 4
    with pytest.raises(FileError, match=r"codes without levels in 'x'"):
        komb.markov_blanket(komb.read_table(path), "y")


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads(threads: int) -> None:
    table = make_table([2, 3, 4, 5], 20_000, 3)
    with use_threads(threads):
        for counts in ThreadCounter(table).count([(), (0,), (0, 1, 3), (1, 2)]):
            check_against_twin(table, counts)
