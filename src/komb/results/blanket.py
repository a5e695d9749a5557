"""What a search found: the blanket of one target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from komb.data.kinds import ColumnType
from komb.data.names import FrozenMapping, Name
from komb.data.row_sample import count_repeated_rows
from komb.errors import DataError, ParameterError
from komb.results.effects import Effects, Ranking
from komb.results.export import Drawn, Named, columns_of
from komb.results.member import MEMBER_COLUMNS, ColumnTypes, Member, Remarks
from komb.results.record import MERGED, Record
from komb.results.roles import Implied, Roles
from komb.results.stability import Stability
from komb.search.task import Choice, Leak, Omission, Sight
from komb.views.blanket_text import blanket_sheet, details_sheet
from komb.views.choices_text import choice_in_words
from komb.views.text import Sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from komb.api.run import Run
    from komb.results.explanation import Explanation


_MOST_COMPARED = 200_000  # rows among which copies are looked for


class _WithRun(Drawn):
    """Room for what is no part of a result: neither compared nor exported."""

    __slots__ = ("_measured", "_run", "_separators")

    _run: Any  # the run that found it, or None
    _separators: Mapping[int, frozenset[int]]  # what separated the columns that were left out
    _measured: dict[str, Any]  # what was asked for since


@dataclass(frozen=True, slots=True, repr=False)
class Blanket(Record, _WithRun, Named):
    """The Markov blanket of one target.

    A blanket is a collection of column names: ``len``, ``in`` and iteration work as expected, and
    ``blanket[name]`` is the :class:`Member` of that name.

    Attributes
    ----------
    target
        Whose blanket it is.
    evidence
        The members with their witness and evidence, in the order of the table.
    method
        The algorithm.
    parameters
        What it was run with: ``order``, ``max_separator``, ``max_conditioning``, ``level`` and
        ``time_budget`` (``None`` where the method has no such thing or nothing was said),
        ``alpha``, ``test``, ``df``, ``start``, ``include``, ``exclude``, ``types``, ``discretize``
        and ``missing``; ``bins`` if columns were cut into bins, ``na_values`` if there were any,
        and ``seed`` if random numbers were drawn.
    n_rows
        How many rows the table has.
    n_columns
        How many columns it has, without those that are left out.
    tests
        How many conditional-independence tests were computed.
    tables
        How many joint tables were counted to compute them.
    fallbacks
        How many of the tests were decided by the fall-back for thin tables: stochastic complexity,
        for test ``"g-sci"``.
    unreliable
        How many of the tests were decided on a table too thin for the test.
    identifiers
        Columns that identify rows: those that were left out for it, and those with more than half
        as many levels as there are rows, better excluded.
    cuts
        The cut points of each column that was cut into bins; ``discretize=blanket.cuts`` cuts other
        data in the same places. A column without cut points was constant for the search.
    choices
        What the search chose where it was left to it, each with a ``value`` and a ``reason``:
        ``order``, ``max_separator``, ``alpha``, and the ``threshold`` that the p-value of a member
        that is marginally dependent had to reach. Empty if nothing was.
    seconds
        Time of the search. Two blankets that differ only in the work they took (tests, tables,
        fallbacks, unreliable, times) are equal.
    remarks
        What else the search has to say; in parts ``equivalents``, ``leaks``, ``sight`` and
        ``omissions``.
    types
        What each column was found to be and how it was treated, a :class:`komb.ColumnType`; those
        that were left out are among them. ``types=blanket.types`` gives other data the same types.
        Empty if types were not to be found.
    seconds_to_read
        Time of reading and encoding the data, where the call did that too.

    Examples
    --------
    >>> import komb
    >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
    >>> blanket
    Blanket('Y': 'X1', 'X2')
    >>> len(blanket), "X1" in blanket, list(blanket)
    (2, True, ['X1', 'X2'])

    Notes
    -----
    ``to_frame`` has a row per member, with columns ``member``, ``witness`` (a list, null for a
    member by request), ``statistic``, ``df``, ``p_value``, ``test`` and ``reliable``.

    In the picture a line is the thicker the stronger the evidence for its member. Members that
    depend on the target given each other are joined by a coloured area; a dotted line comes from a
    column that only the others are conditioned on.

    What takes more tests (``explain``, ``roles``, ``effects``, ``ranking``, ``stability``) needs
    the data at hand: see :meth:`with_table`.
    """

    target: Name
    evidence: tuple[Member, ...]
    method: str
    parameters: Mapping[str, Any] = field(hash=False)
    n_rows: int
    n_columns: int
    tests: int = field(compare=False)
    tables: int = field(compare=False)
    fallbacks: int = field(default=0, compare=False)
    unreliable: int = field(default=0, compare=False)
    identifiers: tuple[Name, ...] = ()
    cuts: Mapping[Name, tuple[float, ...]] = field(default_factory=dict, hash=False)
    choices: Mapping[str, Choice] = field(default_factory=dict, hash=False)
    seconds: float = field(default=0.0, compare=False)
    remarks: Remarks = field(default_factory=Remarks, metadata=MERGED)
    types: Mapping[Name, ColumnType] = field(default_factory=dict, compare=False)
    seconds_to_read: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        for key in ("parameters", "cuts"):
            object.__setattr__(self, key, FrozenMapping(getattr(self, key)))
        object.__setattr__(self, "types", ColumnTypes(self.types))
        choices = {name: choice_in_words(choice) for name, choice in self.choices.items()}
        object.__setattr__(self, "choices", FrozenMapping(choices))
        self._set(None, {})

    def _set(self, run: Run | None, separators: Mapping[int, frozenset[int]]) -> None:
        object.__setattr__(self, "_run", run)
        object.__setattr__(self, "_separators", separators)
        object.__setattr__(self, "_measured", {})
        object.__setattr__(self, "_library", None if run is None else run.library)

    def attached(self, run: Run, separators: Mapping[int, frozenset[int]]) -> Blanket:
        """Return an equal blanket that knows the run that found it."""
        blanket = replace(self)
        blanket._set(run, separators)
        return blanket

    def run_for(self, wanted: str, *, needs_rows: bool = False) -> Run:
        """Return the run that found the blanket, or say why ``wanted`` cannot be had."""
        if self._run is None:
            raise ParameterError(
                f"'data' must be at hand for {wanted} of a blanket that was pickled or read from a "
                f"record: pass them with blanket.with_table(data).{wanted}."
            )
        if needs_rows and not self.n_rows:
            raise DataError(
                f"A blanket in a network or graph has no {wanted}: its answers are no tests, and "
                "it has no rows to measure on. Search a table, such as network.sample(1000)."
            )
        run: Run = self._run
        return run

    def with_table(self, data: object, test: Callable[..., Any] | None = None) -> Blanket:
        """Return an equal blanket that has the data at hand which it was found in.

        A blanket fresh from a search has them; one that was pickled, or read from JSON, has not,
        and needs them for :meth:`explain`, :meth:`roles` and what else takes more tests.

        Parameters
        ----------
        data
            What the blanket was found in; raw data are read as they were then. ``None`` lets go of
            them, and frees their memory.
        test
            The function or class that was passed to the search as ``test``, if it was one.

        Raises
        ------
        komb.errors.DataError
            If the data are others than those that the blanket was found in.

        Examples
        --------
        >>> import komb, pickle
        >>> table = komb.boolean_table("parity", 500, n_parents=2)
        >>> blanket = pickle.loads(pickle.dumps(komb.markov_blanket(table, "Y")))
        >>> blanket.with_table(table).explain()
        Explanation('Y': 2 members, 0 left out, 0 unrelated)
        """
        if data is None:
            return replace(self)
        from komb.api.reopening import reopen

        return self.attached(reopen(self, data, test), {})

    def __copy__(self) -> Blanket:
        return self  # nothing in it can change

    def __deepcopy__(self, memo: object) -> Blanket:
        return self

    @property
    def settled_parameters(self) -> dict[str, Any]:
        """The parameters, with what the search chose where nothing was said.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500), "Y")
        >>> blanket.parameters["order"], blanket.settled_parameters["order"]
        (None, 2)
        """
        settled = dict(self.parameters)
        for name in ("order", "max_separator"):
            if settled.get(name) is None and name in self.choices:
                settled[name] = self.choices[name].value
        return settled

    @property
    def members(self) -> tuple[Name, ...]:
        """The names of the members, in the order of the table."""
        return tuple(member.name for member in self.evidence)

    @property
    def equivalents(self) -> dict[Name, tuple[tuple[Name, ...], ...]]:
        """For a member, other sets of columns that could replace it.

        Copies of the member, or columns that determine it: the data cannot tell which of them
        matters.
        """
        return dict(self.remarks.equivalents)

    @property
    def leaks(self) -> tuple[Leak, ...]:
        """Columns that alone determine the target, or nearly do, with the share they explain."""
        return self.remarks.leaks

    @property
    def sight(self) -> tuple[Sight, ...]:
        """For each order that was searched, the weakest dependence that could be found."""
        return self.remarks.sight

    @property
    def omissions(self) -> tuple[Omission, ...]:
        """What the search left out, why, and roughly what it would have cost."""
        return self.remarks.omissions

    @property
    def _entries(self) -> dict[Name, Member]:
        return {member.name: member for member in self.evidence}

    def __getitem__(self, name: Name) -> Member:
        member: Member = self._entry(name)
        return member

    def __repr__(self) -> str:
        listed = ", ".join(map(repr, self.members)) or "empty"
        return f"Blanket({self.target!r}: {listed})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Going through the constructor leaves the data behind.
        return Blanket, tuple(getattr(self, entry.name) for entry in fields(self))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries and lists, names as they are in the table.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("and", 500, n_parents=2), "Y")
        >>> record = blanket.to_dict()
        >>> record["members"], record["evidence"][0]["witness"], record["parameters"]["order"]
        (['X1', 'X2'], [], None)
        >>> Blanket.from_dict(record) == blanket
        True
        """
        return {"target": self.target, "members": list(self.members)} | Record.to_dict(self)

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.evidence, MEMBER_COLUMNS, "member")

    def _sheet(self) -> Sheet:
        return blanket_sheet(self)

    def details(self) -> Sheet:
        """Say how the blanket was found: tests, choices, detectable effects, cut points.

        Returns
        -------
        Sheet
            Prints as text, and renders in a notebook.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("and", 500, n_parents=2), "Y")
        >>> print(str(blanket.details()).splitlines()[0])
        How the Markov blanket of Y was found
        """
        return details_sheet(self)

    @property
    def known_stability(self) -> Stability | None:
        """What :meth:`stability` said when it was last asked; ``None`` if it was not."""
        return self._measured.get("stability")

    @property
    def recurrence(self) -> Stability | None:
        """How often members of a short table are found again in ten half-samples.

        Only members and their closest rivals are searched in them, when it is first asked for:
        printing does. ``None`` if the table is long or not at hand, for other tests than
        ``"auto"``, and if rows are copies of others. :meth:`stability` searches all columns.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
        >>> blanket.recurrence.share("X1")
        1.0
        """
        if self._run is None or not self.n_rows or self.repeated_rows:
            return None
        if "recurrence" not in self._measured:
            from komb.describe.stability import find_again

            self._measured["recurrence"] = find_again(self._run, self)
        found: Stability | None = self._measured["recurrence"]
        return found

    @property
    def repeated_rows(self) -> int:
        """How many rows are copies of others, where that is no chance; 0 if data are not at hand.

        Tests take rows for independent observations, and find everything significant in copies.

        Examples
        --------
        >>> import komb
        >>> values = [number * number % 101 for number in range(50)]
        >>> columns = {"x": values * 2, "y": [2 * value for value in values] * 2}
        >>> komb.markov_blanket(columns, "y").repeated_rows
        50
        """
        run = self._run
        if run is None or not 0 < self.n_rows <= _MOST_COMPARED or not run.data.is_in_memory:
            return 0
        if "repeated" not in self._measured:
            self._measured["repeated"] = count_repeated_rows(run.data)
        found: int = self._measured["repeated"]
        return found

    def explain(self) -> Explanation:
        """Say why each member is in the blanket, and why other columns are not.

        Returns
        -------
        Explanation
            Prints as sentences; ``explanation[name]`` has the tests behind each of them.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
        >>> print(blanket.explain()["X2"])
        depends on Y only given X1: chi-square = ..., df 2, p = ...e-...; marginally p = 0....
        """
        from komb.describe.explain import explain_blanket

        run = self.run_for("explain()", needs_rows=True)
        return explain_blanket(run, self, self._separators).like(self)

    def alternatives(self, most: int = 10) -> tuple[tuple[Name, ...], ...]:
        """Find other blankets with the same information, by searches without some of the members.

        Unlike :attr:`equivalents` these are whole: members may be replaced together, one by several
        or several by one. Each of them leaves nothing for this one to tell, and the other way
        round, as far as tests show.

        Parameters
        ----------
        most
            How many blankets to return, at most; the first is this one.

        Raises
        ------
        komb.errors.InputError
            If the data are not at hand, as after pickling: see :meth:`with_table`.

        Examples
        --------
        >>> import komb
        >>> table = komb.boolean_table("parity", 500, n_parents=2)
        >>> columns = {name: table.column(name) for name in table.names}
        >>> columns["not X1"] = [1 - value for value in columns["X1"]]
        >>> komb.markov_blanket(columns, "Y").alternatives()
        (('X1', 'X2'), ('X2', 'not X1'))
        """
        from komb.describe.alternatives import find_alternatives

        return find_alternatives(self.run_for("alternatives()"), self, most)

    def roles(self) -> Roles:
        """Say what each member is to the target: neighbour, spouse or partner; cause or effect.

        Takes more tests of the same kind on the same data, once.

        Examples
        --------
        >>> import komb
        >>> network = komb.boolean_network("and", n_parents=2)
        >>> for name, role in komb.markov_blanket(network, "Y").roles().items():
        ...     print(name, "is a", role)
        X1 is a cause
        X2 is a cause
        """
        if "roles" not in self._measured:
            from komb.describe.structure import find_roles

            self._measured["roles"] = find_roles(self.run_for("roles()"), self).like(self)
        found: Roles = self._measured["roles"]
        return found

    def implied(self) -> Implied:
        """Name columns outside that are in the blanket of the graph by what members are to them.

        That is another cause of an effect of the target which is linked to it too weakly to tell
        anything about the target in these rows. Takes a search for each neighbour of the target.

        Examples
        --------
        >>> import komb
        >>> table = komb.boolean_table("and", 300, n_parents=2)
        >>> komb.markov_blanket(table, "Y").implied().names
        ()
        """
        if "implied" not in self._measured:
            from komb.describe.implied import find_implied

            self._measured["implied"] = find_implied(self.run_for("implied()"), self).like(self)
        found: Implied = self._measured["implied"]
        return found

    @property
    def effects(self) -> Effects:
        """How much each member tells about the target, alone and beyond the others.

        Measured when it is first asked for, on the same table, whichever test was used.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 2000, n_parents=2), "Y")
        >>> round(blanket.effects["X1"].synergy, 2)
        0.48
        """
        if "effects" not in self._measured:
            from komb.describe.effects import measure_effects

            run = self.run_for("effects", needs_rows=True)
            self._measured["effects"] = measure_effects(run, self).like(self)
        found: Effects = self._measured["effects"]
        return found

    def ranking(self) -> Ranking:
        """Order all columns, members or not, by what they tell about the target.

        Members come first, in the order in which they enter: each time the one with most evidence
        given those before it. Then the others, by what is left of them given the blanket, with what
        separates them from the target.

        Examples
        --------
        >>> import komb
        >>> table = komb.boolean_table("parity", 500, n_parents=2, n_irrelevant=3)
        >>> [entry.column for entry in komb.markov_blanket(table, "Y").ranking()][:2]
        ['X1', 'X2']
        """
        from komb.describe.effects import rank

        run = self.run_for("ranking()", needs_rows=True)
        return rank(run, self, self._separators).like(self)

    def stability(
        self, n_halves: int = 50, *, seed: int = 0, progress: Callable[[int], None] | None = None
    ) -> Stability:
        """Search half-samples too, and say how often members and groups are found again.

        Each takes about half the time of the search, and has the same time budget. The seed and the
        order of the rows determine the halves, and so the shares.

        Parameters
        ----------
        n_halves
            Number of half-samples, an even number.
        seed
            Of the halves.
        progress
            Called before each half with the number of those that are done.

        Raises
        ------
        komb.errors.Interrupted
            If it is interrupted; ``finished`` holds what the halves so far say.

        Examples
        --------
        >>> import komb
        >>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
        >>> blanket.stability(10).share("X1")
        1.0
        """
        from komb.describe.stability import measure_stability

        run = self.run_for("stability()", needs_rows=True)
        found = measure_stability(run, self, n_halves, seed, progress)
        self._measured["stability"] = found
        return found.like(self)

    def _draw(self, ax: Axes | None) -> Axes:
        from komb.views.pictures.network import plot_blanket

        return plot_blanket(self, ax)
