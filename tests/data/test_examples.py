"""Tables that come with komb."""

from __future__ import annotations

from pathlib import Path

import pytest

import komb
from komb.data.read.table_files import NAMES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", NAMES)
def test_they_are_those_in_the_folder_of_examples(name: str) -> None:
    shipped = Path(komb.__file__).parent / "data" / "example_tables" / f"{name}.csv"
    assert shipped.read_bytes() == (ROOT / "examples" / f"{name}.csv").read_bytes()
    assert komb.example(name) == komb.read_table(shipped)


def test_unknown_names() -> None:
    with pytest.raises(komb.errors.UnknownNameError, match=r"no example 'lmap'. Did you mean 'la"):
        komb.example("lmap")
