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

Two things differ in form, neither in any answer. Algorithm 3 is asked of all candidates, and of all
groups of one size, at once, because tests are counted in batches; where the paper returns the first
success in the order of its loops, we take the smallest of all successes in that order. And the grow
phase keeps a ledger: a candidate found independent given a witness, or separated by part of the
blanket, stays so while the blanket grows, so each restart only looks at what is new.

A variable is never put into the condition of its own test: where the paper writes ``S \ Z`` for
the pool of separators, the tested variable is left out too.

Cost: one sweep over all sets of up to ``order + 1`` variables, O(n^(order+1)) tables, plus
O(|S|^(order + max_separator)) tables for each candidate that some witness brings up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice

from komb.citests.session import EMPTY, Case, Session, Variables
from komb.search.registry import algorithm
from komb.search.task import Found, Task

_GROUPS_A_LOT = 4096  # groups examined together: enough for large batches, little memory


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

    >>> from komb.citests.oracles import DistributionOracle
    >>> from komb.data import boolean_network
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
        search.ledger = _Ledger()  # what a growing blanket ruled out, a shrinking one may not
        witnesses = find_witness(search, [EMPTY], search.blanket).get(EMPTY, {})
        lonely = search.blanket - witnesses.keys() - task.include
        if not lonely:
            return Found({member: witnesses.get(member) for member in sorted(search.blanket)})
        search.blanket -= {min(lonely)}


def find_interacting_group(search: _Search) -> Variables:
    """Algorithm 2, find_inter_dep: variables outside the blanket that depend on the target.

    The enumeration tree of groups outside the blanket has the empty group at its root; a dependence
    found there is taken first. Otherwise all deeper nodes are examined, and the first one in the
    order of the tree (lexicographic, a prefix before its extensions) with a witness wins, and at
    that node the first candidate. Empty when there is none.
    """
    witnesses = find_witness(search, [EMPTY], search.outside)
    if not witnesses:
        for size in range(1, search.order + 1):
            for groups in search.groups_to_examine(size):
                witnesses |= find_witness(search, groups, search.outside)
    if not witnesses:
        return EMPTY
    node = min(witnesses, key=sorted)
    candidate = min(witnesses[node])
    return drop_redundant(search, candidate, witnesses[node][candidate])


def drop_redundant(search: _Search, candidate: int, witness: Variables) -> Variables:
    """Algorithm 2, make_strict: the candidate with those of its witness that depend in turn."""
    kept = witness
    for element in sorted(witness):
        if not has_no_separator(search, element, (kept - {element}) | {candidate}):
            kept -= {element}
    return kept | {candidate}


def find_witness(
    search: _Search, groups: Sequence[Variables], candidates: Variables
) -> dict[Variables, dict[int, Variables]]:
    """Algorithm 3, find_cond: for each group, the candidates that have a witness, with the first.

    A witness is a group with up to ``order - |group|`` allies from the blanket, such that the
    candidate depends on the target given the witness and no separator undoes it. All ``groups`` are
    of one size; those without a success are left out of the answer.
    """
    witnesses: dict[Variables, dict[int, Variables]] = {}
    for n_allies in range(min(search.order - len(groups[0]), len(search.blanket)) + 1):
        alliances = list(map(frozenset, combinations(sorted(search.blanket), n_allies)))
        questions = [
            (candidates - witnesses[group].keys() if group in witnesses else candidates, witness)
            for group in groups
            for witness in map(group.__or__, alliances)
        ]
        cases = search.ledger.open_cases(search, questions)
        search.session.drop_separable(search.target, cases, search.blanket, search.max_separator)
        standing = [case for case in cases if case.candidates]
        for case in sorted(standing, key=lambda case: sorted(case.given)):  # first witness first
            search.ledger.standing(case, search.blanket)
            first_of = witnesses.setdefault(case.given - search.blanket, {})
            for candidate in case.candidates:
                first_of.setdefault(candidate, case.given)
    return witnesses


