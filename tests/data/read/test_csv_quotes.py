"""What quotes mean does not depend on who reads them, nor does it take long to find out."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from komb.data.read import csv_layout, csv_quotes
from komb.data.read.csv_layout import count_lines, drop_blank_lines, find_odd_line, squeeze
from komb.data.read.csv_quotes import find_quoting
from komb.data.read.table_files import read_table
from komb.data.table import DiscreteTable
from komb.errors import FileError, InputError

FIELDS = st.text('ab",\n ', max_size=4)
TABLES = st.lists(st.lists(FIELDS, min_size=2, max_size=2), min_size=1, max_size=6)


@pytest.fixture(params=[1, 3, 1 << 22], autouse=True)
def _chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the size of the pieces that are looked at."""
    monkeypatch.setattr(csv_quotes, "_CHUNK", request.param)


def write(rows: list[list[str]], quoting: int = csv.QUOTE_ALL) -> bytes:
    text = io.StringIO()
    csv.writer(text, quoting=quoting, lineterminator="\n").writerows(rows)  # type: ignore[arg-type]
    return text.getvalue().encode()


@pytest.mark.parametrize("style", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
@given(rows=TABLES)
def test_what_is_written_properly_is_proper(style: int, rows: list[list[str]]) -> None:
    data = write(rows, style)
    quote = find_quoting(data, b",", "x")
    assert quote == ('"' if b'"' in data else None)
    assert count_lines(data, quote) == len(rows)
    assert find_odd_line(data, ",", 2, quote) is None
    assert csv_layout.is_rectangular(data, ",", 2, quote)
    fields, start = csv_layout.first_record(data, ",", quote)
    if data[:1] != b"\n":
        assert fields == rows[0]
        assert data[start:] == write(rows[1:], style)


@given(st.text('a",\n', max_size=12).map(str.encode))
def test_any_text(data: bytes) -> None:
    """Either quotes are letters, or the csv module agrees on every field, or it is refused."""
    try:
        quote = find_quoting(data, b",", "x")
    except FileError:
        return
    if quote is not None:
        strict = list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))
        lax = list(csv.reader(io.StringIO(data.decode(), newline="")))
        assert strict == lax
        assert count_lines(data, quote) == len(lax) + (not data)


def by_hand(data: bytes) -> bytes:
    """Squeeze byte by byte."""
    lines: list[list[bytes]] = [[]]
    is_quoted = False
    for code in data:
        byte = bytes([code])
        is_quoted ^= byte == b'"'
        if byte == b"\n" and not is_quoted:
            lines.append([])
        elif byte in b" \t" and not is_quoted:
            if lines[-1] and lines[-1][-1] != b"blank":
                lines[-1].append(b"blank")
        else:
            lines[-1].append(byte)
    done = []
    for line in lines:
        if line and line[-1] == b"blank":
            line.pop()
        done.append(b"".join(b" " if byte == b"blank" else byte for byte in line))
    return b"\n".join(done)


@given(st.lists(st.sampled_from([" ", "\t", "\n", "a", '"b  \n c"']), max_size=12))
def test_squeezing(parts: list[str]) -> None:
    data = "".join(parts).encode()
    assert squeeze(data, '"') == by_hand(data)


@given(st.lists(st.sampled_from(["\n", "a", '"b\n\nc"']), max_size=12))
def test_blank_lines(parts: list[str]) -> None:
    found = drop_blank_lines("".join(parts).encode(), '"').decode()
    kept = [part for i, part in enumerate(parts) if part != "\n" or parts[i - 1 : i] != ["\n"]]
    assert found == "".join(kept)


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


def test_passes_over_a_text_do_not_grow_with_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quote that is never closed was looked for once more from every line."""
    looked_at = 0

    class Counting(bytes):
        def count(self, sub: bytes, start: int = 0, end: int = 1 << 62) -> int:  # type: ignore[override]
            nonlocal looked_at
            looked_at += min(end, len(self)) - start
            return super().count(sub, start, end)

    data = Counting(b'"' + b"a,b\n" * 5_000)
    assert csv_layout.end_of_record(data, 0, '"') == len(data)
    assert looked_at <= len(data)


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
