"""The page: what stands where, and how numbers are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from komb.reproduction import paper, report
from komb.reproduction.experiments import Record
from tests.optional import reason
from tests.reproduction.made_up import make_komb, make_record, make_samples, make_separators

MANIFEST: dict[str, Any] = {
    "komb": "1.0",
    "began": "2026-07-01T12:00:00+00:00",
    "resumed": [],
    "fingerprints": {"Alarm1": "x"},
    "suites": ["intro"],
    "arguments": {
        "suites": ["intro"], "data": None, "networks": ["Alarm1"], "samples": 2, "time_cap": 60.0,
    },
    "versions": {"python": "3.11"},
    "machine": {"cpu": "M4", "cores": 8, "system": "macOS"},
    "seconds": 90.0,
}  # fmt: skip


def write(out: Path, *records: Record, **changes: Any) -> str:
    files = report.write_report(out, records, [], MANIFEST | changes)
    assert files[0] == out / "report.md"
    return files[0].read_text("utf-8")


def cell(page: str, title: str, label: str, place: int = -1) -> str:
    """Return what is written in a row of a table, in its last column if no other is named."""
    section = page.split(f"\n## {title}")[1].split("\n## ")[0]
    [line] = [line for line in section.splitlines() if line.startswith(f"| {label} |")]
    return line.strip("|").split("|")[place].strip()


class TestNumbers:
    def test_ours_the_papers_and_the_difference(self, tmp_path: Path) -> None:
        page = write(tmp_path, *make_samples([0.25, 0.75], "or", "gs"))
        expected = "**0.500 ± 0.354** (paper 0.365 ± 0.374, +0.135)"
        assert cell(page, "Synthetic", "GS") == expected

    def test_the_best_to_the_digits_shown_are_bold(self, tmp_path: Path) -> None:
        runs = [
            make_record("or", name, f1)
            for name, f1 in (("gs", 0.5001), ("iamb", 0.5), ("lrh", 0.4))
        ]
        page = write(tmp_path, *runs)
        bold = [cell(page, "Synthetic", name).startswith("**") for name in ("GS", "IAMB", "LRH")]
        assert bold == [True, True, False]
        assert cell(page, "Synthetic", "IAMB") == "**0.500** (paper --)"

    @pytest.mark.parametrize(
        ("seconds", "shown"),
        [
            (0.4875, "-4.388, 10x faster"),
            (0.975, "-3.900, 5.0x faster"),
            (9.75, "+4.875, 2.0x slower"),
            (4.875, "0.000, 1.0x faster"),
        ],
    )
    def test_times_have_a_ratio(self, tmp_path: Path, seconds: float, shown: str) -> None:
        page = write(tmp_path, make_record("Alarm1", "gs", seconds=seconds))
        assert cell(page, "Full runtimes", "GS").endswith(f"(paper 4.875 ± 5.183, {shown})")

    def test_what_was_not_run(self, tmp_path: Path) -> None:
        page = write(tmp_path, make_record("Alarm1", "gs"))
        assert cell(page, "Full results", "IAMB") == "not run (paper 0.6931 ± 0.1827)"

    def test_runs_that_timed_out(self, tmp_path: Path) -> None:
        capped = make_komb("Barley", 3, 1, 0, timed_out=True, seconds=60)
        page, label = write(tmp_path, capped), "kOMB (k=3, l=1)"
        assert (
            cell(page, "Ablation", label)
            == "no mean (paper -- (all timed out), 1 of 1 run timed out)"
        )
        assert "1800.000 ± 0.000 (all timed out), -1740.000" in cell(page, "Full runtimes", label)

    def test_fewer_runs_than_others(self, tmp_path: Path) -> None:
        runs = [*make_samples([1, 1, 1], "or", "gs"), make_record("or", "iamb", 1)]
        page = write(tmp_path, *runs)
        assert cell(page, "Synthetic", "IAMB") == "**1.000** (paper --, 1 of 3 runs)"


class TestPage:
    def test_every_section(self, tmp_path: Path) -> None:
        page = write(tmp_path)
        titles = [line[3:].split(":")[0] for line in page.splitlines() if line.startswith("## ")]
        assert titles == [
            "Claims", "How to read the tables", "Introduction", "Synthetic data", "Ablation",
            "Full results on benchmark networks", "Full runtimes on benchmark networks",
            "Separators in the benchmark networks", "Figure",
        ]  # fmt: skip
        assert page.count("**not tested**") == 6
        assert "There is none yet." in page

    def test_how_it_was_made(self, tmp_path: Path) -> None:
        page = write(tmp_path)
        command = (
            f"komb reproduce intro --out {tmp_path} --networks Alarm1 --samples 2 --time-cap 60.0"
        )
        assert f"```sh\n{command}\n```" in page
        assert "pgmpy, so not as in the paper. Began 2026-07-01T12:00:00+00:00, took 90 s." in page
        assert "M4, 8 cores, macOS; komb 1.0, python 3.11." in page
        page = write(tmp_path, resumed=["2026-07-02"])
        assert ", resumed 2026-07-02, took 90 s since then." in page

    def test_separators(self, tmp_path: Path) -> None:
        pairs = make_separators("Alarm1", [1, 2])
        [page, *_] = report.write_report(tmp_path, [], pairs, MANIFEST)
        row = "| Alarm1 | 2 (paper 37, -35) | 2 (paper 1202, -1200) | 1.500 (paper 0.621, +0.879) |"
        assert row in page.read_text("utf-8")


class TestFigures:
    @pytest.fixture
    def runs(self) -> list[Record]:
        runs = [make_record("or", "gs", size / 1000, n_rows=size) for size in paper.SIZES]
        return runs + [make_komb("or", 2, 3, 1.0, n_rows=size) for size in paper.SIZES[:2]]

    def test_beside_the_page(self, tmp_path: Path, runs: list[Record]) -> None:
        pytest.importorskip("matplotlib", reason=reason("matplotlib"))
        page = write(tmp_path, *runs, make_komb("or", 2, 3, 1.0, start="iamb"))
        for name in report.FIGURES.values():
            assert f"]({name})" in page
            assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")

    def test_lines_are_means_by_rows(
        self, runs: list[Record], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        drawing = pytest.importorskip("matplotlib.figure", reason=reason("matplotlib"))
        figures: list[Any] = []
        monkeypatch.setattr(
            drawing.Figure, "savefig", lambda figure, *_, **__: figures.append(figure)
        )
        assert list(report.draw_figures(runs)) == [""]
        [figure] = figures
        assert [axes.get_title() for axes in figure.axes] == ["or", "", ""]
        lines = {line.get_label(): line for line in figure.axes[2].lines}
        assert list(lines["GS"].get_xdata()) == list(paper.SIZES)
        assert list(lines["GS"].get_ydata()) == [size / 1000 for size in paper.SIZES]
        assert list(lines["kOMB (k=2, l=3)"].get_xdata()) == [50, 100]

    def test_without_matplotlib(
        self, runs: list[Record], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(report, "find_spec", lambda name: None)
        assert "With matplotlib installed, this adds it" in write(tmp_path, *runs)
