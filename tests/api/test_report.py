"""The page about a column: whole, escaped, and about the right things."""

from __future__ import annotations

import base64
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import komb
from komb import cli
from komb.api.progress import Progress
from komb.api.report import Report
from komb.errors import FileError, Interrupted, ParameterError, UnknownNameError
from komb.views.report.page_file import check_page

XOR = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=2)
VOID = {"meta", "br", "img", "rect"}

EVIL = (
    "<script>alert('x')</script>",
    'quo"ted & <b>',
    "größe 身長",
    "l" * 200,
    "two\nlines\x00",
    "half \ud800",
    "]]> --> </style>",
)


class Reader(HTMLParser):
    """Checks that elements are nested, and keeps what is in them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def values(self, *names: str) -> list[str]:
        return [value for _, name, value in self.attributes if name in names]

    @property
    def text(self) -> str:
        return "".join(self.words)


def check_whole(page: str) -> Reader:
    """Check what holds for every page: it is well-formed and needs nothing else."""
    reader = Reader(page)
    ids = reader.values("id")
    assert len(ids) == len(set(ids))
    assert not reader.values("href")
    for source in reader.values("src"):
        start, _, content = source.partition("base64,")
        assert start == "data:image/svg+xml;"
        picture = base64.b64decode(content).decode("utf-8")
        assert "<script" not in picture
        assert not re.search(r'href="(?!#)', picture)
    assert page.count("<script") == 1
    assert not reader.tags & {"link", "iframe", "object", "base", "form"}
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    assert not re.search(r"@import|url\(|https?://", page.partition("</style>")[0])
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page
    return reader


def evil_data() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {name: rng.integers(0, 3, 400) for name in EVIL}
    columns[EVIL[3]] = np.where(np.arange(400) % 2, "<i>a</i>", '"b"')
    columns["<img src=x onerror=alert(1)>"] = [
        f"{a}<svg>" for a in columns[EVIL[0]] ^ (columns[EVIL[1]] > 1)
    ]
    return columns


class TestWholeness:
    def test_a_usual_page(self) -> None:
        page = komb.report(XOR, "Y").html
        reader = check_whole(page)
        for part in (
            "What matters for Y?",
            "2 of 4 other columns: X1, X2.",
            "depends on Y only given X2",
            "500 rows and 5 columns of 2 levels each.",
            "independent of Y",
            "What do other methods find?",
            "conditional-independence testauto",
            "the default; the largest separator needed has 0 columns",
            f"versionskomb {komb.__version__}, python 3.",
            "@inproceedings{lee2026komb",
        ):
            assert part in reader.text
        assert len(reader.values("src")) == 3

    def test_names_and_levels_are_escaped(self) -> None:
        data = evil_data()
        target = list(data)[-1]
        page = komb.report(data, target, alpha=0.05)
        reader = check_whole(page.html)
        assert {EVIL[0], EVIL[1]} <= set(page.blanket)
        for name in EVIL[:4]:
            assert name in reader.text
        assert "<i>a</i>: 200" in reader.text
        assert "<i>" not in page.html
        assert "onerror=" not in "".join(f"{tag} {name}=" for tag, name, _ in reader.attributes)

    def test_it_can_be_written_whatever_the_names(self, tmp_path: Path) -> None:
        file = tmp_path / "evil.html"
        page = komb.report(evil_data(), EVIL[0], file, methods=[], source="half \ud800.csv")
        assert "half &#55296;.csv" in file.read_text("utf-8")
        assert "half \ud800.csv" in page.html
        check_whole(file.read_text("utf-8"))

    def test_two_columns_and_nothing_found(self) -> None:
        data = {"a": [0, 1] * 50, "b": [0, 1, 1, 0] * 25}
        reader = check_whole(komb.report(data, "a").html)
        assert "No column was found that matters for a." in reader.text
        assert "No method found a member." in reader.text
        assert reader.values("src") == []

    def test_many_columns(self) -> None:
        table = komb.boolean_table("and", 200, n_parents=2, n_irrelevant=298)
        page = komb.report(table, "Y", order=0, methods=[]).html
        reader = check_whole(page)
        assert "301 columns of 2 levels each" in reader.text
        assert "E298" in reader.text

    def test_without_matplotlib(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        reader = check_whole(komb.report(XOR, "Y", methods=["gs"]).html)
        assert reader.values("src") == []
        assert reader.text.count("No picture: Plots need matplotlib") == 3


class TestContent:
    def test_untidy_data(self) -> None:
        rng = np.random.default_rng(5)
        age = rng.normal(50, 10, 240)
        data: dict[str, Any] = {
            "age": age,
            "pet": [None if i % 6 == 0 else "cat" if i % 2 else "dog" for i in range(240)],
            "id": list(range(240)),
            "same": ["x"] * 240,
            "old": (age > 50).astype(int),
            "left": rng.random(240),
        }
        options: dict[str, Any] = {"discretize": {"age": [40.0, 50.0]}, "missing": "level"}
        options["types"] = "strict"
        table = komb.table(data, exclude=["left"], **options)
        page = komb.report(table, "old", methods=[])
        text = check_whole(page.html).text
        for part in (
            "40 missing values in 1 column, a level of their own.",
            "1 column of numbers cut into bins",
            "cut at 40, 50",
            "Constant, and so of no use: same.",
            "Excluded by request: left.",
            "ididentifier?",
            "the 24 most frequent of 240 levels",
            "missing: 40",
            "numeric columns cut byage: 40.0, 50.0",
        ):
            assert part.replace("ididentifier", "id identifier") in text
        assert "left" not in page.blanket

    def test_missing_values_left_out_of_tests(self) -> None:
        data = {"a": [0, 1, None, 1] * 30, "b": [0, 1, 1, None] * 30, "c": [0, 1, 1, 1] * 30}
        text = check_whole(komb.report(data, "c").html).text
        assert "60 missing values in 2 columns, left out of the tests they concern." in text
        assert "0: 30, 1: 60, missing: 30" in text

    def test_options_arrive(self) -> None:
        options: dict[str, Any] = {
            "order": 2, "max_separator": 3, "alpha": 0.05, "test": "g", "df": "adjusted",
            "include": ["E1"], "start": iter(["X1"]),
        }  # fmt: skip
        page = komb.report(XOR, "Y", methods=["iamb"], **options)
        expected = komb.markov_blanket(XOR, "Y", **options | {"start": ["X1"]})
        assert page.blanket == expected
        assert page.comparison is not None
        assert list(page.comparison.blankets) == ["iamb", "auto"]
        assert all("E1" in found for found in page.comparison.blankets.values())
        assert str(page.explanation) == str(expected.explain())

    def test_the_page_is_about_the_call_and_others_run_as_by_themselves(self) -> None:
        page = komb.report(XOR, "Y", methods=["gs", "komb"])
        assert page.blanket == komb.markov_blanket(XOR, "Y")
        assert page.comparison is not None
        found = page.comparison.blankets
        assert found["auto"] == page.blanket
        assert [found[name].parameters["alpha"] for name in ("gs", "komb")] == [0.01, 0.01]

    def test_another_method(self) -> None:
        page = komb.report(XOR, "Y", method="pcmb", max_conditioning=2, methods=[])
        assert page.comparison is None
        assert page.blanket == komb.markov_blanket(XOR, "Y", method="pcmb", max_conditioning=2)
        assert "What do other methods find?" not in page.html

    def test_progress_and_interruption(self, tmp_path: Path) -> None:
        seen: list[Progress] = []
        komb.report(XOR, "Y", methods=["gs"], progress=seen.append)
        assert {progress.phase.split()[0].rstrip(":") for progress in seen} >= {"gs", "auto"}

        def stop(progress: Progress) -> None:
            raise KeyboardInterrupt

        with pytest.raises(Interrupted):
            komb.report(XOR, "Y", tmp_path / "a.html", progress=stop)
        assert list(tmp_path.iterdir()) == []


class TestFiles:
    def test_an_older_page_is_replaced(self, tmp_path: Path) -> None:
        file = tmp_path / "a.html"
        file.write_text("old")
        page = komb.report(XOR, "Y", file, methods=[])
        assert file.read_text("utf-8") == page.html
        assert page.save(tmp_path / "b.HTM").read_text("utf-8") == page.html
        assert len(list(tmp_path.iterdir())) == 2

    @pytest.mark.parametrize(
        ("name", "kind", "parts"),
        [
            ("a.csv", ParameterError, ["'path' must be the name of an HTML file", "ends in .html"]),
            ("page", ParameterError, ["'path'", "ends in .html"]),
            ("no/a.html", FileError, ["no folder", "Make it first"]),
            ("", FileError, ["it is a folder", "Name a file in it"]),
        ],
    )
    def test_where_it_cannot_go(
        self,
        name: str,
        kind: type[Exception],
        parts: list[str],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("komb.api.report.compare", lambda *_, **__: pytest.fail("ran"))
        with pytest.raises(kind) as caught:
            komb.report(XOR, "Y", tmp_path / name)
        for part in parts:
            assert part in str(caught.value)

    def test_where_one_may_not_write(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("os.access", lambda *_: False)
        with pytest.raises(FileError, match="permission denied"):
            check_page(tmp_path / "a.html")

    def test_a_disk_that_fails_leaves_the_old_page(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "a.html"
        file.write_text("old")

        def fail(*_: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.replace", fail)
        with pytest.raises(FileError, match="no space left on device"):
            komb.report(XOR, "Y", file, methods=[])
        assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.html", "old")]

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"target": "y"}, "no column 'y'"),
            ({"method": "kmb"}, "no method 'kmb'"),
            ({"method": ["iamb"]}, r"no method \['iamb'\]\. Did you mean 'iamb'"),
            ({"method": ["iamb"], "methods": []}, r"no method \['iamb'\]\. Did you mean 'iamb'"),
            ({"methods": ["kmb"]}, "no method 'kmb'"),
            ({"methods": [["iamb"]]}, r"no method \['iamb'\]\. Did you mean 'iamb'"),
            ({"methods": "komb"}, "'methods' must be a list"),
            ({"alpha": 2}, "'alpha' must be"),
            ({"reading": {}}, "no option 'reading'"),
            ({"n_jobs": 2}, "no option 'n_jobs'"),
        ],
    )
    def test_bad_parameters(self, changes: dict[str, Any], message: str) -> None:
        with pytest.raises((ParameterError, UnknownNameError), match=message):
            komb.report(XOR, **{"target": "Y", **changes})


class TestCommand:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "xor.csv"
        rows = zip(*(XOR.column(name) for name in XOR.names), strict=True)
        lines = [",".join(map(str, XOR.names)), *(",".join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines))
        return path

    def run(self, capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            cli.main(["report", *map(str, arguments)])
        printed = capsys.readouterr()
        assert isinstance(caught.value.code, int)
        return caught.value.code, printed.out, printed.err

    def test_it_writes_the_page(self, capsys: pytest.CaptureFixture[str], file: Path) -> None:
        out = file.with_name("report.html")
        options = ("-k", 2, "--include", "E1", "--methods", "gs,iamb")
        code, printed, err = self.run(capsys, file, "-t", "Y", "-o", out, *options)
        assert (code, err) == (0, "")
        assert printed == f"Markov blanket of Y: X1, X2, E1\nReport: {out}\n"
        text = check_whole(out.read_text("utf-8")).text
        assert str(file) in text

    @pytest.mark.parametrize(
        ("options", "parts"),
        [
            ("-o a.html", ["Missing option '--target'"]),
            ("-t Y", ["Missing option '--out'"]),
            ("-t Y -o a.txt", ["'--out' must be the name of an HTML file", "ends in .html"]),
            ("-t Y -o no/such/a.html", ["no folder 'no/such'", "Make it first"]),
            ("-t y -o a.html", ["no column 'y'", "Did you mean 'Y'"]),
            ("-t Y -o a.html --methods gs --no-comparison", ["'--methods' and '--no-comparison'"]),
            ("-t Y -o a.html --methods kmb", ["no method 'kmb'"]),
        ],
    )
    def test_bad_input(
        self,
        capsys: pytest.CaptureFixture[str],
        file: Path,
        monkeypatch: pytest.MonkeyPatch,
        options: str,
        parts: list[str],
    ) -> None:
        monkeypatch.chdir(file.parent)
        code, out, err = self.run(capsys, file, *options.split())
        assert (code, out) == (2, "")
        assert err.startswith("Error: ")
        for part in parts:
            assert part in err
        assert [path.name for path in file.parent.iterdir()] == ["xor.csv"]


def test_it_says_what_it_is() -> None:
    page = komb.report(XOR, "Y", methods=[])
    assert isinstance(page, Report)
    assert repr(page) == "Report('Y': 2 members)"
