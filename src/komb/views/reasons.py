"""Reasons in words: what tests said about one column, as a sentence or two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from komb.citests.registry import statistic_symbol
from komb.data.names import Name
from komb.views.text import show_freedom, show_name, show_names, show_p_value

if TYPE_CHECKING:
    from komb.results.explanation import Evidence, Reason

_NAMES_WIDTH = 50  # characters of a list of names in a sentence


ADJUSTED_NOTE = (
    "Statistic: on the scale on which the chi-square distribution with these degrees of freedom "
    "gives the p-value; the test takes its own distribution, given the margins."
)


def adjust(statistic: float | None, df: float | None, p_value: float | None) -> float | None:
    """Return the chi-square value that has this p-value: the statistic, if it has it itself."""
    if not statistic or not df or not p_value:
        return statistic
    from scipy.special import chdtrc, chdtri

    if show_p_value(chdtrc(df, statistic)) == show_p_value(p_value):  # as a reader would check
        return statistic
    return float(chdtri(df, p_value))


def show_test(
    test: str, statistic: float, df: float | None, p_value: float | None, *, reliable: bool
) -> str:
    """Say what a test gave: a statistic, degrees of freedom, and the p-value that they have."""
    if p_value is None:
        return f"{statistic_symbol(test)} = {statistic:,.2f}{'' if reliable else ', unreliable'}"
    shown = adjust(statistic, df, p_value)
    symbol = statistic_symbol(test) if shown == statistic else "chi-square"
    freedom = "" if df is None else f", df {show_freedom(df)}"
    return f"{symbol} = {shown:,.2f}{freedom}, {_show_p(p_value, reliable=reliable)}"


def _show_p(p_value: float, *, reliable: bool) -> str:
    shown = show_p_value(p_value)
    trust = "" if reliable else ", unreliable"
    return f"p {shown if shown.startswith('<') else f'= {shown}'}{trust}"


def show_evidence(test: Evidence) -> str:
    """Say what a test gave: the statistic, the degrees of freedom and the p-value."""
    if test.p_value is None:
        return show_brief(test)
    return show_test(test.test, test.statistic, test.df, test.p_value, reliable=test.reliable)


def show_brief(test: Evidence) -> str:
    """Say the p-value of a test, or its equivalent, in a few words."""
    if test.p_value is not None:
        return _show_p(test.p_value, reliable=test.reliable)
    bits = f"{test.statistic:,.2f} bits of evidence" if test.is_dependent else "no evidence"
    return f"{bits} by {test.test}{'' if test.reliable else ', unreliable'}"


@dataclass(frozen=True, slots=True)
class Wording:
    """What all sentences about one blanket share.

    Examples
    --------
    >>> from komb.results.explanation import Evidence, Reason
    >>> wording = Wording("lamp", "komb", ("hall",), 1)
    >>> alone = Evidence((), True, 12.5, 2, 0.0019, "g", True)
    >>> print(wording.say(Reason("hall", "member", alone, alone)))
    is marginally dependent on lamp: G = 12.50, df 2, p = 0.0019. There is no other member ...
    """

    target: Name  # whose blanket it is
    method: str
    members: tuple[Name, ...]
    max_separator: int  # how many of them were tried together as a separator of another one
    is_automatic: bool = False  # whether the search chose how strong the evidence must be

    def say(self, reason: Reason) -> str:
        """Put a reason into words."""
        if reason.status == "member":
            return " ".join(self._member(reason))
        text = f"{self._marginal(reason)}."
        return text if reason.status == "left out" else f"is there by request: it {text}"

    @property
    def _target(self) -> str:
        return show_name(self.target)

    def _member(self, reason: Reason) -> Iterator[str]:
        shown, alone = reason.shown, reason.alone
        assert shown is not None  # a member without a witness is there by request
        witness = self._set(shown.given, "other ")
        if not shown.given:
            yield f"is marginally dependent on {self._target}: {shown}."
        elif alone.is_dependent:
            yield f"depends on {self._target} given {witness}: {shown}."
        elif len(shown.given) > 1 and reason.part is None:  # whether all are needed is not known
            yield f"depends on {self._target} given {witness}: {shown}; marginally {alone.brief}."
        else:
            yield self._together(shown, alone, reason.part)
        if reason.separator is not None:
            yield self._inseparable(reason, reason.separator)
        elif self.max_separator and len(self.members) == 1:
            yield "There is no other member that could separate it."
        if shown.given and alone.is_dependent:
            yield self._alone_too(reason)

    def _together(self, shown: Evidence, alone: Evidence, part: Evidence | None) -> str:
        only = " only" if part is None or not part.is_dependent else ""
        less = "" if part is None else f", given fewer of them at best {part.brief}"
        evidence = f"{shown}; marginally {alone.brief}{less}"
        return f"depends on {self._target}{only} given {_names(shown.given)}: {evidence}."

    def _inseparable(self, reason: Reason, test: Evidence) -> str:
        """Say which other members come near to separating a member."""
        witness = reason.shown.given if reason.shown else ()
        others = _names(_besides(test, witness))
        if test.is_dependent:
            tried = self._tried(reason).capitalize()
            return f"{tried} separates it; the closest is {others} ({test.brief})."
        also = " as well" if witness else ""
        text = f"Given {others}{also} it is independent ({test.brief})"
        if not reason.is_decided:
            return f"{text}, in a test with too little power to tell: undecided, kept."
        return f"{text}; {self.method} kept it for a reason that these tests do not show."

    def _alone_too(self, reason: Reason) -> str:
        text = f"It is marginally dependent too ({reason.alone.brief})"
        test = reason.alone_separator
        if test is None:
            return f"{text}."
        if test.is_dependent:
            closest = f"the closest is {_names(test.given)} ({test.brief})"
            return f"{text}; {self._tried(reason, ())} separates it, {closest}."
        return f"{text}, but independent given {_names(test.given)} ({test.brief})."

    def _marginal(self, reason: Reason) -> str:
        """Say whether a column that was not found is dependent, and what separates it."""
        alone, test = reason.alone, reason.separator
        dependent = "dependent on" if alone.is_dependent else "independent of"
        text = f"is marginally {dependent} {self._target} ({alone.brief})"
        if not alone.is_dependent:
            return text
        if test is not None and not test.is_dependent:
            separated = f"{text}, but independent given {self._set(test.given)} ({test.brief})"
            if reason.is_decided:
                return separated
            return f"{separated}, in a test with too little power to tell: undecided, left out"
        if reason.status == "by request":
            if test is None:
                return text
            closest = f"{_names(test.given)}, {test.brief}"
            return f"{text}, and {self._tried(reason)} separates it (the closest: {closest})"
        if self.is_automatic:
            return f"{text}, but the evidence does not pass the multiple-testing threshold"
        return f"{text}; {self.method} left it out for a reason that these tests do not show"

    def _set(self, names: Sequence[Name], other: str = "") -> str:
        """Name some columns, or say that it is all members there are."""
        n_all = len(self.members) - bool(other)
        is_all = 2 < len(names) == n_all and set(names) <= set(self.members)
        return f"all {n_all} {other}members" if is_all else _names(names)

    def _tried(self, reason: Reason, witness: Sequence[Name] | None = None) -> str:
        """Name what was tried as a separator in vain."""
        if witness is None:
            witness = reason.shown.given if reason.shown else ()
        n_others = len(self.members) - 1 - len(witness)
        if self.max_separator == 1 or n_others <= 1:
            return "no other member"
        if self.max_separator >= n_others:
            return "no set of other members"
        return f"no set of up to {self.max_separator} other members"


def _names(names: Sequence[Name]) -> str:
    return show_names(names, _NAMES_WIDTH)


def _besides(test: Evidence, witness: Sequence[Name]) -> list[Name]:
    return [name for name in test.given if name not in witness]
