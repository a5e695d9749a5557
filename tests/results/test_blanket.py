"""Blankets as objects: collections of names that print, export and come back."""

from __future__ import annotations

import json
import sys
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

import komb
from komb.errors import ParameterError, UnknownNameError
from komb.results.blanket import Blanket
from komb.results.blankets import Blankets
from komb.results.member import Member
from komb.views.blanket_text import show_strength
from komb.views.reasons import ADJUSTED_NOTE
from tests import naive
from tests.results.blankets import PARAMETERS, make_blanket


class TestCollection:
    def test_it_is_a_collection_of_names(self) -> None:
        blanket = make_blanket()
        assert blanket.members == ("age", "smoker", "sex")
        assert list(blanket) == ["age", "smoker", "sex"]
        assert len(blanket) == 3
        assert "age" in blanket
        assert "ill" not in blanket
        assert bool(blanket)
        assert not make_blanket(evidence=())

    def test_a_name_leads_to_its_member(self) -> None:
        blanket = make_blanket()
        assert blanket["age"].witness == ("smoker",)
        assert not blanket["age"].is_by_request
        assert blanket["sex"].is_by_request

    def test_a_wrong_name_gets_a_suggestion(self) -> None:
        with pytest.raises(UnknownNameError, match=r"no member 'agee'\. Did you mean 'age'"):
            make_blanket()["agee"]

    def test_it_is_frozen(self) -> None:
        blanket = make_blanket()
        with pytest.raises(FrozenInstanceError):
            blanket.target = "x"  # type: ignore[misc]
        with pytest.raises(TypeError):
            blanket.parameters["order"] = 2  # type: ignore[index]
        parameters = dict(PARAMETERS)
        other = make_blanket(parameters=parameters)
        parameters["order"] = 7
        assert other.parameters["order"] == 1

    def test_work_is_no_part_of_equality(self) -> None:
        for work in ({"seconds": 99.0}, {"tests": 121}, {"tables": 9}, {"unreliable": 5}):
            assert make_blanket() == make_blanket(**work)
            assert hash(make_blanket()) == hash(make_blanket(**work))
        assert make_blanket() != make_blanket(method="gs")


