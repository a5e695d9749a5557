"""What quotes mean does not depend on who reads them, nor does it take long to find out."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.read import text
from komb.data.read.table_files import read_frame, read_table
from komb.data.read.text import find_quoting
from komb.data.table import DiscreteTable
from komb.errors import FileError, InputError

FILE = Path("x")
FIELDS = st.text('ab",\n ', max_size=4)
TABLES = st.lists(st.lists(FIELDS, min_size=2, max_size=2), min_size=1, max_size=6)


@pytest.fixture(params=[1, 3, 1 << 22], autouse=True)
def _chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the size of the pieces that are looked at."""
    monkeypatch.setattr(text, "_CHUNK", request.param)


def write(rows: list[list[str]], quoting: int = csv.QUOTE_ALL) -> bytes:
    text = io.StringIO()
    csv.writer(text, quoting=quoting, lineterminator="\n").writerows(rows)  # type: ignore[arg-type]
    return text.getvalue().encode()


@pytest.mark.parametrize("style", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
@given(rows=TABLES)
def test_what_is_written_properly_is_proper(style: int, rows: list[list[str]]) -> None:
    data = write(rows, style)
    assert find_quoting(data, b",", FILE) == ('"' if b'"' in data else None)


@given(st.text('a",\n', max_size=12).map(str.encode))
def test_any_text(data: bytes) -> None:
    """Either quotes are letters, or the csv module agrees on every field, or it is refused."""
    try:
        quote = find_quoting(data, b",", FILE)
    except FileError:
        return
    if quote is not None:
        strict = list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))
        lax = list(csv.reader(io.StringIO(data.decode(), newline="")))
        assert strict == lax


CELLS = st.text('ab",;\n 1', max_size=4).map(lambda cell: f"x{cell}x")


@pytest.mark.parametrize("style", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_lines_are_counted_as_the_csv_module_counts_them(
    style: int, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A line that is short or long is named; blank ones are left out."""
    n_fields = data.draw(st.integers(2, 3))
    row = st.lists(CELLS, min_size=n_fields, max_size=n_fields)
    odd = st.sampled_from([[], [], ["short"], ["long"] * (n_fields + 1), [""] * n_fields])
    rows = data.draw(st.lists(row | odd, min_size=2, max_size=8))
    header = [f"c{number}" for number in range(n_fields)]
    path = tmp_path_factory.mktemp("rows") / "x.csv"
    path.write_bytes(write([header, *rows], style))
    kept = [cells for cells in rows if cells]
    wrong = [cells for cells in kept if len(cells) != n_fields]
    if wrong:
        with pytest.raises(FileError, match=f" has {len(wrong[0])}\\. "):
            read_table(path, delimiter=",")
    elif kept and any(map(any, kept)):
        frame = read_frame(path, delimiter=",")
        known = [tuple(cell.strip() or None for cell in cells) for cells in kept]
        assert frame.rows() == known


@pytest.mark.parametrize(
    ("content", "names", "values"),
    [
        ('pipe 5",b,y\n1,2,3\n4,5,6\n', ('pipe 5"', "b", "y"), [1, 4]),
        ('a,b\n5" pipe,1\n6" pipe,2\n', ("a", "b"), ['5" pipe', '6" pipe']),
        ('a b\n5" 1\n6" 2\n', ("a", "b"), ['5"', '6"']),
        ('a,b\n"x ""1""\n2",1\ny,2\n', ("a", "b"), ['x "1"\n2', "y"]),
    ],
)
def test_tables(tmp_path: Path, content: str, names: tuple[str, ...], values: list[object]) -> None:
    path = tmp_path / "x.csv"
    path.write_text(content)
    table = read_table(path)
    assert table.names == names
    assert table.column(names[0]) == values


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('"a",b\n1,2\n5" pipe,3\n', "line 3 is in the middle of a field"),
        ('a,b\n1,"2\n3,4\n', "line 2 is never closed"),
        ('a,b\n"1" ,2\n', "line 2 is in the middle of a field"),
        ('a,b\n1,2\n"x"y,3\n', "line 3 is in the middle of a field"),
    ],
)
def test_what_is_ambiguous_is_refused_with_its_line(
    tmp_path: Path, content: str, line: str
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(content)
    with pytest.raises(FileError, match=f"a quote on {line}"):
        read_table(path)


@pytest.mark.parametrize("text", ["a,b\n1,2\n3\n4,5,", "a,b\n1,2\n3\n4,5,\n", "a,b\n\n,\n3\n"])
def test_a_short_line_is_found_whatever_makes_up_for_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=r"must have 2 fields .* has 1\."):
        read_table(path)


@pytest.mark.parametrize(
    "text", ["a,b\r1,x\r2,y\r", "a,b\r\n1,x\r2,y", "a,b\n\n1,x\n\r\n2,y\n\n\n"]
)
def test_line_ends_of_all_systems(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    assert read_frame(path).rows() == [(1, "x"), (2, "y")]


def test_text_that_is_not_utf_8_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for data in (b"a,\xef\n1,2\n", b"a,b\n1,2\n\xc3,2\n"):
        path.write_bytes(data)
        with pytest.raises(FileError, match="must be text in UTF-8; line"):
            read_table(path, columns=["a"], delimiter=",")


def read(path: Path) -> DiscreteTable | InputError:
    try:
        return read_table(path)
    except InputError as error:
        return error


@given(st.binary(max_size=60))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "x.csv"
    path.write_bytes(data)
    found = read(path)
    if isinstance(found, InputError):
        assert "x.csv" in str(found)
    else:
        assert 1 <= found.n_rows <= len(data.splitlines())
        assert read(path) == found
