"""The report of a run: which files there are, whole runs and parts of them."""

from __future__ import annotations

import sys
from html import unescape
from pathlib import Path

import pytest

from komb.errors import FileError
from komb.reproduction.report import write_report
from tests.reproduction.made_up import make_komb, make_record, make_separators

FORMATS = ("md", "csv", "tex")
TABLES = (
    "introduction", "synthetic", "benchmark", "ablation", "full-results", "full-runtimes",
    "separators",
)  # fmt: skip
RECORDS = [
    make_record("ex-1"),
    make_komb("ex-1", 2, 3, 1.0),
    make_record("Alarm1"),
    make_komb("Alarm1", 1, 1),
    make_komb("Alarm1", 1, 1, start="iamb"),
    make_record("Alarm1", suite="runtime"),
]


def names(files: list[Path], out: Path) -> list[str]:
    assert all(file.is_file() and file.stat().st_size for file in files)
    return [file.relative_to(out).as_posix() for file in files]


class TestFiles:
    def test_everything(self, tmp_path: Path) -> None:
        files = write_report(tmp_path, RECORDS, make_separators("Alarm1", [1]), {}, ["all"])
        assert names(files, tmp_path) == [
            "index.html",
            "tables/claims.md",
            *(f"tables/{name}.{ending}" for name in TABLES for ending in FORMATS),
            "figures/synthetic.png",
            "figures/synthetic.svg",
        ]

    def test_a_second_figure_if_komb_began_elsewhere_too(self, tmp_path: Path) -> None:
        records = [*RECORDS, make_komb("ex-1", 2, 3, start="iamb")]
        files = names(write_report(tmp_path, records, [], {}, []), tmp_path)
        assert files[-2:] == [f"figures/synthetic-from-iamb.{kind}" for kind in ("png", "svg")]
        assert (tmp_path / "index.html").read_text("utf-8").count("<svg") == 2

    def test_the_folder_is_made(self, tmp_path: Path) -> None:
        [page] = write_report(tmp_path / "a" / "b", [], [], {}, [])
        assert page == tmp_path / "a" / "b" / "index.html"

    def test_it_can_be_written_again(self, tmp_path: Path) -> None:
        first = write_report(tmp_path, RECORDS, [], {}, ["all"])
        before = [file.read_bytes() for file in first]
        second = write_report(tmp_path, RECORDS[::-1], [], {}, ["all"])
        assert [file.read_bytes() for file in second] == before

    def test_a_folder_that_cannot_be_written_to(self, tmp_path: Path) -> None:
        (tmp_path / "index.html").mkdir()
        with pytest.raises(FileError, match=r"Cannot write '.*index\.html': is a directory\. Name"):
            write_report(tmp_path, [], [], {}, [])


class TestParts:
    @pytest.mark.parametrize(
        ("suite", "tables"),
        [
            ("synthetic", {"introduction", "synthetic", "ablation"}),
            ("benchmark", {"benchmark", "ablation", "full-results"}),
            ("runtime", {"benchmark", "full-runtimes"}),
        ],
    )
    def test_one_suite(self, tmp_path: Path, suite: str, tables: set[str]) -> None:
        records = [record for record in RECORDS if record.suite == suite]
        files = write_report(tmp_path, records, [], {}, [suite])
        assert {file.stem for file in files if file.suffix == ".csv"} == tables
        assert (tmp_path / "figures").exists() == (suite == "synthetic")
        assert f"suites: {suite}" in (tmp_path / "index.html").read_text("utf-8")

    def test_separators_alone(self, tmp_path: Path) -> None:
        files = write_report(tmp_path, [], make_separators("Barley", [1, 4]), {}, ["separators"])
        assert {file.stem for file in files} == {"index", "claims", "separators"}

    def test_without_matplotlib_all_but_the_figure(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        files = write_report(tmp_path, RECORDS, [], {}, ["all"])
        assert not [file for file in files if file.parent.name == "figures"]
        page = unescape((tmp_path / "index.html").read_text("utf-8"))
        assert 'pip install "komb[plots]"' in page
