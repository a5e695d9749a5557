"""What tests have to say about themselves, as a reader of results needs it."""

from __future__ import annotations

_SYMBOLS = {"g": "G", "chi2": "chi-square", "perm": "G", "x2": "X2"}
_WITH_DF_RULE = {"g", "chi2", "g-sci"}
_FEW_ROWS = (
    "Caution: {tests} had too few rows per cell for test {test} to be trusted. Collect more rows, "
    "merge rare levels or exclude columns with many levels"
)
_NOTES = {
    "auto": "{tests} had nothing to compare and count as independent: given the columns "
    "conditioned on, one of the two tested is constant.",
    "perm": "Caution: {tests} had nothing to permute and count as independent: given the columns "
    "conditioned on, one of the two tested is constant. Collect more rows, merge rare levels or "
    "exclude columns with many levels.",
    "sci": f"{_FEW_ROWS}.",
    "g-sci": f"{_FEW_ROWS}.",
}
_USUAL_NOTE = f"{_FEW_ROWS}, or use test auto."


def statistic_symbol(decider: str) -> str:
    """Return what the statistic of a deciding test is called in print.

    Examples
    --------
    >>> statistic_symbol("g"), statistic_symbol("unheard of")
    ('G', 'unheard of')
    """
    return _SYMBOLS.get(decider, decider)


def has_df_rule(test: str) -> bool:
    """Tell whether the option ``df`` makes a difference to a test.

    Examples
    --------
    >>> has_df_rule("g"), has_df_rule("auto")
    (True, False)
    """
    return test in _WITH_DF_RULE


def unreliable_note(test: str, tests: str) -> str:
    """Say what it means, and what helps, if some tests were unreliable.

    Examples
    --------
    >>> unreliable_note("auto", "3 of 120 tests")
    '3 of 120 tests had nothing to compare and count as independent: given the columns ...'
    """
    return _NOTES.get(test, _USUAL_NOTE).format(test=test, tests=tests)
