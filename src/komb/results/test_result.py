"""What a single conditional-independence test said."""

from __future__ import annotations

from dataclasses import dataclass

from komb.data.names import Name
from komb.results.record import Record
from komb.views.reasons import show_test
from komb.views.text import show_name, show_names


@dataclass(frozen=True, slots=True)
class TestResult(Record):
    """What one conditional-independence test said about two columns.

    Attributes
    ----------
    x
        The one column that was tested.
    y
        The other.
    given
        The columns that were conditioned on.
    independent : bool
        Whether independence was *not* rejected.
    statistic : float or None
        ``None`` if a model answered instead of a test.
    df : float or None
        Degrees of freedom; ``None`` if the test has none.
    p_value : float or None
        ``None`` if the test has none.
    test : str
        Which test decided.
    reliable : bool
        Whether there were rows enough for it.
    n_rows : int
        Rows of the table.

    Examples
    --------
    >>> import komb
    >>> table = komb.boolean_table("parity", 500, n_parents=2)
    >>> result = komb.ci_test(table, "X1", "Y", ["X2"])
    >>> result.independent, result.p_value < 1e-20
    (False, True)
    >>> print(komb.ci_test(table, "X1", "Y"))
    X1 and Y: independent (X2 = ..., df 1, p = ...)
    """

    __test__ = False  # the name starts with Test, but pytest has no business here

    x: Name
    y: Name
    given: tuple[Name, ...]
    independent: bool
    statistic: float | None
    df: float | None
    p_value: float | None
    test: str
    reliable: bool
    n_rows: int

    def __str__(self) -> str:
        given = f" given {show_names(self.given)}" if self.given else ""
        verdict = "independent" if self.independent else "dependent"
        return f"{show_name(self.x)} and {show_name(self.y)}{given}: {verdict} ({self._evidence()})"

    def _evidence(self) -> str:
        if self.statistic is None:
            return f"by {self.test}"
        return show_test(self.test, self.statistic, self.df, self.p_value, reliable=self.reliable)
