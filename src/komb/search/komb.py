r"""kOMB: Markov blankets under k-order faithfulness.

Lee, Krishnamoorthy & Piatkowski (2026), "High-Order Markov Blanket Discovery via a k-Order
Relaxation of the Faithfulness Assumption", UAI. The functions below are the paper's, in the paper's
order; its names and ours:

====================  =============================  ==============================================
paper                 here                           meaning
====================  =============================  ==============================================
kOMB                  :func:`find_blanket`           Algorithm 1: grow, then shrink
find_inter_dep        :func:`find_interacting_group` Algorithm 2: variables that depend together
make_strict           :func:`drop_redundant`         Algorithm 2: keep what the dependence needs
find_cond             :func:`find_witness`           Algorithm 3: a set that shows a dependence
no_seps               :func:`has_no_separator`       Algorithm 3: no small set explains it away
Y, X                  ``target``, ``candidate``
bold X, X'            ``group``, ``allies``          the witness's part outside, inside the blanket
Z, S, S'              ``witness``, ``blanket``, ``separator``
k, l                  ``order``, ``max_separator``
====================  =============================  ==============================================

Two things differ in form, neither in any answer. Algorithm 3 is asked of all candidates, and of a
stretch of groups, at once, because tests are counted in batches; where the paper returns the first
success in the order of its loops, we take the smallest of the successes in that order. And the grow
phase keeps a ledger: a candidate found independent given a witness, or separated by part of the
blanket, stays so while the blanket grows, so each restart only looks at what is new.

A variable is never put into the condition of its own test: where the paper writes ``S \ Z`` for
the pool of separators, the tested variable is left out too.

Cost: one sweep over all sets of up to ``order + 1`` variables, O(n^(order+1)) tables, plus
O(|S|^(order + max_separator)) tables for each candidate that some witness brings up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, islice
from typing import NamedTuple

from komb.search.registry import algorithm
from komb.search.task import Found, Task
from komb.sessions.questions import EMPTY, Variables
from komb.sessions.session import Session

# Examined together: few as long as a success is likely, then enough for large batches.
_STRETCHES_AT_FIRST, _STRETCHES_AT_MOST = 1, 4096


@algorithm(
    "komb",
    summary="k-order Markov blanket: finds members that show up only in combination.",
    citation="Lee, Krishnamoorthy & Piatkowski (2026), High-Order Markov Blanket Discovery via a "
    "k-Order Relaxation of the Faithfulness Assumption, UAI",
    year=2026,
    assumes="k-order faithfulness",
    is_sound=True,
    guarantee="Finds every member that shows together with up to k others.",
    weakness="Work grows like (number of columns)^(k + 1), and tables get thinner with k.",
    options=("order", "max_separator"),
)
def find_blanket(session: Session, task: Task, *, order: int = 1, max_separator: int = 1) -> Found:
    """Algorithm 1, kOMB: grow the blanket by interacting groups, then drop what has no witness.

    Parameters
    ----------
    session : Session
        Answers the questions.
    task : Task
        Target, candidates, start and fixed members.
    order : int
        k: how many other variables a dependence may need to become visible.
    max_separator : int
        l: how many variables a separator may have.

    Returns
    -------
    Found
        The members, each with the witness Algorithm 3 finds for it in the final blanket.

    Examples
    --------
    The distribution of ``Y = X1 xor X2`` with noise, variables in the order X1, X2, Y:

    >>> from komb.sessions.distribution import DistributionOracle
    >>> from komb.data.models.boolean_functions import boolean_network
    >>> xor = boolean_network("parity", n_parents=2)
    >>> task = Task(target=2, candidates=frozenset({0, 1}))
    >>> find_blanket(DistributionOracle(xor.joint()), task, order=0).witnesses
    {}
    >>> find_blanket(DistributionOracle(xor.joint()), task, order=1).witnesses
    {0: frozenset({1}), 1: frozenset({0})}
    """
    search = _Search(session, task, order, max_separator)
    for size in range(1, order + 1):
        session.sweep(task.target, task.candidates, size, search.report_sweep)
    while group := find_interacting_group(search):
        search.blanket |= group
        search.report("grow")
    while True:
        search.report("shrink")
        found = find_witness(search, [_Stretch(EMPTY, search.blanket)])
        witnesses = {place.candidate: witness for place, witness in found.items()}
        lonely = search.blanket - witnesses.keys() - task.include
        if not lonely:
            return Found({member: witnesses.get(member) for member in sorted(search.blanket)})
        search.blanket -= {min(lonely)}


def find_interacting_group(search: _Search) -> Variables:
    """Algorithm 2, find_inter_dep: variables outside the blanket that depend on the target.

    The groups outside the blanket form a tree with the empty group at its root. The first group in
    the order of the tree (lexicographic, a prefix before its extensions) under which some candidate
    has a witness wins, and there the first candidate. Empty when there is none.
    """
    for stretches in search.stretches_in_order():
        found = find_witness(search, stretches, one_is_enough=True)
        first = min(found, default=None)
        search.ledger.settle(search, stretches, first)
        if first is not None:
            return drop_redundant(search, first.candidate, found[first])
        search.report("grow")
    return EMPTY


def drop_redundant(search: _Search, candidate: int, witness: Variables) -> Variables:
    """Algorithm 2, make_strict: the candidate with those of its witness that depend in turn."""
    kept = witness
    for element in sorted(witness):
        if not has_no_separator(search, element, (kept - {element}) | {candidate}):
            kept -= {element}
    return kept | {candidate}


def find_witness(
    search: _Search, stretches: Sequence[_Stretch], *, one_is_enough: bool = False
) -> dict[_Place, Variables]:
    """Algorithm 3, find_cond: where a candidate has a witness with a group, the first one.

    A witness is a group with up to ``order - |group|`` allies from the blanket, such that the
    candidate depends on the target given the witness and no separator undoes it. With
    ``one_is_enough`` only the first place is sure to be there.
    """
    found: dict[_Place, Variables] = {}
    for n_allies in range(min(search.order, len(search.blanket)) + 1):
        if one_is_enough and found:  # only an earlier place could still matter
            first = min(found)
            last = stretches[first.number].before(first.candidate)
            stretches = [*stretches[: first.number], last]
        lines = search.dependences(stretches, n_allies)
        places = sorted(lines.keys() - found.keys())
        standing = search.first_standing(
            [(place.candidate, lines[place]) for place in places], one_is_enough=one_is_enough
        )
        # where one is enough, there are no answers for the places after it
        pairs = zip(places, standing, strict=not one_is_enough)
        found |= {place: witness for place, witness in pairs if witness is not None}
    return found


def has_no_separator(search: _Search, candidate: int, witness: Variables) -> bool:
    """Algorithm 3, no_seps: whether nothing in the blanket makes the candidate independent.

    Separators are the subsets of the blanket with up to ``max_separator`` variables, outside the
    witness. :func:`find_witness` asks the same of many candidates at once.
    """
    return search.first_standing([(candidate, [witness])])[0] is not None


class _Place(NamedTuple):
    """Where a witness is looked for, in the order of the paper's loops."""

    number: int  # of the stretch
    candidate: int


