"""Background knowledge: what it holds, what contradicts itself, and where it is read from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from komb.data.knowledge import ColumnKnowledge, Knowledge
from komb.errors import FileError, ParameterError, UnknownNameError

CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"tiers": [["a"], ["b", "a"]]}, r"two tiers; got 'a' in tiers 1 and 2"),
    ({"tiers": [["a", "a"]]}, r"two tiers; got 'a' twice"),
    ({"required": [("a", "b")], "forbidden": [("b", "a")]}, r"what it forbids; got 'a' -> 'b'"),
    ({"tiers": [["a"], ["b"]], "required": [("b", "a")]}, r"'b' -> 'a', tier 2 before tier 1"),
    ({"required": [("a", "b"), ("b", "a")]}, r"circle; got 'a' -> 'b' -> 'a'"),
    (
        {"required": [("x", "a"), ("a", "b"), ("b", "c"), ("c", "a")]},
        r"circle; got 'a' -> 'b' -> 'c' -> 'a'",
    ),
    ({"tiers": ["ab"]}, r"lists of columns as tiers.*got 'ab'"),
    ({"tiers": 3}, r"lists of columns as tiers.*got 3"),
    ({"forbidden": [("a", "a")]}, r"pairs of two columns as forbidden"),
    ({"required": [("a", "b", "c")]}, r"pairs of two columns as required"),
]


@pytest.mark.parametrize(("said", "message"), CONTRADICTIONS)
def test_contradictions(said: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Knowledge(**said)


def test_required_pairs_that_meet_again_are_no_circle() -> None:
    pairs = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")]
    assert Knowledge(required=pairs).required == tuple(pairs)


def test_it_is_frozen_and_comes_back(tmp_path: Path) -> None:
    tiers: list[list[Any]] = [["a"], ["b", 3]]
    known = Knowledge(iter(tiers), [("a", "b")], [("b", 3)])
    assert Knowledge.of(known.to_dict()) == known
    assert hash(known) == hash(Knowledge.of(known))
    file = tmp_path / "known.toml"
    file.write_text('tiers = [["a"], ["b"]]\nforbidden = [["a", "b"]]\n', "utf-8")
    assert Knowledge.from_file(file) == Knowledge([["a"], ["b"]], [("a", "b")])


def test_bad_files(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text("tiers = [", "utf-8")
    with pytest.raises(FileError, match="is not a TOML file"):
        Knowledge.from_file(file)
    file.write_text("tier = []", "utf-8")
    with pytest.raises(UnknownNameError, match="Did you mean 'tiers'"):
        Knowledge.from_file(file)
    with pytest.raises(FileError, match="There is no file"):
        Knowledge.from_file(tmp_path / "none.toml")


def test_positions() -> None:
    known = Knowledge([["a"], ["b"], ["gone"]], [("a", "c")], [("a", "b")])
    columns = known.in_columns(["c", "b", "a"], also=["gone"])
    assert columns == ColumnKnowledge(
        (None, 1, 0), frozenset({frozenset({0, 2})}), frozenset({frozenset({1, 2})})
    )
    assert columns.required_of(1) == {2}
    assert columns.required_of(0) == frozenset()
    with pytest.raises(UnknownNameError, match="In 'knowledge': There is no column 'gone'"):
        known.in_columns(["a", "b", "c"])


def test_what_is_later() -> None:
    columns = ColumnKnowledge((0, 1, 1, 2, None))
    assert columns.later_than(0, 0) == {1, 2, 3}
    assert columns.later_than(0, 2) == {3}
    assert columns.later_than(0, 4) == frozenset()
    assert columns.moved({0: 1, 3: 0}, 2).tiers == (2, 0)
