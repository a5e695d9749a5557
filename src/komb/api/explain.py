"""Why a blanket is what it is: the tests that say so, asked of the data again.

A blanket knows its members and their witnesses. What else there is to tell is asked here, in
batches: how every member does alone, which of the other members come closest to separating it,
which columns outside depend on the target all the same, and what separates those.

Cost: with ``n`` columns, a blanket of ``b``, order k and separators of up to l members, O(n b^k)
tests to find what depends, and O(d b^l) to find what separates those ``d`` dependences. Where that
is more than ``MOST_TESTS``, smaller k and l are used, and the explanation says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from komb.citests.registry import takes_numbers
from komb.data.arrange.arrangement import arrange
from komb.data.arrange.plan import Plan, check_groups, check_weight_column
from komb.data.arrange.strata import held_columns
from komb.data.encode.codes import Name
from komb.data.encode.treatment import MDL, STRICT, Treatment, check_treatment
from komb.data.knowledge import Knowledge
from komb.data.table import DiscreteTable
from komb.errors import DataError, ParameterError
from komb.results.blanket import Blanket
from komb.results.explanation import Evidence, Explanation, Reason
from komb.results.remarks import Remarks
from komb.search.task import Choice
from komb.sessions.questions import EMPTY, Question, Variables, count_subsets, subsets
from komb.sessions.session import Session
from komb.sessions.table_session import open_table
from komb.views.reasons import Wording
from komb.views.text import plural, show_statistic

Dependence = tuple[int, Variables]  # a column, and the set given which it depends

#: Tests of each of the two kinds, at most.
MOST_TESTS = 400_000

_TESTS_PER_BATCH = 1 << 16
_LARGEST_WITNESS_IN_PARTS = 3  # the parts of larger ones are too many to look at
_MOST_COMPARED = 10  # separators of one column, to find the most convincing one
_DIGITS = 6  # of bits that are compared: of equal ones the first counts, not rounding
_USUAL_BOUND = 1  # of witnesses and separators, where the method has none


def explain(
    blanket: Blanket,
    table: DiscreteTable | None,
    data: object = None,
    test: Callable[..., Any] | None = None,
) -> Explanation:
    """Explain a blanket, which is what :meth:`komb.Blanket.explain` does.

    Examples
    --------
    >>> import komb
    >>> table = komb.boolean_table("parity", 500, n_parents=2)
    >>> explain(komb.markov_blanket(table, "Y"), None, table)
    Explanation('Y': 2 members, 0 left out, 0 unrelated)
    """
    if not blanket.n_rows:
        raise DataError(
            "A blanket in a network or graph has nothing to explain: its answers are no tests. "
            "Search a table to have tests explained."
        )
    asked = table if data is None else _check_data(blanket, data)
    if asked is None:
        raise ParameterError(
            "'data' must be given to explain a blanket that was pickled or read from a record: "
            "it has no data with it. Pass the table: blanket.explain(data)."
        )
    witnesses = {member.name: member.witness for member in blanket.details}
    explanation = explain_blanket(
        asked, blanket.target, witnesses, blanket.method, blanket.settled_parameters,
        blanket.choices, blanket.remarks, test,
    )  # fmt: skip
    if data is not None:
        _check_explained(blanket, explanation)
    return _supplement(explanation, blanket if table is asked else blanket.with_table(asked))


def _supplement(explanation: Explanation, blanket: Blanket) -> Explanation:
    """Say of each member how much it tells, and what it is to the target, if quickly found."""
    supplement = blanket._supplement
    roles, effects = supplement.roles_at_hand, supplement.effects_at_hand
    members = (
        replace(
            reason,
            role=roles.get(reason.name),
            effect=None if effects is None else effects[reason.name],
        )
        for reason in explanation.members
    )
    return replace(explanation, members=tuple(members))


def _check_data(blanket: Blanket, data: object) -> DiscreteTable:
    """Encode the table that a blanket was found in, or say why it cannot be the one."""
    parameters = blanket.parameters
    is_cut = isinstance(data, DiscreteTable)
    treatment = check_treatment() if is_cut else _repeat_treatment(blanket)
    table = arrange(
        data, treatment, _plan(parameters), exclude=parameters.get("exclude", ()),
        takes_numbers=takes_numbers(str(parameters.get("test"))),
    ).table  # fmt: skip
    shape, wanted = (table.n_rows, table.n_columns), (blanket.n_rows, blanket.n_columns)
    if shape != wanted:
        found_in, got = (
            f"{plural(n_rows, 'row')} x {plural(n_columns, 'column')}"
            for n_rows, n_columns in (wanted, shape)
        )
        raise DataError(
            f"'data' must be the table that the blanket was found in, {found_in}; got {got}. "
            "Pass that table, or search this one again."
        )
    for name in (blanket.target, *blanket.members):
        table.index(name)
    return table


def _repeat_treatment(blanket: Blanket) -> Treatment:
    """Return how the columns of a blanket's table were treated."""
    parameters = blanket.parameters
    types, discretize = parameters.get("types", STRICT), parameters.get("discretize")
    missing = parameters.get("missing", "error")
    if types == STRICT:
        return check_treatment(blanket.cuts or None, missing=missing)
    if discretize == MDL:
        discretize = blanket.cuts
    elif isinstance(discretize, Mapping):
        rules = discretize.items()
        discretize = {name: blanket.cuts[name] if rule == MDL else rule for name, rule in rules}
    given = {name: parameters[name] for name in ("bins", "na_values") if name in parameters}
    return check_treatment(discretize, missing=missing, types=types, **given)


