"""What a run leaves in its folder may be damaged by the time it is gone on with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from komb.errors import FileError
from komb.reproduction.manifest import read_manifest
from komb.reproduction.result_files import read_separators

SOUND: dict[str, Any] = {
    "komb": "0.1.0",
    "began": "2026-01-01T00:00:00+00:00",
    "fingerprints": {},
    "suites": ["intro"],
    "arguments": {
        "suites": ["intro"], "data": None, "networks": ["Alarm1"], "samples": 1, "targets": 1,
        "time_cap": 10.0, "jobs": 1,
    },
}  # fmt: skip


def test_a_sound_one(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None
    (tmp_path / "manifest.json").write_text(json.dumps(SOUND))
    assert read_manifest(tmp_path) == SOUND


@pytest.mark.parametrize("name", list(SOUND))
def test_something_is_missing(tmp_path: Path, name: str) -> None:
    left = {key: value for key, value in SOUND.items() if key != name}
    (tmp_path / "manifest.json").write_text(json.dumps(left))
    with pytest.raises(FileError, match="is not the manifest of a run"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("name", ["suites", "data", "networks", "samples", "targets", "time_cap"])
@pytest.mark.parametrize("value", [{}, [1], ["a", 2]])
def test_wrong_arguments(tmp_path: Path, name: str, value: object) -> None:
    changed = SOUND | {"arguments": SOUND["arguments"] | {name: value}}
    (tmp_path / "manifest.json").write_text(json.dumps(changed))
    with pytest.raises(FileError, match="is not the manifest of a run"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "null", "[" * 100_000])
def test_no_json(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(FileError, match="is not the manifest of a run"):
        read_manifest(tmp_path)


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(FileError, match="Cannot read"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", "network,target,other,size,minimum_size\nA,x,y,many,1\n"]
)
def test_damaged_separators(tmp_path: Path, text: str) -> None:
    assert read_separators(tmp_path) == []
    (tmp_path / "separators.csv").write_text(text)
    with pytest.raises(FileError, match=r"separators.csv' is not a table of separators"):
        read_separators(tmp_path)
