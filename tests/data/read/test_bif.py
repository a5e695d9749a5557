from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from komb.data.models.bayesian_network import DiscreteNetwork
from komb.data.read.bif import read_bif
from komb.errors import FileError, ParameterError

DOG = """
// a comment with { braces } and "quotes
network "dog problem" {
  property author = "nobody; really";
  property "version 1";
}
variable family-out { /* two
  lines */
  type discrete [ 2 ] { true, false };
  property position = (1, 2) ;
}
variable "bowel problem" { type discrete[2] { "very, bad" "<=5.0" }; }
variable table { type discrete [ 3 ] { low, mid-way, default }; }
probability ( family-out ) { table 0.15, 0.85; property "x"; }
probability ( "bowel problem" ) { table 0.01 0.99; }
probability ( table | family-out, "bowel problem" ) {
  (false, "<=5.0") 0.1, 0.2, 0.7;
  (true, "very, bad") 1.0, 0, 0; // another comment
  (false, "very, bad") 1e-1, 2e-1, 7e-1;
  (true, "<=5.0") 0.3, 0.3, 0.4;
}
"""


def test_names_levels_comments_and_properties() -> None:
    network = read_bif(DOG)
    assert network.names == ("family-out", "bowel problem", "table")
    assert network.levels("bowel problem") == ("very, bad", "<=5.0")
    assert network.levels("table") == ("low", "mid-way", "default")
    assert network.parents("table") == ("family-out", "bowel problem")
    assert network.table("family-out").tolist() == [0.15, 0.85]
    expected = [[[1.0, 0.0, 0.0], [0.3, 0.3, 0.4]], [[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]]]
    assert np.allclose(network.table("table"), expected)


@pytest.mark.parametrize("name", ["dog.bif", "dog.bif.gz"])
def test_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(DOG.encode()) if name.endswith("gz") else DOG.encode())
    for source in (path, str(path)):
        assert read_bif(source).names == read_bif(DOG).names


PAIR = """variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 3 ] { 1, 2, 3 }; }
probability ( a ) { table 0.5, 0.5; }
"""


def test_a_whole_table_lists_the_first_level_first() -> None:
    network = read_bif(PAIR + "probability ( b | a ) { table 0.1, 0.2, 0.3, 0.3, 0.6, 0.5; }")
    assert np.allclose(network.table("b"), [[0.1, 0.3, 0.6], [0.2, 0.3, 0.5]])


def test_the_bar_may_be_left_out() -> None:
    network = read_bif(PAIR + 'probability ( "b" "a" ) { table 0.1 0.2 0.3 0.3 0.6 0.5; }')
    assert network.parents("b") == ("a",)


def test_defaults_fill_what_is_not_given_wherever_they_stand() -> None:
    network = read_bif(PAIR + "probability (b|a) { (y) 0, 0, 1; default 0.2, 0.3, 0.5; }")
    assert np.allclose(network.table("b"), [[0.2, 0.3, 0.5], [0.0, 0.0, 1.0]])


