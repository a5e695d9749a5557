"""Pictures: what they show, and that they leave nothing behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from komb.comparison import Comparison
from komb.errors import FileError, InputError, MissingPackageError, ParameterError
from komb.plots import Mark, check_picture, draw_matrix, save_picture
from tests.test_comparison import make_comparison

MARKS: list[list[Mark]] = [["hit", "missed"], ["absent", "extra"]]


def cells(ax: Any) -> list[Rectangle]:
    return [patch for patch in ax.patches if isinstance(patch, Rectangle)]


def legend(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


class TestMatrix:
    def test_labels_members_and_title(self) -> None:
        ax = draw_matrix("Title", ["iamb", "komb"], ["X1", "X2"], MARKS)
        assert [text.get_text() for text in ax.get_xticklabels()] == ["iamb", "komb"]
        assert [text.get_text() for text in ax.get_yticklabels()] == ["X1", "X2"]
        assert ax.get_title(loc="left") == "Title"

    def test_every_mark_has_its_own_look(self) -> None:
        ax = draw_matrix("Title", ["iamb", "komb"], ["X1", "X2"], MARKS)
        assert len({to_hex(cell.get_facecolor()) for cell in cells(ax)}) == 4
        assert [text.get_text() for text in ax.texts] == ["✓", "-", "", "+"]
        assert legend(ax) == ["found and true", "found, not true", "true, but missed"]

    def test_cells_are_where_they_belong(self) -> None:
        ax = draw_matrix("Title", ["iamb", "komb"], ["X1", "X2"], MARKS)
        assert [text.get_position() for text in ax.texts] == [(0, 0), (1, 0), (0, 1), (1, 1)]
        assert ax.get_ylim() == (1.5, -0.5)  # the first member is on top

    def test_the_legend_has_only_what_is_there(self) -> None:
        assert legend(draw_matrix("", ["komb"], ["X1"], [["hit"]])) == ["found and true"]
        assert draw_matrix("", ["komb"], ["X1"], [["found"]]).get_legend() is None

    def test_nothing_was_found(self) -> None:
        ax = draw_matrix("Title", ["komb"], [], [])
        assert [text.get_text() for text in ax.texts] == ["no member"]
        assert draw_matrix("Title", [], [], []) is not None

    def test_dollars_are_no_formula(self, tmp_path: Path) -> None:
        ax = draw_matrix(r"$\frac$", ["$x$", "komb"], [r"$\frac"], [["hit", "hit"]])
        save_picture(ax, tmp_path / "a.png")

    def test_given_axes_are_drawn_on(self) -> None:
        axes = Figure().subplots()
        assert draw_matrix("Title", ["komb"], ["X1"], [["hit"]], axes) is axes
        assert len(cells(axes)) == 1

    def test_a_new_figure_grows_with_what_is_on_it(self) -> None:
        small = draw_matrix("", ["komb"], ["X1"], [["hit"]]).figure
        marks: list[list[Mark]] = [["hit"] * 20] * 40
        large = draw_matrix("", ["m"] * 20, ["X"] * 40, marks).figure
        assert isinstance(small, Figure)
        assert isinstance(large, Figure)
        assert (large.get_size_inches() > 2 * small.get_size_inches()).all()

    def test_everything_is_on_the_picture(self) -> None:
        names = [f"QUITE_A_LONG_NAME_{i}" for i in range(10)]
        ax = draw_matrix("Title", ["hiton-mb"] * 9, names, [["hit", "extra", "missed"] * 3] * 10)
        figure = ax.figure
        assert isinstance(figure, Figure)
        figure.draw_without_rendering()
        box = ax.get_tightbbox()
        assert box is not None
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1


class TestComparison:
    def test_marks_follow_the_truth(self) -> None:
        ax = make_comparison().plot()
        assert [text.get_text() for text in ax.texts] == ["✓", "✓", "✓", "-", "-", "-", "", "+"]
        weights = [text.get_fontweight() for text in ax.get_yticklabels()]
        assert weights == ["bold", "bold", "bold", "normal"]
        assert ax.get_title(loc="left") == "Markov blanket of ill"

    def test_without_a_truth(self) -> None:
        ax = make_comparison(truth=None).plot()
        assert [text.get_text() for text in ax.texts] == ["✓", "✓", "✓", "", "", "✓"]
        assert ax.get_legend() is None

    def test_no_figure_is_left_open(self) -> None:
        code = (
            "import sys\n"
            "from tests.test_comparison import make_comparison\n"
            "make_comparison().plot()\n"
            "assert 'matplotlib.pyplot' not in sys.modules\n"
        )
        root = Path(__file__).parents[1]
        subprocess.run([sys.executable, "-c", code], check=True, cwd=root)

    def test_an_empty_comparison_can_be_drawn(self) -> None:
        Comparison("ill", {}, ()).plot()


class TestFiles:
    @pytest.mark.parametrize("name", ["a.png", "a.pdf", "a.SVG"])
    def test_the_ending_says_which_kind(self, tmp_path: Path, name: str) -> None:
        save_picture(make_comparison().plot(), tmp_path / name)
        head = (tmp_path / name).read_bytes()[:200]
        assert any(mark in head for mark in (b"PNG", b"%PDF", b"<?xml"))

    @pytest.mark.parametrize("name", ["picture", "picture.doc", "picture."])
    def test_other_endings_are_refused(self, name: str) -> None:
        with pytest.raises(ParameterError, match=rf"'plot' .*'{name}'\. Have it end in \.png"):
            check_picture(name)

    def test_places_where_no_file_can_be(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match=r"no folder '.*nowhere' for the plot\. Make it first"):
            check_picture(tmp_path / "nowhere" / "a.png")
        (tmp_path / "a.png").mkdir()
        with pytest.raises(FileError, match="it is a folder"):
            check_picture(tmp_path / "a.png")

    def test_a_full_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        ax = make_comparison().plot()

        def fail(*_: Any, **__: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(ax.figure.canvas, "print_figure", fail)
        with pytest.raises(FileError, match=r"Cannot write '.*a\.png': no space left"):
            save_picture(ax, tmp_path / "a.png")


def test_without_matplotlib_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r'pip install "komb\[plots\]"') as caught:
        make_comparison().plot()
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, InputError)
    with pytest.raises(MissingPackageError):
        check_picture("a.png")
