"""The constants that decide how many tests a session runs at a time."""

from __future__ import annotations

SIZES_OF_BATCHES = [
    "_TESTS_AT_FIRST",
    "_TESTS_AT_MOST",
    "_TESTS_PER_BATCH",
    "_MOST_SEPARATORS",
    "_LINES_AT_FIRST",
    "_LINES_AT_MOST",
    "_MOST_AHEAD",
]
