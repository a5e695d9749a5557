"""What every result can do: come back from records, leave as frames, be copied, print safely."""

from __future__ import annotations

import copy
import csv
import json
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, is_dataclass, replace
from typing import Any

import pytest

import komb
from komb.errors import ParameterError
from komb.results.comparison import Comparison
from komb.results.export import Result
from komb.results.member import Member, Remarks
from komb.search.task import Leak
from tests.describe.small_tables import CHAIN
from tests.results.blankets import make_blanket
from tests.results.comparisons import KOMB, make_comparison

PARITY = komb.boolean_table("parity", 500, n_parents=2)
BLANKET = komb.markov_blanket(PARITY, "Y")
EXPLANATION = komb.markov_blanket(CHAIN, "Y", method="komb").explain()

RESULTS: dict[str, Result] = {
    "blanket": make_blanket(),
    "blankets": komb.Blankets([make_blanket(), make_blanket(target="dead", evidence=())]),
    "comparison": make_comparison(),
    "comparison without truth": make_comparison(truth=None),
    "effects": BLANKET.effects,
    "explanation": EXPLANATION,
    "interaction": komb.interactions(PARITY, "Y")[0],
    "interactions": komb.interactions(PARITY, "Y"),
    "path": komb.blanket_path(PARITY, "Y", orders=[1], max_separators=[1]),
    "ranking": BLANKET.ranking(),
    "roles": BLANKET.roles(),
    "stability": BLANKET.stability(2),
}
every_result = pytest.mark.parametrize("result", RESULTS.values(), ids=list(RESULTS))
every_record = pytest.mark.parametrize(
    "result",
    [r for r in RESULTS.values() if hasattr(r, "from_dict")],
    ids=repr,
)


@every_record
def test_it_comes_back_from_a_record_and_from_json(result: Any) -> None:
    cls = type(result)
    assert cls.from_dict(result.to_dict()) == result
    assert cls.from_dict(json.loads(result.to_json(indent=2))) == result
    with pytest.raises(ParameterError, match=r"json\.loads|'record' must be"):
        cls.from_dict({"target": "Y"} if is_dataclass(cls) else {"ill": "Y"})


@every_result
@pytest.mark.parametrize(
    "clone", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_it_can_be_copied_and_pickled(result: Result, clone: Callable[[Any], Any]) -> None:
    assert clone(result) == result
    assert str(clone(result).to_dict()) == str(result.to_dict())


@every_result
def test_it_is_frozen(result: Any) -> None:
    if is_dataclass(type(result)):
        with pytest.raises(FrozenInstanceError):
            result.target = "x"


@every_result
def test_frames_and_csv_have_the_same_rows(result: Result) -> None:
    by_polars, by_pandas = result.to_frame("polars"), result.to_frame("pandas")
    head, *rows = csv.reader(result.to_csv().splitlines())
    assert head == by_polars.columns == list(by_pandas.columns)
    assert len(rows) == len(by_polars) == len(by_pandas) > 0
    assert "Null" not in map(str, by_polars.dtypes)


HALL = replace(EXPLANATION.reasons[0], name="<b>[red]", text="<script>[/]")
HOSTILE: dict[str, Result] = {
    "blanket": make_blanket(target="<b>[red]", evidence=(Member("<script>", ("[/]",)),)),
    "comparison": Comparison("<b>", {"[red]": make_blanket(), "<i>": KOMB}, ("[/]", "<script>")),
    "explanation": replace(EXPLANATION, target="[red]<b>", reasons=(HALL,)),
    "remarks": make_blanket(remarks=Remarks(leaks=(Leak("<b>[red]", 1.0),))),
}


@pytest.mark.parametrize("result", HOSTILE.values(), ids=list(HOSTILE))
def test_names_are_neither_tags_nor_styles(result: Result) -> None:
    from rich.console import Console

    html = result._repr_html_()
    assert not [tag for tag in ("<script>", "<b>", "<i>") if tag in html]
    assert "&lt;b&gt;" in html
    console = Console(width=300)
    with console.capture() as capture:
        console.print(result)
    assert "[red]" in capture.get()