def test_rounded_rows_are_divided_by_their_sum() -> None:
    network = read_bif(PAIR + "probability (b|a) { (y) 0.333, 0.333, 0.333; (x) 1, 0, 0; }")
    assert network.table("b")[1].tolist() == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("nonsense { }", "near line 4, expected 'network', 'variable' or 'probability'"),
        ("variable c { type continuous; }", "line 4, expected 'type discrete .* of 'c'"),
        (
            "variable c { type discrete [ 2 ] { x }; }",
            r"'c' must have 2 different levels; got \['x'\]",
        ),
        ("variable c { type discrete [ 2 ] { x, x }; }", "'c' must have 2 different levels"),
        ("variable a { type discrete [ 2 ] { x, y }; }", "there is a second variable 'a'"),
        ("probability ( a ) { table 1, 0; }", "there are probabilities of 'a' already"),
        ("variable c { type discrete [ 1 ] { x }; ", "closing brace of 'variable c'"),
        ("probability ( d ) { table 1; }", "there is no variable 'd' before this"),
        ("probability ( ) { table 1; }", "there is no variable '' before this"),
        ("probability ( b | d ) { }", "there is no variable 'd' before this"),
        ("", "there are no probabilities of 'b'"),
        ("probability ( b ) { table 0.5, 0.5; }", "expected 3 probabilities; got 2"),
        ("probability ( b | a ) { table 0.5, 0.5, 0; }", "expected 6 probabilities; got 3"),
        ("probability ( b | a ) {\n (x) 1, 0; }", "near line 5, expected 3 prob.*; got 2"),
        ("probability ( b | a ) { (z) 1, 0, 0; }", r"no level 'z' among \['x', 'y'\]"),
        ("probability ( b | a ) { (x, y) 1, 0, 0; }", "expected 1 states of the parents"),
        ("probability ( b | a ) { (x) 1, 0, 0; }", "1 rows of the table of 'b' are missing"),
        ("probability ( b ) { table 1, oops, 0; }", "expected probabilities; got '1, oops, 0'"),
        ("probability ( b ) { table 0.5, 0.5, 0.5; }", "of 'b' sum to 1.5, not 1"),
        ("probability ( b ) { table 1.5, -0.5, 0; }", "of 'b' are negative"),
        ("probability ( b ) { table nan, 0.5, 0.5; }", "are missing"),
        ("probability ( b ) { what }", r"expected 'table', 'default' or '\(' in the"),
        ("network x { what }", "closing brace of 'network x'"),
    ],
)
def test_errors_name_the_line(rest: str, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        read_bif(PAIR + rest)
    assert str(caught.value).startswith("Cannot read the text as BIF: near line")


def test_nothing_to_read() -> None:
    with pytest.raises(FileError, match="there are no variables"):
        read_bif("network empty { }")


def test_cycles() -> None:
    variables = PAIR[: PAIR.index("probability")]
    a_from_b = "probability (a|b) { default 0.5, 0.5; } probability (b|a) { default 1, 0, 0; }"
    with pytest.raises(FileError, match="Cannot use the text: 'parents' must have no cycle"):
        read_bif(variables + a_from_b)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "asia.bif").write_text(DOG)
    with pytest.raises(FileError, match=r"Did you mean 'asia\.bif'"):
        read_bif(tmp_path / "asai.bif")
    (tmp_path / "binary.bif").write_bytes(b"\0\1")
    with pytest.raises(FileError, match="it is binary"):
        read_bif(tmp_path / "binary.bif")
    (tmp_path / "table.bif").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match=r"Cannot read '.*table\.bif' as BIF: near line 1"):
        read_bif(tmp_path / "table.bif")
    with pytest.raises(ParameterError, match="'path' must be the name of a file"):
        read_bif(5)  # type: ignore[arg-type]


def write_bif(network: DiscreteNetwork) -> str:
    lines = []
    for name in network.names:
        levels = network.levels(name)
        shown = ", ".join(f"s{level}" for level in levels)
        lines.append(f"variable {name} {{ type discrete [ {len(levels)} ] {{ {shown} }}; }}")
    for name in network.names:
        table, above = network.table(name), network.parents(name)
        lines.append(f"probability ( {name} | {', '.join(above)} ) {{")
        for case in np.ndindex(table.shape[:-1]):
            states = ", ".join(f"s{state}" for state in case)
            head = f"({states})" if above else "table"
            lines.append(f"  {head} {', '.join(map(repr, table[case].tolist()))};")
        lines.append("}")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(5))
def test_networks_survive_a_round_trip(seed: int) -> None:
    network = DiscreteNetwork.random(12, degree=3, cardinality=(2, 4), seed=seed)
    again = read_bif(write_bif(network))
    assert again.names == network.names
    for name in network.names:
        assert again.parents(name) == network.parents(name)
        assert np.allclose(again.table(name), network.table(name), atol=1e-15)