class TestText:
    def test_the_whole_answer(self) -> None:
        assert str(make_blanket()) == (
            "Markov blanket of ill: age, smoker, sex\n"
            "\n"
            "  member  why it is a member                   evidence\n"
            "  age     depends on ill together with smoker  p = 3e-20\n"
            "  smoker  depends on ill by itself             7.5 bits\n"
            "  sex     by request                           by request\n"
            "\n"
            "Searched: every column by itself and together with up to 1 other.\n"
            "Errors: of tests of two independent columns, 5 in 100 call them dependent.\n"
            "1,500 rows, 120 tests in 250 ms. How it was found: details() or --verbose."
        )

    def test_the_whole_details(self) -> None:
        assert str(make_blanket().details()) == (
            "How the Markov blanket of ill was found\n"
            "method komb, searched up to order 1, separators of up to 2 columns, "
            "alpha 0.05, test g-sci, df observed, with sex by request\n"
            "\n"
            "  member  given         statistic  df  p-value  decided by\n"
            "  age     smoker            89.91   2    3e-20  g\n"
            "  smoker  (nothing)          7.50   -        -  sci\n"
            "  sex     (by request)          -   -        -  -\n"
            "\n"
            f"{ADJUSTED_NOTE}\n"
            "120 tests from 60 contingency tables."
        )

    def test_details_are_a_sheet_for_notebooks_too(self) -> None:
        details = make_blanket().details()
        assert repr(details) == str(details)
        assert "<td" in details._repr_html_()

    def test_time_to_read_is_said_apart(self) -> None:
        text = str(make_blanket(seconds_to_read=18.4))
        assert "120 tests in 250 ms, after 18 s of reading the data." in text
        raw = {"X": [0, 1] * 50, "Y": [0, 1] * 50}
        assert komb.markov_blanket(raw, "Y").seconds_to_read > 0.0
        assert komb.markov_blanket(komb.table(raw), "Y").seconds_to_read == 0.0

    def test_errors_are_one_number(self) -> None:
        parameters = PARAMETERS | {"level": 0.05, "alpha": 0.03}
        text = str(make_blanket(parameters=parameters))
        assert "where nothing depends on ill, at most 5 in 100 such searches name a column" in text
        assert "0.03" not in text
        few = str(make_blanket(parameters=PARAMETERS | {"alpha": 0.0004}))
        assert "4 in 10,000 call them dependent" in few

    def test_all_other_members_are_not_listed(self) -> None:
        names = "abcd"
        members = [Member(x, tuple(y for y in names if y != x), 9.0, 1, 0.0027) for x in names]
        text = str(make_blanket(evidence=tuple(members)))
        assert text.count("together with all other members") == 4

    def test_stability_is_a_column_once_it_is_known(self) -> None:
        blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
        assert "in half-samples" not in str(blanket)
        assert "2 of 2 members recur in at least half of 10 half-samples" in str(blanket)
        blanket.stability(4)
        assert str(blanket).splitlines()[2].endswith("in half-samples")
        assert str(blanket).splitlines()[3].endswith("100%")

    def test_the_strongest_member_is_first(self) -> None:
        details = (
            Member("requested", None),
            Member("weak", (), 9.0, 1, 0.0027, "g", True),
            Member("strong", (), 900.0, 1, 1e-190, "g", True),
        )
        blanket = make_blanket(evidence=details)
        rows = [line.split()[0] for line in str(blanket).splitlines() if line[:2] == "  "]
        assert rows == ["member", "strong", "weak", "requested"]
        assert blanket.members == ("requested", "weak", "strong")

    def test_found_is_not_searched(self) -> None:
        """An exclusive or is found at order 1, however far the search goes."""
        xor = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y", order=1)
        blanket = make_blanket(evidence=xor.evidence, parameters=PARAMETERS | {"order": 3})
        assert "searched up to order 3, " in str(blanket.details())

    def test_repr_is_short(self) -> None:
        assert repr(make_blanket()) == "Blanket('ill': 'age', 'smoker', 'sex')"
        assert repr(make_blanket(evidence=())) == "Blanket('ill': empty)"

    @pytest.mark.parametrize(
        ("order", "sentence"),
        [
            (0, "No column was found to depend on ill by itself.\n"),
            (1, "depend on ill, by itself or together with up to 1 other.\n"),
            (2, "depend on ill, by itself or together with up to 2 others.\n"),
        ],
    )
    def test_an_empty_blanket_says_what_to_try(self, order: int, sentence: str) -> None:
        text = str(make_blanket(evidence=(), parameters=PARAMETERS | {"order": order}))
        assert "Markov blanket of ill: empty" in text
        assert sentence in text
        assert f"try order {order + 1}." in text

    def test_no_order_is_suggested_that_the_table_does_not_allow(self) -> None:
        assert "try order" not in str(make_blanket(evidence=(), n_columns=3))

    def test_a_method_without_order_suggests_none(self) -> None:
        parameters = PARAMETERS | {"order": None, "max_separator": None}
        text = str(make_blanket(evidence=(), parameters=parameters))
        assert "order" not in text
        assert "No column was found" in text

    def test_members_by_request_alone_do_not_count_as_found(self) -> None:
        assert "try order 2" in str(make_blanket(evidence=(Member("sex", None),)))

    def test_thin_tables_are_told(self) -> None:
        details = make_blanket(fallbacks=3).details()
        assert "decided 3 of 120 tests on sparse tables" in str(details)
        text = str(make_blanket(unreliable=4, parameters=PARAMETERS | {"test": "g"}).details())
        assert "Caution: 4 of 120 tests had too few rows per cell for test g to be trusted." in text
        assert "use test auto" in text

    def test_a_permutation_test_needs_something_to_permute(self) -> None:
        text = str(make_blanket(unreliable=4, parameters=PARAMETERS | {"test": "perm"}).details())
        assert "Caution: 4 of 120 tests had nothing to permute" in text
        assert "to be trusted" not in text
        assert "g-sci" not in text

    def test_an_unreliable_member_is_marked(self) -> None:
        blanket = make_blanket(evidence=(Member("a", (), 9.0, 1, 0.1, "g", False),))
        assert "p = 0.1, unreliable" in str(blanket)
        assert "g (unreliable)" in str(blanket.details())

    def test_html_is_escaped(self) -> None:
        html = make_blanket(target="<b>&", evidence=(Member("<script>", ()),))._repr_html_()
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
        assert "&lt;b&gt;&amp;" in html
        assert "by itself" in html
        assert "<table" not in make_blanket(evidence=())._repr_html_()

    def test_names_with_line_breaks_keep_to_their_line(self) -> None:
        text = str(make_blanket(evidence=(Member("a\nb", (" ",)),)))
        assert r"'a\nb'" in text
        assert "' '" in text


