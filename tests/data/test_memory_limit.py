"""Memory is bounded before it is taken."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from komb.data import memory_limit
from komb.data.memory_limit import check_limit, free_memory, show_size
from komb.data.read.bif import read_bif
from komb.data.read.table_files import read_table
from komb.data.read.text import BYTES_PER_COLUMN
from komb.errors import FileError, MemoryLimitError, ParameterError


class TestLimits:
    @pytest.mark.parametrize(
        ("text", "size"),
        [("1", 1), ("2kB", 2000), ("1.5 MB", 1_500_000), ("3GiB", 3 << 30), (" 1 t ", 10**12)],
    )
    def test_text(self, text: str, size: int) -> None:
        assert check_limit(text) == size

    @pytest.mark.parametrize("value", ["", "much", "-1", 0, -5, True, 1.5, "0 GB", [1]])
    def test_nonsense(self, value: Any) -> None:
        with pytest.raises(ParameterError, match=r"'memory_limit' must be a number of bytes"):
            check_limit(value)

    def test_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KOMB_MEMORY_LIMIT", "5 MB")
        assert check_limit() == 5_000_000
        assert check_limit("6 MB") == 6_000_000
        monkeypatch.setenv("KOMB_MEMORY_LIMIT", "lots")
        with pytest.raises(ParameterError, match="'KOMB_MEMORY_LIMIT' must be"):
            check_limit()

    def test_half_of_what_is_free(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("KOMB_MEMORY_LIMIT", raising=False)
        monkeypatch.setattr(memory_limit, "free_memory", lambda: 1000)
        assert check_limit() == 500

    def test_of_a_container(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "max").write_text("1000\n")
        (tmp_path / "used").write_text("900\n")
        files = ((str(tmp_path / "max"), str(tmp_path / "used")),)
        monkeypatch.setattr(memory_limit, "_CGROUP_LIMITS", files)
        assert free_memory() == 100
        (tmp_path / "max").write_text("max\n")
        assert free_memory() > 100

    def test_sizes(self) -> None:
        assert [show_size(size) for size in (1, 1e3, 999_999, 1e20)] == [
            "1 bytes",
            "1.0 kB",
            "1.0 MB",
            "10^20 bytes",
        ]


class TestFiles:
    def test_text(self, tmp_path: Path) -> None:
        path = tmp_path / "x.csv"
        path.write_text("a,b\n" + "1,2\n" * 10_000)
        with pytest.raises(MemoryLimitError, match=r"x.csv' needs about 240.0 kB .* is 30.0 kB"):
            read_table(path, memory_limit=30_000)
        with pytest.raises(MemoryLimitError, match=r"Reading .* needs about 1.2 MB"):
            read_table(path, memory_limit=500_000)
        assert read_table(path, memory_limit="2 MB").n_rows == 10_000

    def test_the_remedy_works(self, tmp_path: Path) -> None:
        path = tmp_path / "x.csv"
        path.write_text("a\n1\n")
        with pytest.raises(MemoryLimitError, match="memory_limit='1 GB'"):
            read_table(path, memory_limit=10)
        assert read_table(path, memory_limit="1 GB").n_rows == 1

    def test_a_bomb(self, tmp_path: Path) -> None:
        path = tmp_path / "x.csv.gz"
        path.write_bytes(gzip.compress(b"a\n" + b"1\n" * 5_000_000))
        assert path.stat().st_size < 20_000
        with pytest.raises(MemoryLimitError, match=r"unpacked, needs about 60.0 MB .* is 1.0 MB"):
            read_table(path, memory_limit="1 MB")

    def test_a_bomb_that_lies(self, tmp_path: Path) -> None:
        """Two archives one after the other: the length of the last is not that of the whole."""
        path = tmp_path / "x.csv.gz"
        path.write_bytes(gzip.compress(b"a\n" + b"1\n" * 5_000_000) + gzip.compress(b"1\n"))
        with pytest.raises(MemoryLimitError, match=r"unpacked, needs more than 1.0 MB"):
            read_table(path, memory_limit="1 MB")

    @pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no /dev/zero here")
    def test_a_file_without_end(self) -> None:
        with pytest.raises(MemoryLimitError, match=r"'/dev/zero' needs more than 1.0 MB"):
            read_table("/dev/zero", memory_limit="1 MB")

    def test_one_line_of_many_fields(self, tmp_path: Path) -> None:
        path = tmp_path / "x.csv"
        path.write_text(",".join("a" * 100_000) + "\n")
        with pytest.raises(MemoryLimitError, match="line 1 has 100,000 fields"):
            read_table(path, memory_limit="10 MB")


def network(n_parents: int) -> str:
    names = [f"x{i}" for i in range(n_parents)]
    variables = "".join(f"variable {n} {{ type discrete [2] {{a, b}}; }}\n" for n in [*names, "y"])
    roots = "".join(f"probability ({n}) {{ table 0.5, 0.5; }}\n" for n in names)
    return f"{variables}{roots}probability (y | {', '.join(names)}) {{ default 0.5, 0.5; }}\n"


class TestNetworks:
    @pytest.mark.parametrize("n_parents", [27, 40, 70, 2000])
    def test_too_many_parents(self, n_parents: int) -> None:
        with pytest.raises(MemoryLimitError, match=r"table of 'y'.* needs about .* of memory"):
            read_bif(network(n_parents), memory_limit="1 GB")

    def test_more_parents_than_arrays_have_axes(self) -> None:
        text = network(70).replace("[2] {a, b}", "[1] {a}").replace("0.5, 0.5", "1")
        with pytest.raises(FileError, match="'y' has 70 parents, and 63 are the most"):
            read_bif(text)

    def test_few_parents(self) -> None:
        assert len(read_bif(network(3), memory_limit="1 MB").parents("y")) == 3

    def test_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "x.bif"
        path.write_text(network(3))
        with pytest.raises(MemoryLimitError):
            read_bif(path, memory_limit=10)


def test_what_fits_is_not_refused(tmp_path: Path) -> None:
    """A file of exactly what the limit is; with a byte less it is refused."""
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "0,1\n" * 4)
    needed = BYTES_PER_COLUMN * 2
    assert read_table(path, memory_limit=needed).n_rows == 4
    with pytest.raises(MemoryLimitError, match=r"line 1 has 2 fields, needs about 20\.0 kB"):
        read_table(path, memory_limit=needed - 1)
