"""Read Parquet files in a process of their own.

A damaged file can make the reader ask for more memory than there is, on which it ends the whole
process, whatever that was in the middle of. So a child reads the file and sends the table back; if
the child dies, that is an error like any other. It costs a fraction of a second.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from komb.data.memory_limit import refuse_beyond
from komb.data.read.file_bytes import shorten
from komb.errors import FileError, InPython

if TYPE_CHECKING:
    import polars as pl

BYTES_PER_VALUE = 40
"""Memory that reading takes for each value, at most: twice a reference to a text, and some."""

BYTES_PER_BYTE = 5
"""The same for each byte of a number: it is in the answer of the child, in copies of it, and in the
table."""

# What the child runs. It gets a line of JSON and the file on standard input, and sends the table on
# standard output and what else there is to say in the last line of standard error.
_CHILD = """
import io, json, sys
request = json.loads(sys.stdin.buffer.readline())
sys.path[:] = request["path"]
import polars as pl
data = io.BytesIO(sys.stdin.buffer.read())
answer = {}

def bytes_per_value(dtype):
    if dtype == pl.Boolean or dtype.is_integer() or dtype.is_float():
        return request["per_byte"] * pl.Series([0], dtype=pl.Int64).cast(dtype).to_numpy().itemsize
    return request["per_value"]

try:
    schema = pl.read_parquet_schema(data)
    answer["names"] = names = list(schema)
    data.seek(0)
    answer["rows"] = pl.scan_parquet(data).select(pl.len()).collect().item()
    data.seek(0)
    chosen = names if request["columns"] is None else request["columns"]
    known = [schema[name] for name in chosen if name in schema]
    costs = {dtype: bytes_per_value(dtype) for dtype in set(known)}
    answer["needed"] = answer["rows"] * sum(costs[dtype] for dtype in known)
    if len(known) == len(chosen) and answer["needed"] <= request["limit"]:
        pl.read_parquet(data, columns=chosen).write_ipc_stream(sys.stdout.buffer)
except BaseException as error:
    answer["error"] = (str(error).strip() or type(error).__name__).split("\\n", 1)[0]
sys.stderr.write("\\n" + json.dumps(answer))
"""


def read_parquet(
    file: Path,
    data: bytes,
    columns: Sequence[str] | None,
    check_columns: Callable[[Sequence[str]], list[str]],
    limit: int,
) -> pl.DataFrame:
    """Read a Parquet file."""
    import polars as pl

    wanted = None if columns is None else list(map(str, columns))
    request = {
        "path": sys.path,
        "columns": wanted,
        "limit": limit,
        "per_value": BYTES_PER_VALUE,
        "per_byte": BYTES_PER_BYTE,
    }
    answer, table = _ask_child(json.dumps(request).encode() + b"\n" + data)
    if "needed" in answer:
        chosen = check_columns(answer["names"])
        rows = answer["rows"]
        what = f"Reading {shorten(file)}, of {rows:,} rows and {len(chosen):,} columns,"
        refuse_beyond(answer["needed"], limit, what)
    if "error" in answer:
        raise FileError(
            f"{shorten(file)} is not a valid Parquet file ({answer['error']}). Write it again; "
            "text must not be named .parquet."
        )
    return pl.read_ipc_stream(io.BytesIO(table))


def _ask_child(request: bytes) -> tuple[dict[str, Any], bytes]:
    """Return what a child has to say about a file, and its table."""
    command = [sys.executable or "python", "-I", "-c", _CHILD]
    try:
        child = subprocess.run(command, input=request, capture_output=True, check=False)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise FileError(
            f"Cannot start a process to read a Parquet file: {why}.",
            (
                "Try again, or write it as CSV.",
                InPython(" Or read it yourself, for instance with polars.read_parquet."),
            ),
        ) from None
    said = child.stderr.decode("utf-8", "replace").strip().split("\n")
    if child.returncode:  # it was ended in the middle of it
        return {"error": said[0] or f"the reader ended with code {child.returncode}"}, b""
    answer: dict[str, Any] = json.loads(said[-1])
    return answer, child.stdout
