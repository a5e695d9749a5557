"""Numbers and gaps in raw data: what becomes of them on the way to a blanket."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import komb
from komb.api.run import Run
from komb.cli import options as cli_options
from komb.errors import DataError, MissingValuesError, ParameterError
from komb.results.blanket import Blanket
from tests.optional import pandas as pd

N_ROWS = 600


def measurements() -> pd.DataFrame:
    """Y is on if just one of A and B is above zero; C follows Y, E is noise."""
    rng = np.random.default_rng(5)
    a, b, e, noise = rng.normal(size=(4, N_ROWS))
    y = (a > 0) ^ (b > 0)
    return pd.DataFrame({"A": a, "B": b, "C": y + noise / 2, "E": e, "Y": np.where(y, "on", "off")})


DATA = measurements()
SEARCHES: list[Callable[..., object]] = [
    komb.markov_blanket,
    lambda data, target, **search: komb.markov_blankets(data, [target], **search),
    komb.compare,
    komb.blanket_path,
    komb.report,
]
HALVES: dict[str, list[float]] = {"A": [0], "B": [0], "C": [0.5], "E": [0]}


def search(target: str = "Y", data: Any = DATA, **reading: Any) -> komb.Blanket:
    return komb.markov_blanket(komb.table(data, target=target, **reading), target)


def with_missing() -> pd.DataFrame:
    data = DATA.copy()
    data.loc[::7, "A"] = np.nan
    data.loc[::5, "Y"] = None
    return data


class TestDiscretize:
    @pytest.mark.parametrize("way", ["quantile", "uniform", "kmeans"])
    def test_combinations_survive(self, way: str) -> None:
        blanket = search(discretize=way)
        assert {"A", "B", "C"} <= set(blanket)
        assert list(blanket.cuts) == ["A", "B", "C", "E"]
        assert all(len(points) == 3 for points in blanket.cuts.values())
        assert blanket.parameters["discretize"] == way
        assert blanket.parameters["bins"] == 4

    def test_columns_that_mdl_finds_no_cut_for_are_constant(self) -> None:
        blanket = search(discretize="mdl")
        assert blanket.members == ("C",)
        assert blanket.cuts["A"] == blanket.cuts["B"] == blanket.cuts["E"] == ()
        assert len(blanket.cuts["C"]) > 0
        assert "bins" not in blanket.parameters
        shown = str(blanket.details())
        assert "No cut points, so constant: A, B, E." in shown
        assert "try quantile" in shown

    def test_all_methods_bear_constant_columns(self) -> None:
        comparison = komb.compare(komb.table(DATA, discretize="mdl", target="Y"), "Y")
        assert all("C" in found for found in comparison.blankets.values())

    def test_the_target_is_cut_too(self) -> None:
        blanket = search("C", discretize="quantile", bins=2)
        assert "Y" in blanket
        assert len(blanket.cuts["C"]) == 1
        assert "\nC: cut at " in str(blanket.details())

    def test_cuts_can_be_reused(self) -> None:
        first = search(data=DATA[:300], discretize="quantile")
        again = search(data=DATA[300:], discretize=first.cuts)
        assert again.cuts == first.cuts
        assert again.parameters["discretize"] == first.cuts
        assert "(as given)" in str(again.details())

    def test_bins_by_column(self) -> None:
        bins = {"A": 2, "B": 3}
        blanket = search(discretize="quantile", bins=bins)
        assert [len(points) for points in blanket.cuts.values()] == [1, 2, 3, 3]
        assert blanket.parameters["bins"] == bins

    def test_an_encoded_table_brings_its_cuts(self) -> None:
        table = komb.DiscreteTable.from_data(DATA, discretize="quantile")
        blanket = komb.markov_blanket(table, "Y")
        assert blanket.cuts == table.cuts
        assert "A: cut at" in str(blanket.details())

    @pytest.mark.parametrize("find", [SEARCHES[0], *SEARCHES[2:]])
    def test_every_search_says_how_it_was_read(self, find: Callable[..., Any]) -> None:
        found = find(komb.table(DATA, discretize=HALVES), "Y")
        details = found.details() if isinstance(found, komb.Blanket) else found
        assert "cut at 0" in getattr(found, "html", str(details))

    def test_numbered_columns(self) -> None:
        matrix = DATA[["A", "B", "C", "E"]].to_numpy()
        matrix = np.column_stack([matrix, DATA["Y"] == "on"])
        blanket = komb.markov_blanket(komb.table(matrix, discretize="quantile"), 4)
        assert set(blanket.cuts) == {0, 1, 2, 3}
        assert Blanket.from_dict(json.loads(blanket.to_json())) == blanket


class TestMissing:
    def test_a_level_of_its_own(self) -> None:
        data = with_missing()
        blanket = search(data=data, discretize=HALVES, missing="level")
        assert blanket.parameters["missing"] == "level"
        assert "missing values: level" in str(blanket.details())
        filled = pd.DataFrame({name: (data[name] > HALVES[name][0]).astype(str) for name in HALVES})
        filled[data[list(HALVES)].isna()] = "missing"
        filled["Y"] = data["Y"].fillna("zz")
        assert blanket.members == komb.markov_blanket(filled, "Y").members

    @pytest.mark.parametrize("find", SEARCHES)
    def test_they_are_left_out_test_by_test(
        self, find: Callable[..., object], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[Run] = []

        class Stop(Exception):  # noqa: N818
            pass

        def stop(self: Run, *_: object) -> None:
            seen.append(self)
            raise Stop

        monkeypatch.setattr(Run, "search_for", stop)
        with pytest.raises(Stop):
            find(with_missing(), "Y")
        [run] = seen
        assert run.table.missing_counts.tolist() == [86, 0, 0, 0, 120]
        assert run.describe()["missing"] == "testwise"  # though nobody said so

    def test_a_target_without_variation_among_its_values(self) -> None:
        data = {"X": [0, 1, 0, 1], "Y": [1, 1, None, None]}
        with pytest.raises(DataError, match="'Y', which is 1 in every row with a value"):
            komb.markov_blanket(data, "Y")
        assert search(data=data, missing="level").members == ()

    @pytest.mark.parametrize("mode", ["error", "level", "testwise"])
    def test_a_column_without_values(self, mode: str) -> None:
        data = DATA.assign(gone=None)
        options: dict[str, Any] = {"discretize": "quantile", "missing": mode}
        with pytest.raises(MissingValuesError, match="'gone'"):
            komb.table(data, types="strict", **options)
        if mode != "error":
            assert search(data=data, **options).types["gone"].kind == "empty"


@pytest.mark.parametrize("name", ["types", "discretize", "missing", "groups", "weights"])
def test_how_columns_are_read_is_said_of_the_table(name: str) -> None:
    """Not of the search, which says so."""
    for find in SEARCHES:
        with pytest.raises(ParameterError, match=rf"'{name}' .*komb\.table\(data, {name}="):
            find(DATA, "Y", **{name: "level"})


def test_the_seed_is_reported_where_it_matters() -> None:
    table = komb.table(DATA, discretize=HALVES)
    assert "seed" not in komb.markov_blanket(table, "Y", test="g").parameters
    drawn = komb.markov_blanket(table, "Y", method="komb", test="perm", seed=3)
    assert drawn.parameters["seed"] == 3


class TestBlanket:
    blanket = search(discretize={**HALVES, "A": "quantile"}, bins={"A": 3})

    def test_it_comes_back(self) -> None:
        assert Blanket.from_dict(self.blanket.to_dict()) == self.blanket
        assert Blanket.from_dict(json.loads(self.blanket.to_json())) == self.blanket
        assert pickle.loads(pickle.dumps(self.blanket)) == self.blanket
        assert hash(self.blanket) == hash(pickle.loads(pickle.dumps(self.blanket)))

    def test_older_records_have_no_cuts(self) -> None:
        record = self.blanket.to_dict()
        del record["cuts"]
        assert dict(Blanket.from_dict(record).cuts) == {}

    def test_records(self) -> None:
        record = self.blanket.to_dict()
        assert record["cuts"][1] == {"column": "B", "value": [0.0]}
        assert record["parameters"]["discretize"][0] == {"column": "A", "value": "quantile"}
        assert record["parameters"]["bins"] == [{"column": "A", "value": 3}]

    def test_cuts_are_read_only(self) -> None:
        with pytest.raises(TypeError):
            self.blanket.cuts["A"] = ()  # type: ignore[index]

    def test_it_shows_them(self) -> None:
        details = self.blanket.details()
        for shown in (str(details), details._repr_html_()):
            assert "B: cut at 0 (as given)." in shown
            assert "(quantile)." in shown

    def test_few_of_many_are_shown_members_first(self) -> None:
        rng = np.random.default_rng(0)
        noise = {f"N{i}": rng.normal(size=N_ROWS) for i in range(30)}
        data = pd.DataFrame({**noise, **DATA})
        table = komb.table(data, discretize="quantile", bins=40)
        found = komb.markov_blanket(table, "Y", order=0, test="sci")
        shown = str(found.details())
        lines = [line for line in shown.splitlines() if ": cut at " in line]
        assert len(lines) == 5
        assert found.members
        for member, line in zip(found.members, lines, strict=False):
            assert line.startswith(f"{member}: cut at ")
        assert "... (39 in all) (quantile)." in lines[0]
        assert "29 more columns cut into bins: see 'cuts'." in shown


class TestMessy:
    """Columns as people have them."""

    data = pl.DataFrame(
        {
            "age": [31, None, 45, 62, 18, 33, 27, 54] * 30,
            "income": [float(i) ** 2 / 3 if i % 11 else None for i in range(240)],
            "city": ["Rome", " Rome", "", None, "Oslo", "Oslo", "Rome", "Oslo"] * 30,
            "since": pd.date_range("2020-01-01", periods=240).to_list(),
            "count": [i * 37 % 211 for i in range(240)],
            "works": [True, False, None, True] * 60,
        }
    )

    @pytest.mark.parametrize("way", ["quantile", "uniform", "kmeans", "mdl"])
    @pytest.mark.parametrize(
        "convert", [lambda d: d, lambda d: d.to_pandas(), lambda d: d.to_arrow()]
    )
    def test_they_are_encoded_alike_wherever_they_come_from(
        self, way: str, convert: Callable[[pl.DataFrame], Any]
    ) -> None:
        options: dict[str, Any] = {"discretize": way, "missing": "testwise", "target": "works"}
        table = komb.DiscreteTable.from_data(convert(self.data), **options)
        expected = komb.DiscreteTable.from_data(self.data.to_dict(as_series=False), **options)
        assert np.array_equal(table.codes, expected.codes)
        assert table.cuts == expected.cuts
        assert set(table.cuts) == {"income", "count"}
        assert table.missing_counts.tolist() == [30, 22, 30, 0, 0, 60]
        assert table.levels[2] == ("", " Rome", "Oslo", "Rome")


class TestCommandLine:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "measured.csv"
        DATA.to_csv(path, index=False)
        return path

    def test_find(self, run: Any, file: Path) -> None:
        options = "--discretize quantile --bins 3 --json"
        code, out, _ = run("find", file, "-t", "Y", *options.split())
        assert code == 0
        expected = search(discretize="quantile", bins=3)
        assert Blanket.from_dict(json.loads(out)) == expected

    def test_columns(self, run: Any, file: Path) -> None:
        rules = "--discretize A=-0.5,0.5 --discretize B=quantile --discretize C=.5 --discretize E=1"
        code, out, _ = run("find", file, "-t", "Y", *rules.split(), "--bins", "B=2", "--json")
        assert code == 0
        found = Blanket.from_dict(json.loads(out))
        assert found.cuts["A"] == (-0.5, 0.5)
        assert found.cuts["C"] == (0.5,)
        assert len(found.cuts["B"]) == 1
        assert found.parameters["discretize"]["B"] == "quantile"

    def test_missing(self, run: Any, tmp_path: Path) -> None:
        path = tmp_path / "gaps.csv"
        pl.from_pandas(with_missing()).write_csv(path)
        code, out, err = run(
            "find", path, "-t", "Y", "--type", "strict", *["--discretize", "quantile"]
        )
        assert (code, out) == (2, "")
        assert "--missing testwise" in err
        options = ["--discretize", "quantile", "--missing", "level"]
        code, out, _ = run("compare", path, "-t", "Y", *options, "--methods", "komb,iamb")
        assert code == 0
        assert "missing values: level" in out
        assert "Y" not in out.split("cut at")[1]

    @pytest.mark.parametrize(
        ("options", "part"),
        [
            ("--type strict", "--discretize quantile"),
            ("--type tight", "'--type' must be 'auto', 'strict', or map"),
            ("--type A=nominl", "In '--type': There is no type (of column 'A') 'nominl'. Did you"),
            ("--type Z=nominal", "In '--type': There is no column 'Z'"),
            ("--type Y=continuous", "'Y' is to be continuous, but holds no numbers: 'off', 'on'"),
            ("--type A=nominal --discretize A=1", "not cut column 'A', whose type is to be"),
            ("--na-value 1 --na-value A=2", "'--na-value' must be values for all columns, or"),
            ("--type strict --na-value 1", "'--na-value' must be left out with --type strict"),
            ("--discretize quantil", "Did you mean 'quantile'"),
            ("--discretize 18,65", "'--discretize' must say of which column"),
            ("--discretize A=1,x", "'--discretize' must have numbers"),
            ("--discretize A=2,1", "got 2.0, 1.0. Sort them, each once: --discretize A=1.5,2.5."),
            ("--discretize quantile --discretize A=1", "'--discretize' must be given once for all"),
            ("--discretize quantile --bins few", "'--bins' must be a whole number"),
            ("--discretize quantile --bins 1", "'--bins' must be a whole number, at least 2"),
            ("--discretize A=quantile --bins A=1", "for 'A'; got 1. Try --bins A=2."),
            ("--discretize quantile --bins A=3 --bins 4", "'--bins' must be given once"),
            ("--discretize quantile --missing no", "In '--missing'"),
        ],
    )
    @pytest.mark.parametrize("command", ["find", "compare"])
    def test_mistakes(self, run: Any, file: Path, command: str, options: str, part: str) -> None:
        code, out, err = run(command, file, "-t", "Y", *options.split())
        assert (code, out) == (2, "")
        assert part in err

    def test_a_name_may_hold_the_sign_of_equality(self) -> None:
        assert cli_options.to_discretize(["a=b=1,2"]) == {"a=b": [1.0, 2.0]}