class TestExport:
    def test_dictionaries_come_back(self) -> None:
        blanket = make_blanket()
        record = blanket.to_dict()
        assert list(record)[:2] == ["target", "members"]
        assert record["evidence"][0]["witness"] == ["smoker"]
        assert record["evidence"][2]["witness"] is None
        assert record["parameters"]["include"] == ["sex"]
        assert Blanket.from_dict(record) == blanket
        assert Blanket.from_dict(record).seconds == 0.25

    def test_json_has_no_strange_types_or_numbers(self) -> None:
        import numpy as np

        details = (Member(("a", 1), (np.int64(3), True), float("inf"), 1, float("nan"), "g", True),)
        text = make_blanket(target=np.int64(7), evidence=details).to_json()
        record = json.loads(text, parse_constant=pytest.fail)
        assert record["target"] == 7
        assert record["members"] == ["('a', 1)"]
        assert record["evidence"][0]["witness"] == [3, True]
        assert record["evidence"][0]["statistic"] is None
        assert record["evidence"][0]["p_value"] is None

    def test_json_keeps_letters(self) -> None:
        assert "größe" in make_blanket(target="größe").to_json()

    def test_bad_records_are_refused(self) -> None:
        with pytest.raises(
            ParameterError, match=r"'record' .*without 'evidence', 'method'.*unchanged"
        ):
            Blanket.from_dict(
                {k: 1 for k in make_blanket().to_dict() if k not in ("evidence", "method")}
            )
        with pytest.raises(ParameterError, match=r"json\.loads"):
            Blanket.from_dict("{}")  # type: ignore[arg-type]

    def test_polars_frame(self) -> None:
        import polars as pl

        frame = make_blanket().to_frame("polars")
        assert frame.columns == [
            "member",
            "witness",
            "statistic",
            "df",
            "p_value",
            "test",
            "reliable",
        ]
        assert frame["member"].to_list() == ["age", "smoker", "sex"]
        assert frame["witness"].to_list() == [["smoker"], [], None]
        assert frame["df"].to_list() == [2, None, None]
        assert make_blanket(evidence=()).to_frame("polars").schema == frame.schema
        assert frame.schema["witness"] == pl.List(pl.String)

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_a_frame_is_of_the_library_of_the_data(self, library: str) -> None:
        columns = {"X": [0, 1] * 50, "Y": [0, 1] * 50}
        blanket = komb.markov_blanket(pytest.importorskip(library).DataFrame(columns), "Y")
        results: list[Any] = [
            blanket,
            blanket.explain(),
            blanket.effects,
            blanket.ranking(),
            blanket.roles(),
        ]
        results += [
            blanket.stability(2),
            Blankets([blanket]),
            komb.Comparison("Y", {"a": blanket}, ()),
        ]
        for result in results:
            assert type(result.to_frame()).__module__.split(".")[0] == library

    def test_other_data_have_pandas_if_it_is_installed(self, monkeypatch: Any) -> None:
        blanket = komb.markov_blanket({"X": [0, 1] * 50, "Y": [0, 1] * 50}, "Y")
        assert type(blanket.to_frame()).__module__.split(".")[0] == "pandas"
        monkeypatch.setattr("komb.results.export.find_spec", lambda _: None)
        assert type(blanket.to_frame()).__module__.split(".")[0] == "polars"

    def test_numbered_columns_stay_numbers_in_a_frame(self) -> None:
        assert make_blanket(evidence=(Member(3, (1,)),)).to_frame("polars")["member"].to_list() == [
            3
        ]
        mixed = make_blanket(evidence=(Member(3, ("x",)),)).to_frame("polars")
        assert mixed.row(0)[:2] == ("3", ["x"])

    def test_csv_has_the_rows_of_the_frame(self) -> None:
        details = (Member("=age", ("sex", "-1"), -0.5, 2, 0.25, "g", True), Member(-3, None))
        assert make_blanket(evidence=details).to_csv() == (
            "member,witness,statistic,df,p_value,test,reliable\n"
            "'=age,sex;-1,-0.5,2,0.25,g,True\n"
            "-3,,,,,,\n"
        )

    def test_records_of_older_versions_are_read(self) -> None:
        record = make_blanket().to_dict()
        for key in ("fallbacks", "unreliable", "identifiers", "cuts", "choices", "seconds"):
            del record[key]
        assert Blanket.from_dict(record) == make_blanket()

    def test_unknown_or_missing_backends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(ParameterError, match="'backend' must be 'polars' or 'pandas'; got 'r'"):
            make_blanket().to_frame("r")  # type: ignore[call-overload]
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ParameterError, match="pip install pandas"):
            make_blanket().to_frame("pandas")


