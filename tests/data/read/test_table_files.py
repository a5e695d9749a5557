from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from komb.data.read.table_files import read_table
from komb.data.read.text import detect_delimiter
from komb.data.table import DiscreteTable
from komb.errors import (
    ContinuousColumnError,
    DataError,
    FileError,
    MissingValuesError,
    ParameterError,
    UnknownNameError,
)
from tests.optional import pandas as pd

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(content: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


# Names of tests show these bytes, so they must not tell the time.
EMPTY_ARCHIVE = gzip.compress(b"", mtime=0)
CUT_SHORT = gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-12]
EXPECTED = DiscreteTable.from_data({"a": [1, 2, 1], "b": ["x", "y", "y"]})


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,x\n2,y\n1,y\n",
        "a,b\n1,x\n2,y\n1,y",
        "a,b\r\n1,x\r\n2,y\r\n1,y\r\n",
        "a,b\r1,x\r2,y\r1,y\r",
        "\ufeffa,b\n1,x\n2,y\n1,y\n",
        "a\tb\n1\tx\n2\ty\n1\ty\n",
        "a;b\n1;x\n2;y\n1;y\n",
        "a|b\n1|x\n2|y\n1|y\n",
        "a b\n1 x\n2 y\n1 y\n",
        "  a   b\n  1   x\n  2   y  \n  1\t y\n",
        '"a","b"\n"1","x"\n"2","y"\n"1","y"\n',
        '"a" "b"\n1 "x"\n2 "y"\n1 "y"\n',
        "a, b\n 1, x\n 2, y\n 1, y\n",
        "\n\na,b\n\n1,x\n\n\n2,y\n1,y\n\n\n",
    ],
)
def test_delimited_text_of_many_kinds(write: Write, content: str) -> None:
    assert read_table(write(content)) == EXPECTED
    assert read_table(str(write(content, "table.anything"))) == EXPECTED
    assert read_table(write(gzip.compress(content.encode()), "table.csv.gz")) == EXPECTED


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pl.DataFrame({"a": [1, 2, 1], "b": ["x", "y", "y"]}).write_parquet(path)
    assert read_table(path) == EXPECTED
    assert read_table(path, columns=["b"]).names == ("b",)
    assert read_table(path.rename(tmp_path / "other")) == EXPECTED
    with pytest.raises(UnknownNameError, match=r"no column 'c'\. Known: 'a', 'b'"):
        read_table(tmp_path / "other", columns=["c"])


def test_other_delimiters(write: Write) -> None:
    path = write("a:b\n1:x\n2:y\n1:y\n")
    assert read_table(path, delimiter=":") == EXPECTED
    blanks = write("a  b\n1  x\n 2 y\n1\ty\n")
    assert read_table(blanks, delimiter=" ") == EXPECTED


def test_right_aligned_integers_without_header(write: Write) -> None:
    path = write("  3   0  10\n  2  11   1\n 13   0   1\n", "sample.txt")
    table = read_table(path, has_header=False)
    assert table.names == ("V1", "V2", "V3")
    assert table.levels == ((2, 3, 13), (0, 11), (1, 10))


def test_quoted_fields_may_hold_anything(write: Write) -> None:
    content = 'a,b\n"x,1",2\n"say ""hi""",3\n"two\nlines",2\n'
    table = read_table(write(content))
    assert table.column("a") == ["x,1", 'say "hi"', "two\nlines"]
    assert table.column("b") == [2, 3, 2]
    header = read_table(write('"a\nb","c,d"\n1,2\n'))
    assert header.names == ("a\nb", "c,d")


def test_a_single_column(write: Write) -> None:
    assert read_table(write("n\n1\n2\n")).levels == ((1, 2),)
    table = read_table(write("remark\nhello, you there\nbye\n"))
    assert table.column("remark") == ["hello, you there", "bye"]


def test_types_are_found_over_the_whole_file(write: Write) -> None:
    assert read_table(write("a,b\n" + "1,2\n" * 20_000 + "x,2\n")).levels == (("1", "x"), (2,))
    assert read_table(write("a\n" + "1\n" * 20_000 + "1.5\n")).levels == ((1.0, 1.5),)
    long = read_table(write("a,b\n99999999999999999999,1\n1,0.5\n"))
    assert tuple(map(str, long.levels[0])) == ("1", "99999999999999999999")
    assert long.levels[1] == (0.5, 1.0)
    assert read_table(write("a,b\ntrue,0.5\nfalse,0.25\n")).levels == ((False, True), (0.25, 0.5))
    assert read_table(write("a,b\n 0.5,1\n 0.25,1\n")).levels == ((0.25, 0.5), (1,))


def test_names_are_trimmed_and_made_up_where_empty(write: Write) -> None:
    assert read_table(write(",a , b\n0,1,2\n")).names == ("V1", "a", "b")


