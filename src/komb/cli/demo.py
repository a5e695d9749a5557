"""The command ``komb demo``: a guided look, on a small table with a hidden three-way parity."""

from __future__ import annotations

from komb.api.find import markov_blanket
from komb.cli.exits import exit_codes
from komb.cli.output import program, show
from komb.data.models.boolean_functions import boolean_table
from komb.data.table import DiscreteTable
from komb.results.blanket import Blanket
from komb.views.text import Grid, Sheet, plural, show_names, show_seconds

_N_ROWS_SHOWN = 5

_STORY = """\
Y is 1 when an odd number of X1, X2 and X3 is 1, except in one row of ten, taken at random.
No single X tells anything about Y, and no two of them do: only all three together.
E1 to E10 are coin flips, independent of Y, so the blanket of Y is X1, X2, X3."""

_NEXT = """\
Try next:
  {program} find your.csv --target COLUMN         chooses the order itself
  {program} find your.csv --target COLUMN -k 3    searches up to order 3
  {program} compare your.csv --target COLUMN      compares the classic methods
  {program} find --help                           lists all options
or in Python:
  import komb
  print(komb.markov_blanket(dataframe, "COLUMN"))"""

_LOOKS_AT = ("single columns", "... and pairs", "... and triples")


@exit_codes()
def demo() -> None:
    """Show what komb finds and other methods miss: a three-way parity."""
    table = demo_table()
    show(_first_rows(table))
    show(f"\n{_STORY}\n")
    blankets = [markov_blanket(table, "Y", order=order) for order in range(len(_LOOKS_AT))]
    show(_compare(blankets))
    show("")
    show(markov_blanket(table, "Y"))
    show(f"\n{_NEXT.format(program=program())}")


def demo_table() -> DiscreteTable:
    """Return the table of the demonstration."""
    return boolean_table("parity", 1000, n_parents=3, noise=0.1, n_irrelevant=10, seed=0)


def _first_rows(table: DiscreteTable) -> Sheet:
    columns = tuple(f"{name}>" for name in table.names)
    rows = table.codes[:, :_N_ROWS_SHOWN].T.tolist()
    shape = f"{plural(table.n_rows, 'row')} of {plural(table.n_columns, 'column')}"
    return Sheet(
        title=f"A table with a hidden rule: {shape}; the first {_N_ROWS_SHOWN} rows",
        grids=(Grid(columns, tuple(tuple(map(str, row)) for row in rows)),),
    )


def _compare(blankets: list[Blanket]) -> Sheet:
    rows = tuple(
        (
            str(order),
            looks_at,
            show_names(blanket.members) or "nothing",
            f"{blanket.tests:,}",
            show_seconds(blanket.seconds),
        )
        for order, (looks_at, blanket) in enumerate(zip(_LOOKS_AT, blankets, strict=True))
    )
    columns = ("order", "searches", "finds", "tests>", "time>")
    return Sheet("What is in the Markov blanket of Y?", grids=(Grid(columns, rows),))
