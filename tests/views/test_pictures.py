"""Pictures: what they show, and that they leave nothing behind."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import komb
from komb.errors import FileError, InputError, MissingPackageError, ParameterError
from komb.results.blankets import Blankets
from komb.results.comparison import Comparison
from komb.views.pictures.canvas import check_picture, save_picture
from komb.views.pictures.heatmap import Cell, draw_heatmap
from komb.views.pictures.matrix import draw_matrix
from komb.views.pictures.network import Spoke, _middle, arrange, draw_blanket
from komb.views.text import Mark
from tests.optional import reason
from tests.results.comparisons import make_comparison

pytest.importorskip("matplotlib", reason=reason("matplotlib"))

from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle

MARKS: list[list[Mark]] = [["hit", "missed"], ["absent", "extra"]]


def cells(ax: Any) -> list[Rectangle]:
    return [patch for patch in ax.patches if isinstance(patch, Rectangle)]


def legend(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def assert_shown(svg: Path, texts: list[str]) -> None:
    """Check that a picture has letters as they are; matplotlib notes each text before its paths."""
    page = svg.read_text("utf-8")
    for text in texts:
        assert f"<!-- {text} -->" in page


def test_a_notebook_shows_every_picture() -> None:
    blankets = komb.markov_blankets(komb.boolean_table("parity", 500, n_parents=2))
    blanket = blankets["Y"]
    drawn = [blanket, blankets, blanket.effects, blanket.ranking(), make_comparison()]
    for result in drawn:
        data, size = result.plot()._repr_png_()  # type: ignore[attr-defined]
        assert data.startswith(b"\x89PNG")
        assert min(size.values()) > 50


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
        save_picture(ax, tmp_path / "a.svg")
        assert_shown(tmp_path / "a.svg", [r"$\frac$", "$x$", r"$\frac"])

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
            "import komb\n"
            "from tests.results.comparisons import make_comparison\n"
            "comparison = make_comparison()\n"
            "comparison.plot()\n"
            "komb.Blankets(list(comparison.blankets.values())[:1]).plot()\n"
            "next(iter(comparison.blankets.values())).plot()\n"
            "assert 'matplotlib.pyplot' not in sys.modules\n"
        )
        root = Path(__file__).parents[2]
        subprocess.run([sys.executable, "-c", code], check=True, cwd=root)

    def test_an_empty_comparison_can_be_drawn(self) -> None:
        ax = Comparison("ill", {}, ()).plot()
        assert ax.get_title(loc="left") == "Markov blanket of ill"
        assert not [text for text in ax.get_xticklabels() if text.get_text()]


def spoke(name: Any, *witness: Any, bits: float | None = 50.0) -> Spoke:
    return Spoke(name, witness, bits, "p = 1e-15")


def colours(ax: Any) -> set[str]:
    return {to_hex(line.get_color()) for line in ax.lines if line.get_linestyle() != "None"}


def areas(ax: Any) -> list[PathPatch]:
    return [patch for patch in ax.patches if isinstance(patch, PathPatch)]


def widths(ax: Any) -> list[float]:
    return [line.get_linewidth() for line in ax.lines if len(line.get_xdata()) == 2]


def is_all_on_the_picture(ax: Any) -> bool:
    ax.figure.draw_without_rendering()
    box, page = ax.get_tightbbox(), ax.figure.bbox
    return bool(box.x0 >= 0 and box.y0 >= 0 and box.x1 <= page.x1 and box.y1 <= page.y1)


class TestBlanket:
    def test_names_and_strengths(self) -> None:
        ax = draw_blanket("Y", [spoke("a"), spoke("b")])
        texts = ["a\np = 1e-15", "b\np = 1e-15", "Y"]
        assert [text.get_text() for text in ax.texts] == texts
        assert ax.get_title(loc="left") == "Markov blanket of Y"
        assert legend(ax) == ["depends by itself"]

    def test_clearer_members_have_thicker_lines(self) -> None:
        ax = draw_blanket("Y", [spoke("a", bits=10), spoke("b", bits=100), spoke("c", bits=1e9)])
        first, second, third = widths(ax)
        assert first < second < third == 7.0

    def test_what_is_seen_together_is_one_area(self) -> None:
        ax = draw_blanket("Y", [spoke("a", "b"), spoke("b", "a"), spoke("c")])
        assert len(areas(ax)) == 1
        assert legend(ax) == ["depend together", "depends by itself"]
        assert len(colours(ax)) == 2
        assert len(draw_blanket("Y", [spoke(n, *"abc".replace(n, "")) for n in "abc"]).patches) == 1

    def test_overlapping_areas_have_colours_of_their_own(self) -> None:
        ax = draw_blanket("Y", [spoke("a", "b"), spoke("c", "b"), spoke("b")])
        first, second = areas(ax)
        assert first.get_facecolor() != second.get_facecolor()
        assert "conditioned on for the others" in legend(ax)

    def test_methods_that_hold_everything_fixed_have_no_areas(self) -> None:
        ax = komb.markov_blanket(komb.boolean_table("and", 2000), "Y", method="iamb").plot()
        assert not areas(ax)
        assert legend(ax) == ["dependent given all other members"]

    def test_a_witness_that_is_no_member_is_there_too(self) -> None:
        ax = draw_blanket("Y", [spoke("a", "z")])
        assert "z\nno member" in [text.get_text() for text in ax.texts]

    def test_members_by_request(self) -> None:
        ax = draw_blanket("Y", [Spoke("a", None, None, "by request"), spoke("b")])
        assert legend(ax) == ["by request", "depends by itself"]

    def test_an_empty_blanket(self) -> None:
        assert [text.get_text() for text in draw_blanket("Y", []).texts] == ["Y", "no member"]

    @pytest.mark.parametrize("count", [1, 2, 3, 5, 15, 40])
    def test_everything_is_on_the_picture(self, count: int) -> None:
        names = [f"QUITE_A_LONG_NAME_OF_COLUMN_{i}" for i in range(count)]
        assert is_all_on_the_picture(draw_blanket("TARGET", [spoke(name) for name in names]))

    @pytest.mark.parametrize("count", [5, 15, 40])
    def test_labels_do_not_overlap(self, count: int) -> None:
        ax = draw_blanket("T", [spoke(f"NAME_{i}") for i in range(count)])
        ax.figure.draw_without_rendering()  # type: ignore[union-attr]
        middles = [text.get_window_extent().get_points().mean(axis=0) for text in ax.texts]
        nearest = min(math.dist(a, b) for a, b in combinations(middles, 2))
        assert nearest > 8 * ax.figure.dpi / 72  # letters of 8 points or more

    def test_names_of_any_kind(self, tmp_path: Path) -> None:
        names = [r"$\frac", 7, ("x", 2), "", "two\nlines", "n" * 200]
        ax = draw_blanket("$Y$", [spoke(name) for name in names])
        save_picture(ax, tmp_path / "a.png")
        assert max(len(text.get_text()) for text in ax.texts) < 50

    def test_given_axes_keep_their_place(self) -> None:
        figure = Figure(figsize=(11, 5))
        _, ax = figure.subplots(1, 2)
        place = ax.get_position().bounds
        assert draw_blanket("Y", [spoke(f"A_LONG_NAME_{i}") for i in range(9)], ax) is ax
        figure.draw_without_rendering()
        assert ax.get_position().bounds == place
        frame = ax.get_window_extent().padded(2)
        for text in ax.texts:
            box = text.get_window_extent()
            assert frame.contains(box.x0, box.y0)
            assert frame.contains(box.x1, box.y1)

    def test_groups_are_neighbours(self) -> None:
        spokes = [spoke("a", "e"), *map(spoke, "bcd"), spoke("e", "a")]
        order = list(arrange(spokes))
        assert abs(order.index("a") - order.index("e")) == 1

    def test_lines_of_an_area_never_meet_on_the_target(self) -> None:
        members = [spoke(n, *"abcd".replace(n, "")) for n in "abcd"]
        for spokes in (members, [*members, *map(spoke, "efg")]):
            assert min(math.hypot(*_middle([(0, 0), *arrange(spokes).values()])), 1) > 0.19


class TestHeatmap:
    found = komb.markov_blankets(komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=1))

    def test_what_it_cannot_draw(self) -> None:
        for draw in (self.found.plot, self.found["Y"].plot):
            with pytest.raises(ParameterError, match=r"'ax' must be matplotlib axes.*savefig"):
                draw("picture.png")  # type: ignore[arg-type]

    def test_targets_and_members(self) -> None:
        ax = self.found.plot()
        names = ["X1", "X2", "Y", "E1"]
        assert [text.get_text() for text in ax.get_yticklabels()] == list(self.found)
        assert [text.get_text() for text in ax.get_xticklabels()] == list(self.found)
        assert set(names) == set(self.found)
        assert ax.get_title(loc="left") == "Markov blankets of 4 targets"

    def test_what_is_no_target_comes_last(self) -> None:
        ax = Blankets([self.found["Y"]]).plot()
        assert [text.get_text() for text in ax.get_xticklabels()] == ["Y", "X1", "X2"]

    def test_colours_follow_strength(self) -> None:
        cells = {(0, 1): Cell(7.0), (0, 2): Cell(50.0), (0, 3): Cell(900.0), (0, 4): Cell(None)}
        ax = draw_heatmap("", ["a"], list("abcde"), cells)
        row = np.asarray(ax.images[0].get_array())[0]
        light = row[1:4].sum(axis=1)
        assert light[0] > light[1] > light[2]
        assert len({tuple(cell) for cell in row}) == 5

    def test_the_bar_also_speaks_of_tests_without_a_p_value(self) -> None:
        ax = draw_heatmap("", ["a"], ["a", "b"], {(0, 1): Cell(9.0)})
        (bar,) = ax.child_axes
        ticks = [text.get_text() for text in bar.get_yticklabels()]
        assert ticks[0] == "7 bits (p = 0.008)"
        assert ticks[-1] == "1,000 bits or more (p = 9e-302)"

    def test_marks(self) -> None:
        cells = {(0, 1): Cell(9.0, is_one_sided=True), (1, 2): Cell(9.0, is_together=True)}
        ax = draw_heatmap("", ["a", "b"], ["a", "b", "c"], cells)
        lines: list[Any] = list(ax.lines)
        marks = [(line.get_marker(), line.get_xdata()[0], line.get_ydata()[0]) for line in lines]
        assert marks == [("o", 1, 0), ("s", 2, 1)]
        assert legend(ax) == [
            "one-sided: the target is not in the member's blanket",
            "dependent only given others",
        ]
        assert draw_heatmap("", ["a"], ["a", "b"], {(0, 1): Cell(9.0)}).get_legend() is None

    def test_one_sided_is_told_only_of_targets(self) -> None:
        alone = Blankets([replace(self.found["Y"], evidence=self.found["Y"].evidence[:1])])
        assert legend(alone.plot()) == ["dependent only given others"]
        others = [b if b.target != "X1" else replace(b, evidence=()) for b in self.found.values()]
        told = legend(Blankets(others).plot())
        assert "one-sided: the target is not in the member's blanket" in told

    @pytest.mark.parametrize("count", [1, 3, 60])
    def test_everything_is_on_the_picture(self, count: int) -> None:
        names = [f"QUITE_A_LONG_NAME_{i}" for i in range(count)]
        ax = draw_heatmap("Title", names, names, {(0, count - 1): Cell(9.0)})
        assert is_all_on_the_picture(ax)
        assert max(ax.figure.get_size_inches()) < 20  # type: ignore[union-attr]

    def test_given_axes_are_drawn_on(self, tmp_path: Path) -> None:
        axes = Figure().subplots()
        assert self.found.plot(axes) is axes
        save_picture(axes, tmp_path / "a.png")

    @pytest.mark.parametrize(
        ("size", "inches"),
        [((0.5, 9.0), 0.5 / 4), ((9.0, 0.4), 0.4 / 2), ((9.0, 9.0), 0.32)],
        ids=["narrow", "flat", "roomy"],
    )
    def test_signs_fit_into_their_cells(self, size: tuple[float, float], inches: float) -> None:
        """On given axes of any shape, but no larger than on a picture of its own."""
        ax = Figure(figsize=size).add_axes((0, 0, 1, 1))
        cells = {(0, 1): Cell(9.0, is_one_sided=True), (1, 2): Cell(9.0, is_together=True)}
        draw_heatmap("", ["a", "b"], ["a", "b", "c", "d"], cells, ax)
        sizes = [line.get_markersize() / 72 for line in ax.lines]
        assert sizes == pytest.approx([0.26 * inches, 0.58 * inches])

    def test_nothing(self) -> None:
        assert [text.get_text() for text in Blankets().plot().texts] == ["no target"]

    def test_dollars_are_no_formula(self, tmp_path: Path) -> None:
        ax = draw_heatmap(r"$\frac", [r"$\frac"], [r"$\frac", "$x$"], {})
        save_picture(ax, tmp_path / "a.svg")
        assert_shown(tmp_path / "a.svg", [r"$\frac", "$x$"])


class TestFiles:
    @pytest.mark.parametrize("name", ["a.png", "a.pdf", "a.SVG"])
    def test_the_ending_says_which_kind(self, tmp_path: Path, name: str) -> None:
        save_picture(make_comparison().plot(), tmp_path / name)
        head = (tmp_path / name).read_bytes()[:200]
        assert any(mark in head for mark in (b"PNG", b"%PDF", b"<?xml"))

    @pytest.mark.parametrize("name", ["picture", "picture.doc", "picture."])
    def test_other_endings_are_refused(self, name: str) -> None:
        with pytest.raises(
            ParameterError, match=rf"'plot' .*'{name}'\. Use a name that ends in \.png"
        ):
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


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r'pip install "komb\[plots\]"') as caught:
        make_comparison().plot()
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, InputError)
    with pytest.raises(MissingPackageError):
        check_picture("a.png")
    with pytest.raises(MissingPackageError):
        komb.markov_blanket(komb.boolean_table("and", 500), "Y").plot()
    with pytest.raises(MissingPackageError):
        Blankets().plot()