def test_columns_are_chosen_in_the_order_given(write: Write) -> None:
    path = write("a,b,c\n1,NA,3\n4,5,6\n")
    table = read_table(path, columns=["c", "a"])
    assert table.names == ("c", "a")
    assert table.column("c") == [3, 6]
    other = write("1,2\n3,4\n", "other.csv")
    assert read_table(other, has_header=False, columns=["V2"]).column("V2") == [2, 4]
    with pytest.raises(UnknownNameError, match="no column 'd'"):
        read_table(path, columns=["d"])
    with pytest.raises(DataError, match="distinct"):
        read_table(path, columns=["a", "a"])
    with pytest.raises(ParameterError, match=r"Pass a list of column names: columns=\['a'\]"):
        read_table(path, columns="a")


@pytest.mark.parametrize("marker", ["", "NA", "N/A", "NaN", "nan", "null", "NULL"])
@pytest.mark.parametrize("others", ["1,x", "z,x"])
def test_missing_values(write: Write, marker: str, others: str) -> None:
    path = write(f'a,b\n{others}\n{marker},y\n{others}\n {marker},y\n"{marker}",y\n')
    with pytest.raises(MissingValuesError, match=r"'a' \(3 missing, first in row 1\)") as caught:
        read_table(path, types="strict")
    assert str(caught.value).startswith(f"In {str(path)!r}: 'data' must")


def test_none_is_a_level(write: Write) -> None:
    assert read_table(write("a\nNone\nmild\n")).levels == (("None", "mild"),)


def test_a_blank_line_of_a_single_column_is_a_missing_value(write: Write) -> None:
    with pytest.raises(MissingValuesError, match="row 1"):
        read_table(write("a\n1\n\n2\n"), missing="error")


def test_continuous_columns_name_the_file(write: Write) -> None:
    with pytest.raises(ContinuousColumnError, match=r"In '.*table\.csv': Column 'a' looks"):
        read_table(write("a\n" + "".join(f"{i / 7}\n" for i in range(1, 50))), types="strict")


@pytest.mark.parametrize(
    ("content", "line", "found"),
    [
        ("a,b\n1,2\n3\n", 3, 1),
        ("a,b\n1,2\n3,4,5\n", 3, 3),
        ("a,b\n\n1,2\n\n3,4,5\n6\n", 5, 3),
        ("a,b\r\n1,2\r\n3\r\n4,5,6\r\n", 3, 1),
        ("a b c\n1 2 3\n 4   5\n", 3, 2),
        ('a,b\n"x,y",1\n"z",2,3\n', 3, 3),
        ("a\tb\n1\t2\n3\t4\t\n", 3, 3),
    ],
)
def test_ragged_lines(write: Write, content: str, line: int, found: int) -> None:
    with pytest.raises(FileError, match=f"; line {line} has {found}. Correct that line, or name"):
        read_table(write(content))


def test_lines_with_row_names(write: Write) -> None:
    with pytest.raises(FileError, match=r"line 2 has 3\. If lines start with row names"):
        read_table(write("a b\n1 2 3\n2 5 6\n"))


def test_a_wrong_delimiter(write: Write) -> None:
    with pytest.raises(FileError, match="split at tab; line 2 has 2"):
        read_table(write("a,b\n1\t2\n"), delimiter="\t")


@pytest.mark.parametrize("content", ["a,b\n", "a,b", '"a,b\n1,2"\n'])
def test_no_rows(write: Write, content: str) -> None:
    with pytest.raises(DataError, match=r"no rows below the header\. .*has rows of data") as caught:
        read_table(write(content))
    assert ("quotes are closed" in str(caught.value)) == ('"' in content)


def test_the_longest_name(write: Write) -> None:
    """Longer, it is no name: a quote or a line end is amiss."""
    assert read_table(write("a" * 10_000 + ",b\n1,2\n")).names == ("a" * 10_000, "b")
    message = r"name of column 2 must have at most 10,000 characters; got 10,001\. Check the line"
    with pytest.raises(DataError, match=message):
        read_table(write("b," + "a" * 10_001 + "\n1,2\n"))


def test_duplicate_names(write: Write) -> None:
    with pytest.raises(
        DataError, match=r"got 'a' \(2 times\)\. Rename or drop all but one of each\.$"
    ):
        read_table(write("a,a,b\n1,2,3\n"))
    with pytest.raises(DataError, match="If the file has no header, pass has_header=False"):
        read_table(write("1 1 0\n1 0 1\n"))


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", "é", 5])
def test_impossible_delimiters(write: Write, delimiter: Any) -> None:
    with pytest.raises(ParameterError, match="'delimiter' must be one character"):
        read_table(write("a,b\n1,2\n"), delimiter=delimiter)


def test_missing_files(write: Write, tmp_path: Path) -> None:
    write("a\n1\n", "Smokers.csv")
    with pytest.raises(FileError, match=r"no file '.*smokes\.csv'\. Did you mean 'Smokers\.csv'\?"):
        read_table(tmp_path / "smokes.csv")
    with pytest.raises(FileError, match="Check the name"):
        read_table(tmp_path / "x")
    with pytest.raises(FileError, match=r"the folder '.*nowhere' does not exist"):
        read_table(tmp_path / "nowhere" / "x.csv")


