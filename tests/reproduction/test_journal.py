"""Records and the journal: what is written down stays, whatever happens."""

from __future__ import annotations

import errno
import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from komb.errors import FileError, ParameterError
from komb.reproduction.journal import Journal, Record, score_fields

RECORD = Record(
    "benchmark", "Alarm1", 5000, 1, "V1", "komb", "iamb", 2, 3, "g-sci", "observed", 0.01,
    ("V2", "V3"), ("V3", "V4"), **score_fields(["V2", "V3"], ["V3", "V4"]), tests=9, seconds=0.5,
)  # fmt: skip
OTHER = replace(RECORD, target="V2", order=None, max_separator=None, method="gs", start="")


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def write(folder: Path, *records: Record) -> Path:
    """Have one process write records; returns its file."""
    known = set(parts(folder))
    with Journal(folder) as journal:
        for record in records:
            journal.append(record)
    return next(part for part in parts(folder) if part not in known)


class TestRecord:
    def test_there_and_back(self) -> None:
        for record in (RECORD, OTHER):
            assert Record.from_dict(json.loads(json.dumps(record.to_dict()))) == record

    def test_the_key_tells_cells_apart_but_not_results(self) -> None:
        assert replace(RECORD, seconds=9.0, blanket=(), f1=0.0).key == RECORD.key
        changes: dict[str, Any] = {
            "suite": "runtime", "dataset": "x", "n_rows": 1, "sample": 2, "target": "x",
            "method": "gs", "start": "", "order": 1, "max_separator": 1, "test": "g",
            "df": "adjusted",
        }  # fmt: skip
        assert len(changes) == len(RECORD.key)
        for name, value in changes.items():
            assert replace(RECORD, **{name: value}).key != RECORD.key

    def test_a_dictionary_that_is_no_record(self) -> None:
        with pytest.raises(ParameterError, match="got one without 'suite'"):
            Record.from_dict({"dataset": "or"})

    def test_scores(self) -> None:
        score = score_fields(["a", "b"], ["b", "c", "d", "e"])
        assert (score["precision"], score["recall"]) == (0.5, 0.25)
        assert score["f1"] == pytest.approx(1 / 3)
        assert score["distance"] == pytest.approx(math.sqrt(0.5**2 + 0.75**2))

    def test_what_timed_out_has_found_nothing(self) -> None:
        score = score_fields(["a"], ["a"], timed_out=True)
        assert score == {"precision": 0, "recall": 0, "f1": 0, "distance": math.sqrt(2)}


class TestJournal:
    def test_there_and_back(self, tmp_path: Path) -> None:
        write(tmp_path, RECORD, OTHER)
        assert Journal(tmp_path).records == [RECORD, OTHER]

    def test_nothing_is_there_at_first(self, tmp_path: Path) -> None:
        journal = Journal(tmp_path / "none")
        assert not journal.exists
        assert journal.records == []
        assert not (tmp_path / "none").exists()

    def test_a_record_is_known_at_once(self, tmp_path: Path) -> None:
        with Journal(tmp_path) as journal:
            assert journal.records == []
            journal.append(RECORD)
            assert journal.records == [RECORD]
            assert Journal(tmp_path).records == [RECORD]  # to others too

    def test_each_process_has_a_file_of_its_own(self, tmp_path: Path) -> None:
        first, second = write(tmp_path, RECORD), write(tmp_path, OTHER)
        assert first != second
        assert sorted(r.target for r in Journal(tmp_path).records) == ["V1", "V2"]

    def test_a_cell_that_was_finished_twice_counts_once(self, tmp_path: Path) -> None:
        write(tmp_path, RECORD)
        write(tmp_path, RECORD)
        assert Journal(tmp_path).records == [RECORD]

    def test_half_a_line_at_the_end_is_skipped(self, tmp_path: Path) -> None:
        part = write(tmp_path, RECORD, OTHER)
        content = part.read_bytes()
        last = content.rstrip(b"\n").rindex(b"\n") + 1
        for length in range(last, len(content) - 1):
            part.write_bytes(content[:length])
            assert Journal(tmp_path).records == [RECORD]

    def test_a_line_that_lacks_its_end_only_is_whole(self, tmp_path: Path) -> None:
        part = write(tmp_path, RECORD)
        part.write_bytes(part.read_bytes().rstrip(b"\n"))
        assert Journal(tmp_path).records == [RECORD]

    def test_nothing_is_added_to_a_file_with_half_a_line(self, tmp_path: Path) -> None:
        part = write(tmp_path, RECORD)
        part.write_bytes(part.read_bytes()[:-20])
        write(tmp_path, RECORD)
        assert Journal(tmp_path).records == [RECORD]

    @pytest.mark.parametrize("line", ["{half", "[1]", '{"suite": "benchmark"}', "", "\xff"])
    def test_a_bad_line_elsewhere_is_an_error(self, tmp_path: Path, line: str) -> None:
        part = write(tmp_path, RECORD, OTHER)
        first, second = part.read_bytes().splitlines(keepends=True)
        part.write_bytes(first + line.encode("latin-1") + b"\n" + second)
        with pytest.raises(FileError, match=r"Line 2 of '.*' is not a record.*remove the line"):
            Journal(tmp_path).records  # noqa: B018

    def test_a_full_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with Journal(tmp_path) as journal:
            journal.append(RECORD)
            with monkeypatch.context() as patch:
                whole = os.write
                patch.setattr(os, "write", lambda part, line: whole(part, line[:10]))
                with pytest.raises(FileError, match=r"no space left on device. Free disk"):
                    journal.append(OTHER)
            journal.append(OTHER)  # there is room again
        assert len(parts(tmp_path)) == 2
        assert sorted(r.target for r in Journal(tmp_path).records) == ["V1", "V2"]

    def test_a_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(FileError, match=os.strerror(errno.ENOTDIR).lower()):
            Journal(tmp_path / "file" / "journal").append(RECORD)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_rows", "many"),
        ("n_rows", True),
        ("order", 1.5),
        ("blanket", "abc"),
        ("blanket", [1, 2]),
        ("truth", None),
        ("seconds", "long"),
        ("target", 3),
        ("timed_out", 1),
        ("sample", [1]),
    ],
)
def test_a_value_of_the_wrong_type(tmp_path: Path, name: str, value: object) -> None:
    good = RECORD.to_dict()
    lines = [json.dumps(good | {name: value}), json.dumps(good), ""]
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    with pytest.raises(FileError, match=r"Line 1 of .* is not a record"):
        _ = Journal(tmp_path).records


def test_a_line_that_is_too_deep(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("[" * 100_000 + "\n{}\n")
    with pytest.raises(FileError, match=r"Line 1 of .* is not a record"):
        _ = Journal(tmp_path).records
