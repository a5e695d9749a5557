"""The figure over sample sizes: what is on it, and that it can be written."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from komb.errors import MissingPackageError
from komb.reproduction import paper
from komb.reproduction.figures import draw_metrics, render, to_inline_svg
from komb.reproduction.journal import Record
from tests.optional import reason
from tests.reproduction.made_up import make_komb, make_record

pytest.importorskip("matplotlib", reason=reason("matplotlib"))

from matplotlib.figure import Figure


def make_records(functions: tuple[str, ...] = paper.FUNCTIONS) -> list[Record]:
    return [
        record
        for name in functions
        for size in paper.SIZES
        for record in (
            make_record(name, "gs", 0.2, n_rows=size),
            *(make_komb(name, order, 3, 0.3 * order, n_rows=size) for order in range(3)),
        )
    ]


@pytest.fixture(scope="module")
def figure() -> Figure:
    drawn = draw_metrics(make_records())
    assert drawn is not None
    return drawn


class TestDrawing:
    def test_a_row_a_metric_and_a_column_a_function(self, figure: Figure) -> None:
        assert len(figure.axes) == 3 * 5
        assert [axes.get_title() for axes in figure.axes[:5]] == list(paper.FUNCTIONS)
        assert [axes.get_ylabel() for axes in figure.axes[::5]] == ["precision", "recall", "F1"]

    def test_four_lines_over_all_sizes(self, figure: Figure) -> None:
        [legend] = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == [
            "GS",
            "kOMB (k=0, l=3)",
            "kOMB (k=1, l=3)",
            "kOMB (k=2, l=3)",
        ]
        for axes in figure.axes:
            assert len(axes.lines) == 4
            for line in axes.lines:
                assert np.asarray(line.get_xdata()).tolist() == list(paper.SIZES)

    def test_lines_are_told_apart_without_colours(self, figure: Figure) -> None:
        lines = figure.axes[0].lines
        assert len({line.get_marker() for line in lines}) == 4
        assert len({line.get_linestyle() for line in lines}) == 4
        assert len({line.get_color() for line in lines}) == 4

    def test_values_are_means(self) -> None:
        records = [make_komb("or", 2, 3, 0.2), make_komb("or", 2, 3, 0.6, sample=2)]
        figure = draw_metrics(records)
        assert figure is not None
        assert [axes.get_title() for axes in figure.axes if axes.get_title()] == ["or"]
        drawn = [np.asarray(line.get_ydata()).tolist() for line in figure.axes[0].lines]
        assert drawn == [[pytest.approx(0.4)], [], [], []]

    def test_from_another_start(self) -> None:
        records = [make_record("or", f1=0.1), make_komb("or", 2, 3, 0.9, start="iamb")]
        assert draw_metrics(records) is None
        figure = draw_metrics(records, "iamb")
        assert figure is not None
        drawn = [np.asarray(line.get_ydata()).tolist() for line in figure.axes[0].lines]
        assert drawn == [[0.9], [], [], [0.1]]

    def test_other_starts_tests_and_suites_are_not_mixed_in(self) -> None:
        others = [
            make_komb("or", 1, 3, start="iamb"),
            make_komb("or", 1, 3, test="g"),
            make_komb("or", 1, 1),
            make_record("Alarm1"),
        ]
        assert draw_metrics(others) is None


class TestFiles:
    def test_png(self, figure: Figure) -> None:
        assert render(figure, "png").startswith(b"\x89PNG")

    def test_svg_is_the_same_every_time(self) -> None:
        first, second = (draw_metrics(make_records(("or",))) for _ in range(2))
        assert first is not None
        assert second is not None
        assert render(first, "svg") == render(second, "svg")

    def test_inline_svg_takes_the_colours_of_the_page(self, figure: Figure) -> None:
        inline = to_inline_svg(render(figure, "svg"), "one")
        assert inline.startswith("<svg")
        assert "currentColor" in inline
        assert "#ffffff" not in inline
        assert "<metadata" not in inline
        names = re.findall(r'\bid="([^"]*)"', inline)
        assert all(name.startswith("one-") for name in names)
        assert set(re.findall(r'(?:url\(|href=")#([^")]*)', inline)) <= set(names)
        root = ET.fromstring(inline)
        texts = [element.text for element in root.iter() if element.tag.endswith("}text")]
        assert {"parity", "precision", "GS", "rows of the sample"} <= set(texts)

    def test_without_matplotlib_the_error_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(MissingPackageError, match=r'pip install "komb\[plots\]"'):
            draw_metrics(make_records())