def test_a_folder_that_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is a folder, but no table on disk"):
        read_table(tmp_path)


@pytest.mark.parametrize("path", [5, None, b"x.csv", io.StringIO("a,b")])
def test_paths_of_the_wrong_type(path: Any) -> None:
    with pytest.raises(ParameterError, match=r"'path' must be the name of a file.*komb\.table"):
        read_table(path)


def test_a_file_that_may_not_be_read(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object, **__: object) -> IO[bytes]:
        raise PermissionError(13, "Permission denied")

    path = write("a\n1\n")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileError, match=r"Cannot read '.*': permission denied\. Name one file"):
        read_table(path)


def test_a_folder_whose_contents_are_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> list[Path]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(FileError, match=r"There is no file .* Check the name"):
        read_table(tmp_path / "x.csv")


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"", "x.csv", "is empty. Check how it was written"),
        (EMPTY_ARCHIVE, "x.csv.gz", "is empty"),
        (b"a,b\n\x00\x01", "x.csv", "it is binary .a zero byte on line 2"),
        (b"a,b\n1,\xe9\n", "x.csv", "line 2 has the byte 0xe9.*Save it as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "x.csv", "UTF-16; save it as UTF-8"),
        (b"PK\x03\x04rest", "x.xlsx", "a zip archive or an Excel workbook"),
        (b"BZh91", "x.csv.bz2", "bzip2; unpack it"),
        (b"\x1f\x8bgarbage", "x.csv", "damaged gzip"),
        (CUT_SHORT, "x.csv.gz", "damaged gzip.*Download the file again"),
        (b"a,b\n1,2\n", "x.csv.gz", "damaged gzip"),
        (b"a,b\n1,2\n", "x.parquet", "not a valid Parquet file.*text must not be named"),
        (b"PAR1garbage", "x", "not a valid Parquet file"),
        (b'a,"b"\n5" pipe,1\nx,2\n', "x.csv", "quote on line 2 is in the middle of a field"),
        (b'a,b\n"' + b"x" * 200_000 + b"\n", "x.csv", "quote on line 2 is never closed"),
        (b"x" * 20_000 + b"\n1\n", "x.csv", "must have at most 10,000 characters; got 20,000"),
    ],
)
def test_damaged_files(write: Write, content: bytes, name: str, message: str) -> None:
    limit = "1 TB"  # garbage may claim any size: what is free must not matter
    with pytest.raises((FileError, DataError), match=message):
        read_table(write(content, name), memory_limit=limit)


@pytest.mark.parametrize("cut", [4, 60, -40, -10])
def test_damaged_parquet(write: Write, cut: int) -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"a": range(100), "b": ["x", "y"] * 50}).write_parquet(buffer)
    whole = buffer.getvalue()
    with pytest.raises(FileError, match="not a valid Parquet file"):
        read_table(write(whole[:cut] + whole[-8:], "x.parquet"))


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        (b"a,b\n1,2", ","),
        (b"a;b\n1,5;2", ";"),
        (b"a b,c\n1 2 3,4", ","),
        (b"a\tb c\n1\t2", "\t"),
        (b'"a,b"|c\n1|2', "|"),
        (b"1 2\n 3   4", " "),
        (b"a,b\n1,2\n3\n", ","),
        (b"name\nvery high\nlow", "\x1f"),
        (b"n\n1", "\x1f"),
        (b"\n \n", "\x1f"),
        (b"a\tb\n1\t2\n3\t4\t\n", "\t"),
        (b"a;b\n" + b"1;2\n" * 30_000 + b"1;2,3,4\n", ";"),
    ],
)
def test_detected_delimiters(content: bytes, delimiter: str) -> None:
    assert detect_delimiter(content) == delimiter


@settings(deadline=None)
@given(st.data())
def test_what_pandas_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    n_rows = data.draw(st.integers(1, 6))
    text = st.text('abc,;"\n |é', min_size=1).map(lambda s: f"x{s}x")
    columns = {
        "n": data.draw(
            st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n_rows, max_size=n_rows)
        ),
        "s, s": data.draw(st.lists(text, min_size=n_rows, max_size=n_rows)),
        "b": data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)),
    }
    path = tmp_path_factory.mktemp("round") / "table.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    assert read_table(path, delimiter=",") == DiscreteTable.from_data(columns)


def test_a_large_file_is_read_back(tmp_path: Path) -> None:
    codes = np.random.default_rng(0).integers(0, 4, (20_000, 5))
    path = tmp_path / "large.txt"
    np.savetxt(path, codes, "%5d", " ")
    table = read_table(path, has_header=False)
    assert np.array_equal(table.codes.T, codes)


def test_numerals_with_leading_zeros_are_codes(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("zip,n,x\n007,1,0\n7,2,10\n007,3,0\n")
    table = read_table(path)
    assert table.levels == (("007", "7"), (1, 2, 3), (0, 10))
    path.write_text('n\tquoted\n1\t"01"\n2\t"1"\n')
    assert read_table(path).levels == ((1, 2), ("01", "1"))