class _Stretch(NamedTuple):
    """A group with some of the candidates, one after the other, about which the same is known.

    They have no witness made of the group and of members of the blanket that is ``settled``.
    """

    group: Variables
    candidates: Variables
    settled: Variables | None = None  # not even the group alone

    def before(self, candidate: int) -> _Stretch:
        """Return the part in front of a candidate."""
        return self._replace(candidates=frozenset(x for x in self.candidates if x < candidate))


class _Search:
    """The state of one search."""

    def __init__(self, session: Session, task: Task, order: int, max_separator: int) -> None:
        self.session = session
        self.task = task
        self.target = task.target
        self.order = order
        self.max_separator = max_separator
        self.blanket: Variables = task.start | task.include
        self.ledger = _Ledger()

    @property
    def blanket(self) -> Variables:
        """The candidate blanket."""
        return self._blanket

    @blanket.setter
    def blanket(self, blanket: Variables) -> None:
        self._blanket = blanket
        self.outside = self.task.candidates - blanket  # what could still enter it

    def dependences(
        self, stretches: Sequence[_Stretch], n_allies: int
    ) -> dict[_Place, list[Variables]]:
        """For each place, the sets of a group and allies given which the candidate depends."""
        alliances = [
            _new_alliances(self.blanket, stretch.settled, n_allies)
            if len(stretch.group) + n_allies <= self.order
            else ()
            for stretch in stretches
        ]
        questions = [
            (stretch.candidates, stretch.group | allies)
            for stretch, some in zip(stretches, alliances, strict=True)
            for allies in some
        ]
        answered = zip(questions, self.session.ask(self.target, questions), strict=True)
        lines: dict[_Place, list[Variables]] = {}
        for number, some in enumerate(alliances):
            givens: dict[int, list[Variables]] = {}
            for (_, witness), dependents in islice(answered, len(some)):
                for candidate in dependents:
                    givens.setdefault(candidate, []).append(witness)
            lines |= {_Place(number, candidate): sets for candidate, sets in givens.items()}
        return lines

    def first_standing(
        self, lines: Sequence[tuple[int, Sequence[Variables]]], *, one_is_enough: bool = False
    ) -> list[Variables | None]:
        """For each (candidate, witnesses), the first witness that no separator undoes."""
        return self.session.separators.first_inseparable(
            self.target, lines, self.blanket, self.max_separator, one_is_enough=one_is_enough
        )

    def stretches_in_order(self) -> Iterator[list[_Stretch]]:
        """Yield what may have a witness outside the blanket, in the order of the tree.

        At first a few stretches at a time, for a success is often near.
        """
        stretches = self.ledger.unsettled(self)
        count = _STRETCHES_AT_FIRST
        while some := list(islice(stretches, count)):
            yield some
            count = min(2 * count, _STRETCHES_AT_MOST)

    def report(self, phase: str, done: int = 0, total: int = 0) -> None:
        """Tell the observer where the search stands."""
        self.task.report(self.session, phase, self.blanket, done, total)

    def report_sweep(self, done: int, total: int) -> None:
        """Tell the observer how far a sweep is."""
        self.report("sweep", done, total)