def _plan(parameters: Mapping[str, Any]) -> Plan:
    """Return how the table of a search was arranged."""
    return Plan(
        tuple(parameters.get("given", ())),
        check_groups("groups", parameters.get("groups")),
        check_weight_column("weights", parameters.get("weights")),
    )


def _check_explained(blanket: Blanket, explanation: Explanation) -> None:
    """Raise if a test says something else than it did in the search."""
    for member in blanket.details:
        reason = explanation[member.name]
        if member.statistic is None or reason.shown is None:
            continue
        if not math.isclose(member.statistic, reason.shown.statistic, rel_tol=1e-6):
            raise DataError(
                "'data' must be the table that the blanket was found in; got one in which the "
                f"statistic of {member.name!r} is {show_statistic(reason.shown.statistic)} "
                f"instead of {show_statistic(member.statistic)}. Pass that table, or search "
                "this one again."
            )


def explain_blanket(
    table: DiscreteTable,
    target: Name,
    witnesses: Mapping[Name, Sequence[Name] | None],
    method: str,
    parameters: Mapping[str, Any],
    choices: Mapping[str, Choice] | None = None,
    remarks: Remarks | None = None,
    test: Callable[..., Any] | None = None,
) -> Explanation:
    """Explain a blanket that was found in a table.

    Examples
    --------
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> table = boolean_table("and", 500, n_parents=2, n_irrelevant=1)
    >>> witnesses = {"X1": [], "X2": []}
    >>> explain_blanket(table, "Y", witnesses, "komb", {"order": 1, "max_separator": 1})
    Explanation('Y': 2 members, 0 left out, 1 unrelated)
    """
    session = open_session(table, parameters, test)
    inquiry = _Inquiry(table, target, witnesses, method, parameters, session)
    explanation = inquiry.explain(is_automatic="order" in (choices or {}))
    return replace(explanation, choices=choices or {}, remarks=remarks or Remarks())


def open_session(
    table: DiscreteTable,
    parameters: Mapping[str, Any],
    test: Callable[..., Any] | None = None,
    *,
    is_required_told: bool = False,
) -> Session:
    """Make a session that answers as the one of the search did.

    What tests say of a required pair is told as it is, unless ``is_required_told``.

    Examples
    --------
    >>> from komb.data.models.boolean_functions import boolean_table
    >>> open_session(boolean_table("and", 500), {"test": "g"}).is_dependent(3, 0, EMPTY)
    True
    """
    known = {key: parameters[key] for key in ("test", "alpha", "df", "seed") if key in parameters}
    known |= {} if test is None else {"test": test}
    if "knowledge" in parameters:
        also = {*parameters.get("given", ()), *parameters.get("exclude", ())}
        said = Knowledge.of(parameters["knowledge"])
        if not is_required_told:
            said = replace(said, required=())
        known["knowledge"] = said.in_columns(table.names, also)
    return open_table(table, given=_held_fixed(table, parameters), **known)


def _held_fixed(table: DiscreteTable, parameters: Mapping[str, Any]) -> Variables:
    """Return the columns that were held fixed."""
    return frozenset(map(table.index, held_columns(table, parameters.get("given", ()))))