class TestBlankets:
    blankets = Blankets([make_blanket(), make_blanket(target="dead", evidence=())])

    def test_it_is_a_mapping(self) -> None:
        assert list(self.blankets) == ["ill", "dead"]
        assert self.blankets["dead"].members == ()
        assert len(self.blankets) == 2
        assert "nobody" not in self.blankets
        with pytest.raises(KeyError):
            self.blankets["nobody"]
        assert self.blankets.seconds == 0.5

    def test_text(self) -> None:
        text = str(self.blankets)
        assert "Markov blankets of 2 targets" in text
        assert "  ill        3  age, smoker, sex    120  250 ms" in text
        assert "  dead       0  -                   120  250 ms" in text
        assert "240 tests in 500 ms." in text
        assert repr(self.blankets) == "Blankets(2 targets)"
        assert "Nothing was searched" in str(Blankets())
        assert "<td" in self.blankets._repr_html_()


class TestStrength:
    def test_p_values_and_bits_are_on_one_scale(self) -> None:
        assert Member("a", (), 3.0, 1, 2.0**-20, "g", True).bits == 20.0
        assert Member("a", (), 20.0, None, None, "sci", True).bits == 20.0
        assert Member("a", None).bits is None

    def test_p_values_too_small_for_a_number(self) -> None:
        bits = Member("a", (), 1e5, 4, 0.0, "g", True).bits
        assert bits == pytest.approx(-naive.decision.log2_p_value(1e5, 4))

    @pytest.mark.parametrize(
        ("member", "text"),
        [
            (Member("a", (), 9.0, 1, 0.0123, "g", True), "p = 0.012"),
            (Member("a", (), 9.0, 1, 1e-30, "g", True), "p = 1e-30"),
            (Member("a", (), 9.0, 1, 5.1e-23, "g", True), "p = 5.1e-23"),
            (Member("a", (), 9.0, 1, 2.3e-66, "g", True), "p = 2.3e-66"),
            (Member("a", (), 1e5, 4, 0.0, "g", False), "p = 9e-21,711, unreliable"),
            (Member("a", (), 7.25, None, None, "sci", True), "7.2 bits"),
            (Member("a", None), "by request"),
        ],
    )
    def test_in_words(self, member: Member, text: str) -> None:
        assert show_strength(member) == text


def small(target: str, *members: Member) -> Blanket:
    return make_blanket(target=target, evidence=members)


class TestGraph:
    a_b = Member("b", (), 9.0, 1, 2.0**-10, "g", True)
    b_a = Member("a", ("c",), 8.0, None, None, "sci", True)
    a_c = Member("c", (), 9.0, 1, 2.0**-12, "g", True)
    a_d = Member("d", None)
    blankets = Blankets([small("b", b_a), small("a", a_b, a_c, a_d), small("c")])

    def test_both_must_name_each_other(self) -> None:
        graph = self.blankets.graph()
        assert set(map(frozenset, graph.edges)) == {frozenset("ab"), frozenset("ad")}
        assert graph.edges["a", "b"] == {
            "named_by": ["b", "a"],
            "mutual": True,
            "bits": 8.0,
            "witnesses": [["c"], []],
        }

    def test_one_is_enough(self) -> None:
        graph = self.blankets.graph("or")
        assert set(map(frozenset, graph.edges)) == set(map(frozenset, ("ab", "ac", "ad")))
        assert graph.edges["c", "a"]["named_by"] == ["a"]
        assert graph.edges["c", "a"]["bits"] == 12.0
        assert not graph.edges["c", "a"]["mutual"]

    @pytest.mark.parametrize("symmetry", ["and", "or"])
    def test_a_column_that_was_not_searched_has_no_opinion(self, symmetry: str) -> None:
        graph = self.blankets.graph(symmetry)
        assert graph.has_edge("a", "d")
        assert graph.edges["a", "d"]["bits"] is None
        assert graph.edges["a", "d"]["witnesses"] == [None]
        assert dict(graph.nodes(data="searched")) == {"b": True, "a": True, "c": True, "d": False}

    def test_it_can_be_written_as_json(self) -> None:
        import networkx as nx

        record = nx.node_link_data(self.blankets.graph("or"), edges="edges")
        assert len(json.loads(json.dumps(record))["edges"]) == 3

    def test_other_symmetries_are_refused(self) -> None:
        with pytest.raises(ParameterError, match=r"'symmetry' must be 'and' or 'or'; got 'xor'"):
            self.blankets.graph("xor")

    def test_nothing(self) -> None:
        assert len(Blankets().graph()) == 0


def test_the_public_classes_are_these() -> None:
    assert komb.Blanket is Blanket
    assert komb.Blankets is Blankets
    assert komb.Member is Member
