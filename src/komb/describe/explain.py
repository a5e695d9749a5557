"""Why a blanket is what it is: the tests behind each member and each column left out.

The search has found a witness for each member and a separator for each column outside; here those
tests are made once more, for their numbers. Nothing is searched but which other members come
closest to separating a member, and among few sets of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from komb.data.names import Name
from komb.engine.engine import Engine
from komb.engine.questions import EMPTY, Dependence, Variables, subsets
from komb.results.explanation import Evidence, Explanation, Reason, Status
from komb.results.member import Remarks
from komb.search._automatic import has_power
from komb.search._region import is_copied
from komb.search.separated import affordable_size, complete_separators
from komb.search.task import Choice, Found, Task
from komb.views.reasons import Wording

if TYPE_CHECKING:
    from komb.api.run import Run
    from komb.results.blanket import Blanket

_USUAL_SEPARATOR = 1  # members, where the method has no bound
_LARGEST_WITNESS_IN_PARTS = 3  # the parts of larger ones are too many to look at
_DIGITS = 6  # of bits that are compared: of equal ones the first counts, not rounding

Sets = Mapping[int, Variables]  # a condition for each of some columns


def explain_blanket(run: Run, blanket: Blanket, separators: Sets) -> Explanation:
    """Explain a blanket; ``separators`` are what the search has handed over."""
    engine, task = run.open_engine(tells_required=False), run.task(run.data.index(blanket.target))
    witnesses, parameters = run.witnesses_of(blanket), blanket.settled_parameters
    # members that separate a column are of interest, even if the search met others first
    found = Found(witnesses, separators={x: z for x, z in separators.items() if z <= {*witnesses}})
    inside = complete_separators(engine, task, found, tried_separator(parameters))
    found = replace(found, separators={**separators, **inside})
    return explain(
        engine, run.names, task, found, method=blanket.method, parameters=parameters,
        choices=blanket.choices, remarks=blanket.remarks,
    )  # fmt: skip


def explain(
    engine: Engine,
    names: Sequence[Name],
    task: Task,
    found: Found,
    *,
    method: str,
    parameters: Mapping[str, Any],
    choices: Mapping[str, Choice] | None = None,
    remarks: Remarks | None = None,
) -> Explanation:
    """Explain what was found; columns are positions there, which ``names`` translates.

    Of separators only those found are told (:func:`~komb.search.separated.complete_separators`).
    """
    target, witnesses, blanket = task.target, found.witnesses, frozenset(found.witnesses)
    size = affordable_size(len(blanket), tried_separator(parameters), engine)
    [alone] = engine.evidence(target, [(task.candidates, EMPTY)])
    told = _choose_tests(engine, target, witnesses, alone, size)
    left_out = sorted(alone.keys() - blanket, key=lambda x: (-round(alone[x], _DIGITS), x))
    told.shown.update(dict.fromkeys(left_out, EMPTY))
    told.separator.update((x, found.separators[x]) for x in left_out if x in found.separators)
    evidence = _measure(engine, names, target, told, [*sorted(blanket), *left_out])
    told.weak.update(_weak_tests(engine, target, told))
    members = _named(names, blanket)
    wording = Wording(names[target], method, members, size, "order" in (choices or {}))

    def reason(x: int, status: Status) -> Reason:
        drawn = told.draw(x, status, names[x], evidence)
        return replace(drawn, text=wording.say(drawn))

    return Explanation(
        target=names[target],
        reasons=tuple(
            reason(x, "by request" if witnesses[x] is None else "member") for x in sorted(blanket)
        ),
        rejected=tuple(reason(x, "left out") for x in left_out),
        unrelated=_named(names, task.candidates - blanket - alone.keys()),
        method=method,
        parameters=parameters,
        max_separator=size,
        choices=choices or {},
        remarks=remarks or Remarks(),
    )


def tried_separator(parameters: Mapping[str, Any]) -> int:
    """How many columns a search with these parameters tried as a separator, as far as it says."""
    sizes = (parameters.get(key) for key in ("max_separator", "max_conditioning"))
    return next((size for size in sizes if size is not None), _USUAL_SEPARATOR)


@dataclass(frozen=True, slots=True)
class _Tests:
    """What columns are tested given, by what the tests are to tell."""

    shown: dict[int, Variables]
    separator: dict[int, Variables]
    alone_separator: dict[int, Variables]
    weak: set[int]  # those of which the test given ``separator`` has no power

    def parts(self, x: int) -> list[Variables]:
        """Parts of a witness that is small enough to look at all of them."""
        size = len(self.shown.get(x, EMPTY))
        is_small = 2 <= size <= _LARGEST_WITNESS_IN_PARTS
        return list(subsets(self.shown[x], size - 1, 1)) if is_small else []

    def of(self, x: int) -> Iterator[Variables]:
        """All that one column is tested given."""
        yield EMPTY
        for sets in (self.shown, self.separator, self.alone_separator):
            if x in sets:
                yield sets[x]
        yield from self.parts(x)

    def draw(
        self, x: int, status: Status, name: Name, evidence: Mapping[Dependence, Evidence]
    ) -> Reason:
        """Put together what the tests of one column say."""

        def given(sets: Sets) -> Evidence | None:
            return evidence[x, sets[x]] if x in sets else None

        parts = [evidence[x, part] for part in self.parts(x)]
        return Reason(
            name=name,
            status=status,
            alone=evidence[x, EMPTY],
            shown=given(self.shown),
            part=max(parts, key=lambda test: test.bits, default=None),
            separator=given(self.separator),
            alone_separator=given(self.alone_separator),
            is_decided=x not in self.weak,
        )


def _choose_tests(
    engine: Engine,
    target: int,
    witnesses: Mapping[int, Variables | None],
    alone: Mapping[int, float],
    size: int,
) -> _Tests:
    """Choose what members are tested given; those by request are shown if they depend at all."""
    members = frozenset(witnesses)
    shown = {
        x: EMPTY if witness is None else witness
        for x, witness in witnesses.items()
        if witness is not None or x in alone
    }
    also_alone = {x: EMPTY for x, witness in shown.items() if witness and x in alone}
    return _Tests(
        shown,
        find_closest(engine, target, shown, members, size),
        find_closest(engine, target, also_alone, members, size),
        set(),
    )


def _weak_tests(engine: Engine, target: int, told: _Tests) -> list[int]:
    """Those that are independent given their separator in a test without power."""
    return [
        x
        for x, given in told.separator.items()
        if not engine.is_dependent(target, x, given)
        and not has_power(engine, target, x, given, told.shown[x])
        and not is_copied(engine, x, given - told.shown[x])
    ]


def find_closest(
    engine: Engine, target: int, dependences: Sets, members: Variables, size: int
) -> dict[int, Variables]:
    """For each dependence, its condition with up to ``size`` members given which it is weakest."""
    asked: dict[Variables, set[int]] = {}
    for x, given in dependences.items():
        for more in subsets(members - given - {x}, size, 1):
            asked.setdefault(given | more, set()).add(x)
    answers = engine.evidence(target, [(columns, given) for given, columns in asked.items()])
    least: dict[int, tuple[float, int, list[int]]] = {}  # smaller sets first, then in table order
    for (given, columns), bits in zip(asked.items(), answers, strict=True):
        for x in columns:
            entry = round(bits.get(x, 0.0), _DIGITS), len(given), sorted(given)
            least[x] = min(least.get(x, entry), entry)
    return {x: frozenset(least[x][2]) for x in dependences if x in least}


def _measure(
    engine: Engine, names: Sequence[Name], target: int, told: _Tests, columns: Sequence[int]
) -> dict[Dependence, Evidence]:
    """Make all tests together."""
    tests = list(dict.fromkeys((x, given) for x in columns for given in told.of(x)))
    evidence = {}
    for (x, given), outcome in zip(tests, engine.outcomes(target, tests), strict=True):
        assert outcome.statistic is not None  # only oracles have none
        evidence[x, given] = Evidence(
            given=_named(names, given),
            is_dependent=not outcome.independent,
            statistic=outcome.statistic,
            df=outcome.df,
            p_value=outcome.p_value,
            test=outcome.test,
            reliable=outcome.reliable,
        )
    return evidence


def _named(names: Sequence[Name], positions: Variables) -> tuple[Name, ...]:
    return tuple(names[position] for position in sorted(positions))