def has_no_separator(search: _Search, candidate: int, witness: Variables) -> bool:
    """Algorithm 3, no_seps: whether nothing in the blanket makes the candidate independent.

    Separators are the subsets of the blanket with up to ``max_separator`` variables, outside the
    witness. :func:`find_witness` asks the same of many candidates at once.
    """
    case = Case(witness, {candidate})
    search.session.drop_separable(search.target, [case], search.blanket, search.max_separator)
    return bool(case.candidates)


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
        self._has_examined_all = False

    @property
    def blanket(self) -> Variables:
        """The candidate blanket."""
        return self._blanket

    @blanket.setter
    def blanket(self, blanket: Variables) -> None:
        self._blanket = blanket
        self.outside = self.task.candidates - blanket  # what could still enter it

    def groups_to_examine(self, size: int) -> Iterator[list[Variables]]:
        """Yield the groups outside the blanket that may still have a witness, in lots.

        Groups of full size take no allies, so nothing new can happen to one that was ruled out.
        """
        groups: Iterator[Variables]
        if size == self.order and self._has_examined_all:
            standing = self.ledger.witnesses_standing()
            groups = (w for w in standing if len(w) == size and w <= self.outside)
        else:
            groups = map(frozenset, combinations(sorted(self.outside), size))
            self._has_examined_all |= size == self.order
        while lot := list(islice(groups, _GROUPS_A_LOT)):
            yield lot

    def report(self, phase: str, done: int = 0, total: int = 0) -> None:
        """Tell the observer where the search stands."""
        self.task.report(self.session, phase, self.blanket, done, total)

    def report_sweep(self, done: int, total: int) -> None:
        """Tell the observer how far a sweep is."""
        self.report("sweep", done, total)


@dataclass(slots=True)
class _Page:
    """What is open about one witness; every other candidate is ruled out for good."""

    unasked: Variables = EMPTY
    standing: dict[int, Variables] = field(default_factory=dict)  # -> blanket it has withstood


class _Ledger:
    """What a growing blanket leaves open: which candidates, with which witness.

    A witness without a page has not been asked about, unless it is a group of full size that was
    ruled out (there are too many of those to keep, and they are not asked about again).
    """

    def __init__(self) -> None:
        self._pages: dict[Variables, _Page] = {}

    def open_cases(
        self, search: _Search, questions: Sequence[tuple[Variables, Variables]]
    ) -> list[Case]:
        """Cases to try separators on: (candidates, witness) that depend and are not ruled out."""
        cases: list[Case] = []
        fresh: list[tuple[Variables, Variables]] = []
        blanket, outside = search.blanket, search.outside
        for candidates, witness in questions:
            page = self._pages.get(witness)
            if page is None:
                fresh.append((candidates, witness))
                if len(witness) < search.order or not witness.isdisjoint(blanket):
                    self._pages[witness] = _Page(outside - candidates)
                continue
            if page.unasked and (unasked := candidates & page.unasked):
                fresh.append((unasked, witness))
                page.unasked -= unasked
            if page.standing:
                cases += _standing_cases(page, candidates, witness)
        answers = search.session.ask(search.target, fresh)
        for (_, witness), dependent in zip(fresh, answers, strict=True):
            if dependent:
                cases.append(Case(witness, set(dependent), withstood=EMPTY))
        return cases

    def standing(self, case: Case, blanket: Variables) -> None:
        """Note that the candidates of ``case`` have withstood every separator in ``blanket``."""
        page = self._pages.setdefault(case.given, _Page())
        page.standing.update(dict.fromkeys(case.candidates, blanket))

    def witnesses_standing(self) -> list[Variables]:
        """Witnesses under which some candidate stands."""
        return [witness for witness, page in self._pages.items() if page.standing]


def _standing_cases(page: _Page, candidates: Variables, witness: Variables) -> list[Case]:
    """Take the candidates that stand off the page, one case for each blanket they withstood."""
    by_blanket: dict[Variables, set[int]] = {}
    for candidate in candidates & page.standing.keys():
        by_blanket.setdefault(page.standing.pop(candidate), set()).add(candidate)
    return [Case(witness, standing, withstood) for withstood, standing in by_blanket.items()]