class _Ledger:
    """What a growing blanket has settled for good.

    Every group has a page once it was examined: by blanket, the candidates for which that blanket
    is settled. Groups of full size, the leaves of the tree, have one only if something is open
    there (there are too many of the others); up to ``_last_leaf``, in the order of the tree, leaves
    without a page are settled, for they take no allies and nothing new can happen to them.
    """

    def __init__(self) -> None:
        self._pages: dict[Variables, dict[Variables | None, Variables]] = {}
        self._open_leaves: dict[Variables, Variables] = {}  # -> candidates
        self._last_leaf: tuple[int, ...] = ()

    def unsettled(self, search: _Search) -> Iterator[_Stretch]:
        """Yield what could have a witness, in the order of the tree."""
        outside, blanket = search.outside, search.blanket
        for group in self._groups(sorted(outside), search.order):
            if len(group) == search.order:
                yield _Stretch(group, self._open_leaves.get(group, outside) & outside)
                continue
            page = self._pages.get(group, {None: outside})
            stretches = [_Stretch(group, some & outside, settled) for settled, some in page.items()]
            open_ones = [s for s in stretches if s.candidates and s.settled != blanket]
            yield from sorted(open_ones, key=lambda stretch: min(stretch.candidates))

    def _groups(self, outside: list[int], order: int) -> Iterator[Variables]:
        """Yield the groups that are not settled, in the order of the tree."""
        open_leaves: dict[tuple[int, ...], list[int]] = {}
        for *prefix, last in sorted(map(sorted, filter(None, self._open_leaves))):
            open_leaves.setdefault(tuple(prefix), []).append(last)

        def below(prefix: tuple[int, ...], start: int) -> Iterator[Variables]:
            is_leaf = len(prefix) == order - 1
            followers = outside[start:]
            if is_leaf and prefix < self._last_leaf[:-1]:  # do not pass by thousands one by one
                still_outside = set(followers)
                followers = [v for v in open_leaves.get(prefix, []) if v in still_outside]
            for position, variable in enumerate(followers, start + 1):
                group = (*prefix, variable)
                if not is_leaf:
                    yield frozenset(group)
                    yield from below(group, position)
                elif group > self._last_leaf or variable in open_leaves.get(prefix, []):
                    yield frozenset(group)

        yield EMPTY
        if order:
            yield from below((), 0)

    def settle(self, search: _Search, stretches: Sequence[_Stretch], first: _Place | None) -> None:
        """Note that stretches have been examined with the present blanket, up to a success."""
        for number, stretch in enumerate(stretches):
            done, left = stretch.candidates, EMPTY
            if first is not None and number == first.number:
                done = stretch.before(first.candidate).candidates
                left = stretch.candidates - done
            group = stretch.group
            if len(group) == search.order:
                self._last_leaf = max(self._last_leaf, tuple(sorted(group)))
                self._open_leaves.pop(group, None)
                if left:
                    self._open_leaves[group] = left
            else:
                page = self._pages.setdefault(group, {None: search.outside})
                page[stretch.settled] = (page[stretch.settled] - done) & search.outside
                page[search.blanket] = page.get(search.blanket, EMPTY) | done
            if left:
                return


@lru_cache(maxsize=16)
def _new_alliances(
    blanket: Variables, settled: Variables | None, size: int
) -> tuple[Variables, ...]:
    """Subsets of a blanket that are not part of a settled one, in order."""
    alliances = combinations(sorted(blanket), size)
    if settled is None:
        return tuple(map(frozenset, alliances))
    return tuple(frozenset(allies) for allies in alliances if not settled.issuperset(allies))