class _Inquiry:
    """The questions about one blanket; columns are positions in the table."""

    def __init__(
        self,
        table: DiscreteTable,
        target: Name,
        witnesses: Mapping[Name, Sequence[Name] | None],
        method: str,
        parameters: Mapping[str, Any],
        session: Session,
    ) -> None:
        self.table = table
        self.target = table.index(target)
        self.witnesses = {
            table.index(name): None if witness is None else frozenset(map(table.index, witness))
            for name, witness in witnesses.items()
        }
        self.method = method
        self.parameters = parameters
        self.blanket: Variables = frozenset(self.witnesses)
        self.session = session
        self._known: dict[Dependence, Evidence] = {}

    def explain(self, *, is_automatic: bool = False) -> Explanation:
        """Ask everything, and put it together."""
        everything = frozenset(range(self.table.n_columns))
        held_fixed = _held_fixed(self.table, self.parameters)
        outside = everything - self.blanket - {self.target} - held_fixed
        requested = {x for x, witness in self.witnesses.items() if witness is None}
        order = self._largest_order(len(outside), is_automatic)
        found = self._dependences(outside | requested, order)
        own = {x: witness for x, witness in self.witnesses.items() if witness is not None}
        bound = self._largest_bound(2 * len(own) + self._n_hard(found))
        shown = own | self._representatives(found, bound)
        separators = self._separators(shown.items(), bound)
        separators |= self._separated_by_all(
            {x: given for x, given in shown.items() if x not in own}, separators
        )
        alone = {x for x in own if own[x] and self.session.is_dependent(self.target, x, EMPTY)}
        alone_separators = self._separators([(x, EMPTY) for x in sorted(alone)], bound)
        wording = Wording(
            self.table.names[self.target], self.method, len(self.blanket), order, bound,
            is_automatic,
        )  # fmt: skip

        def reason(x: int, status: Any) -> Reason:
            given = shown.get(x)
            drawn = Reason(
                name=self.table.names[x],
                status=status,
                alone=self._evidence(x, EMPTY),
                shown=None if given is None else self._evidence(x, given),
                part=self._strongest_part(x, own.get(x, EMPTY)),
                separator=self._evidence_or_none(x, separators.get(x)),
                alone_separator=self._evidence_or_none(x, alone_separators.get(x)),
            )
            return replace(drawn, text=wording.say(drawn))

        strongest_first = sorted(
            found.keys() & outside, key=lambda x: (-round(found[x][shown[x]], _DIGITS), x)
        )
        return Explanation(
            target=self.table.names[self.target],
            members=tuple(
                reason(x, "by request" if x in requested else "member")
                for x in sorted(self.blanket)
            ),
            rejected=tuple(reason(x, "left out") for x in strongest_first),
            unrelated=self._names(outside - found.keys()),
            method=self.method,
            parameters=self.parameters,
            order=order,
            max_separator=bound,
        )

    def _largest_order(self, n_outside: int, is_automatic: bool) -> int:
        """Largest number of members to condition on when looking for dependences.

        An automatic search asks more of groups than these tests do, so they would only tell chance.
        """
        asked = None if is_automatic else self.parameters.get("order")
        return self._affordable(_USUAL_BOUND if asked is None else asked, n_outside)

    def _largest_bound(self, n_dependences: int) -> int:
        """How many members may be in a separator."""
        asked = self.parameters.get("max_separator")
        if asked is None:
            asked = self.parameters.get("max_conditioning")
        return self._affordable(_USUAL_BOUND if asked is None else asked, n_dependences)

    def _n_hard(self, found: Mapping[int, Mapping[Variables, float]]) -> int:
        """Dependences of columns that single members do not separate; larger sets are for these."""
        lines = [(x, list(found[x])) for x in sorted(found)]
        inseparable = self.session.separators.first_inseparable(
            self.target, lines, self.blanket, _USUAL_BOUND
        )
        pairs = zip(lines, inseparable, strict=True)
        return sum(len(given) for (_, given), witness in pairs if witness is not None)

    def _affordable(self, size: int, n_columns: int) -> int:
        """Lower a size of sets of members until all of them can be tried on all columns."""
        n_members = len(self.blanket)
        size = min(size, max(_USUAL_BOUND, n_members))
        while size > _USUAL_BOUND and n_columns * count_subsets(n_members, size) > MOST_TESTS:
            size -= 1
        return size

    def _dependences(self, columns: Variables, order: int) -> dict[int, dict[Variables, float]]:
        """Columns that depend on the target given up to ``order`` members, and how strongly."""
        found: dict[int, dict[Variables, float]] = {}
        questions = [(columns, given) for given in subsets(self.blanket, order)]
        for (_, given), strengths in self._ask(questions):
            for x, bits in strengths.items():
                found.setdefault(x, {})[given] = bits
        return found

    def _ask(self, questions: Sequence[Question]) -> Iterator[tuple[Question, dict[int, float]]]:
        """How strongly columns depend on the target given a set, a batch at a time."""
        batch: list[Question] = []
        n_tests = 0
        for number, question in enumerate(questions, 1):
            batch.append(question)
            n_tests += len(question[0])
            if n_tests >= _TESTS_PER_BATCH or number == len(questions):
                yield from zip(batch, self.session.strengths(self.target, batch), strict=True)
                batch, n_tests = [], 0

    def _representatives(
        self, found: Mapping[int, Mapping[Variables, float]], bound: int
    ) -> dict[int, Variables]:
        """For each column the dependence to explain: one that no members separate, if there is any.

        Otherwise the one that conditions on the fewest members, of several the strongest.
        """
        lines = [(x, list(found[x])) for x in sorted(found)]
        inseparable = self.session.separators.first_inseparable(
            self.target, lines, self.blanket, bound
        )
        return {
            x: min(given, key=lambda z: (len(z), -round(found[x][z], _DIGITS)))
            if witness is None
            else witness
            for (x, given), witness in zip(lines, inseparable, strict=True)
        }

    def _separators(self, dependences: Iterable[Dependence], bound: int) -> dict[int, Variables]:
        """For each dependence, the set that separates it, or else given which it is weakest.

        Smaller sets go first; of several smallest ones that separate it, the most convincing.
        """
        waiting = dict(dependences)
        weakest: dict[int, tuple[float, Variables]] = {}
        separated: dict[int, Variables] = {}
        for size in range(1, bound + 1):
            strengths = self._strengths(waiting, size)
            for x, by_given in strengths.items():
                independent = [given for given, bits in by_given.items() if not bits]
                if independent:
                    separated[x] = self._most_convincing(x, independent)
                    del waiting[x]
                    continue
                for given, bits in by_given.items():
                    if x not in weakest or round(bits, _DIGITS) < weakest[x][0]:
                        weakest[x] = round(bits, _DIGITS), given
        return {x: given for x, (_, given) in weakest.items()} | separated

    def _separated_by_all(
        self, dependences: Mapping[int, Variables], separators: Mapping[int, Variables]
    ) -> dict[int, Variables]:
        """Dependences that no few members separate, but all members together do.

        That is what methods go by which condition on all they have.
        """
        asked = {
            x: self.blanket - {x}
            for x in dependences
            if x in separators and self.session.is_dependent(self.target, x, separators[x])
        }
        strengths = self._ask([({x}, given) for x, given in asked.items()])
        return {x: given for ((x,), given), found in strengths if x not in found}

    def _strengths(
        self, dependences: Mapping[int, Variables], size: int
    ) -> dict[int, dict[Variables, float]]:
        """How strong dependences are given this many more members; 0 where they are separated."""
        asked: dict[Variables, set[int]] = {}
        for x, witness in dependences.items():
            for separator in subsets(self.blanket - witness - {x}, size, size):
                asked.setdefault(witness | separator, set()).add(x)
        answers: dict[int, dict[Variables, float]] = {}
        questions = [(columns, given) for given, columns in asked.items()]
        for (columns, given), strengths in self._ask(questions):
            for x in columns:
                answers.setdefault(x, {})[given] = strengths.get(x, 0.0)
        return {x: dict(sorted(found.items(), key=_in_order)) for x, found in answers.items()}

    def _most_convincing(self, x: int, given: Sequence[Variables]) -> Variables:
        """Return the set given which a column looks most independent, a reliable one if any."""

        def doubt(separator: Variables) -> tuple[bool, float]:
            evidence = self._evidence(x, separator)
            return not evidence.reliable, round(evidence.bits, _DIGITS)

        return min(given[:_MOST_COMPARED], key=doubt)

    def _strongest_part(self, x: int, witness: Variables) -> Evidence | None:
        if not 2 <= len(witness) <= _LARGEST_WITNESS_IN_PARTS:
            return None
        parts = subsets(witness, len(witness) - 1, 1)
        return max((self._evidence(x, part) for part in parts), key=lambda test: test.bits)

    def _evidence_or_none(self, x: int, given: Variables | None) -> Evidence | None:
        return None if given is None else self._evidence(x, given)

    def _evidence(self, x: int, given: Variables) -> Evidence:
        if (x, given) not in self._known:
            self._known[x, given] = self._measure(x, given)
        return self._known[x, given]

    def _measure(self, x: int, given: Variables) -> Evidence:
        outcome = self.session.outcome(self.target, x, given)
        assert outcome.statistic is not None  # only oracles have none
        return Evidence(
            given=self._names(given),
            is_dependent=not outcome.independent,
            statistic=outcome.statistic,
            df=outcome.df,
            p_value=outcome.p_value,
            test=outcome.test,
            reliable=outcome.reliable,
        )

    def _names(self, positions: Iterable[int]) -> tuple[Name, ...]:
        return tuple(self.table.names[position] for position in sorted(positions))


def _in_order(entry: tuple[Variables, float]) -> list[int]:
    return sorted(entry[0])
