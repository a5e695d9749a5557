"""Pictures of groups of columns."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import pytest

import komb
from komb.data.kinds import Place
from tests.optional import reason

pytest.importorskip("matplotlib", reason=reason("matplotlib"))

CHROMOSOMES = ["chr10", "chr2", "X", "chr1", "chr2", "chr10"]


@pytest.fixture(scope="module")
def found() -> komb.Interactions:
    rng = np.random.default_rng(1)
    columns = {f"rs{i}": rng.integers(0, 2, 400) for i in range(6)}
    table = komb.table(columns | {"y": columns["rs1"] ^ columns["rs3"]})
    places: dict[Hashable, Place] = {f"rs{i}": Place(c, 100 - i) for i, c in enumerate(CHROMOSOMES)}
    return komb.interactions(replace(table, annotations=places), "y")


@pytest.mark.parametrize("kind", ["heatmap", "manhattan"])
def test_variants_lie_along_the_genome(found: komb.Interactions, kind: str) -> None:
    axes = found.plot(kind=kind)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["chr1", "chr2", "chr10", "X"]
    ticks = axes.get_xticks()
    assert list(ticks) == sorted(ticks)
    assert axes.get_xlim()[0] < ticks[0] < ticks[-1] < axes.get_xlim()[1]


def test_one_chromosome_has_base_pairs(found: komb.Interactions) -> None:
    places = {name: Place("6", at.position) for name, at in found.places.items()}
    axes = replace(found, places=places).plot(kind="heatmap")
    assert axes.get_xlabel() == axes.get_ylabel() == "base pairs of chromosome 6"
    assert axes.get_xlim() == pytest.approx((94.8, 100.2))
    nowhere = replace(found, places={name: Place("6", None) for name in found.places})
    assert nowhere.plot(kind="manhattan").get_xlim()[1] > 5


def test_a_pair_is_twice_in_the_heat_map(found: komb.Interactions) -> None:
    (points,) = found.plot(kind="heatmap").collections
    places = {tuple(each) for each in np.round(np.asarray(points.get_offsets()), 6).tolist()}
    assert places == {(y, x) for x, y in places}
    assert len(places) == 2 * len(found.groups)


def test_places_are_printed(found: komb.Interactions) -> None:
    assert "chr2:99, chr1:97" in str(found)
    assert "at chr2:99, chr1:97, statistic" in str(found[0])


def test_the_band_of_a_qq_plot_has_the_line(found: komb.Interactions) -> None:
    (band,) = found.plot(kind="qq").collections
    corners: list[list[float]] = np.asarray(band.get_paths()[0].vertices).tolist()
    below = [y for x, y in corners if y < x]
    assert below, "the band reaches below the line"
    assert len(below) < len(corners)
