"""Markov blankets of a table: of one column, or of several.

>>> import komb
>>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
>>> blanket.members
('X1', 'X2')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from komb.api.options import Search, TestOption
from komb.api.parallel import check_jobs, count_threads, count_workers, find_all
from komb.api.progress import Observer, Reporter
from komb.api.run import Run
from komb.api.search_journal import JournalPath, check_journal, open_journal
from komb.data.checks import check_progress
from komb.data.knowledge import Knowledge
from komb.data.names import Name, list_names
from komb.engine.cluster_screens import use_workers
from komb.engine.threads import use_threads
from komb.results.blanket import Blanket
from komb.results.blankets import Blankets


def markov_blanket(
    data: object,
    target: Name,
    *,
    method: str = "auto",
    order: int | None = None,
    max_separator: int | None = None,
    alpha: float | None = None,
    level: float | None = None,
    test: TestOption = "auto",
    include: Iterable[Name] = (),
    exclude: Iterable[Name] = (),
    given: Iterable[Name] = (),
    knowledge: Knowledge | Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    time_budget: float | None = None,
    **options: Any,
) -> Blanket:
    """Find the Markov blanket of a column.

    The blanket is the smallest set of columns that makes all others irrelevant for the target, and
    so the set of features to keep for predicting it. Unlike other methods, ``"auto"`` and
    ``"komb"`` also find members that are dependent only in combination with others, such as the
    inputs of an exclusive or.

    Data and target are all it needs. Method ``"auto"`` chooses what is left out from the data, and
    the result says what and why (``choices``); ``method="komb", test="g-sci"`` is the search of the
    kOMB paper.

    Parameters
    ----------
    data
        A pandas, polars or pyarrow table, a two-dimensional numpy array (its columns are named 0,
        1, ...), a mapping of names to columns, or a dataframe of Dask: the types of its columns are
        found, and missing values left out test by test. To say how columns are read, which of them
        form groups or hold weights, make a table first: :func:`komb.table`,
        :func:`komb.read_table`. Or a model that answers as an oracle, without any test: a
        :class:`komb.DiscreteNetwork`, a :class:`komb.MarkovField` or a networkx graph.
    target
        Name of the column whose blanket to find.
    method
        Name of an algorithm; :func:`komb.algorithms` lists them.
    order
        Largest number of other columns that a dependence may need to become visible (the paper's
        k). Order 0 finds single columns, order 1 also pairs (exclusive or), order 2 also triples.
        For ``"auto"`` a bound: if left out, it searches up to its limit on tests. For ``"komb"`` 1
        if left out.
    max_separator
        Largest number of columns that may together separate a column from the target (the paper's
        l). For ``"auto"`` a bound, 3 if left out; for ``"komb"`` 1 if left out.
    alpha
        Significance level of each test: a dependence counts when its p-value is at most this. If
        left out, ``"auto"`` chooses it by the size of the table, and 0.01 holds for every other
        method.
    level
        For ``"auto"``: the family-wise error, the probability that the blanket is not empty
        although nothing depends on the target; 0.05 if left out. Lower it for fewer false members,
        raise it for weaker ones.
    test
        Name of a conditional-independence test; :func:`komb.tests` lists them. ``"auto"``: the
        likelihood ratio with its mean and variance given the margins of the table. Or a function of
        your own, called as ``function(x, y, z)`` with integer codes, that returns a p-value; it is
        slower than the others, but works with every method.
    include
        Columns that are in the blanket whatever the tests say.
    exclude
        Columns that the search ignores: neither checked nor counted.
    given
        Covariates, such as age, sex or the first principal components: every test holds them fixed,
        and they are never members. Discrete ones are held fixed value by value. Those with more
        than 20 different numbers are taken by their ranks where other columns are; otherwise they
        are cut into fine strata, all of them together.
    knowledge
        What is known beforehand, a :class:`komb.Knowledge`: tiers of columns in the order of time,
        pairs that are no neighbours, and pairs that are.
    n_jobs
        How many threads count large sweeps over pairs and triples of columns: all processors if
        left out, but one inside of a worker; -1 is one per processor. The result is always the
        same.
    time_budget
        For ``"auto"``: time limit of the search, in seconds. What it leaves out for lack of time is
        in ``omissions``. No limit if left out.
    **options
        Options that are rarely needed:

        - ``start``: columns to start the search from; it may drop them again.
        - ``progress``: called now and then with a :class:`komb.api.progress.Progress`.
        - ``resume``: a file in which large sweeps note about every second what they have counted.
          If it is there, the search is taken up where the run that wrote it was interrupted or
          killed; the result is that of an uninterrupted run. A file of another search, table or
          version is refused.
        - Those that the method or the test declares: ``max_conditioning``, the largest set that the
          classic methods condition on; ``df`` of ``"g"``, ``"chi2"``, ``"cressie-read"`` and
          ``"g-sci"``, the rule for their degrees of freedom (``"observed"`` counts every cell of
          the observed strata, ``"adjusted"`` only the levels that occur in each of them); ``seed``
          of a test that draws random numbers; and those of algorithms of your own
          (``komb.algorithms()[method].options``).

    Returns
    -------
    Blanket
        The members, each with the columns given which it depends on the target, and the test.

    Raises
    ------
    komb.errors.InputError
        If anything passed in cannot be used; nothing has been counted then.
    komb.errors.Interrupted
        If the search is interrupted; ``finished`` holds the names of the blanket grown so far.

    See Also
    --------
    markov_blankets : The blankets of several columns.

    Examples
    --------
    A lamp with two switches: the lamp is marginally independent of each.

    >>> table = {
    ...     "hall": ["up", "up", "down", "down"] * 25,
    ...     "stairs": ["up", "down", "up", "down"] * 25,
    ...     "weather": ["sun", "sun", "sun", "rain", "rain"] * 20,
    ...     "lamp": ["off", "on", "on", "off"] * 25,
    ... }
    >>> markov_blanket(table, "lamp", order=0).members
    ()
    >>> blanket = markov_blanket(table, "lamp")
    >>> blanket.members, blanket["hall"].witness, blanket.choices["order"].value
    (('hall', 'stairs'), ('stairs',), 2)
    """
    progress: Observer | None = options.pop("progress", None)
    resume: JournalPath = options.pop("resume", None)
    search = Search.of(
        method=method, order=order, max_separator=max_separator, level=level, alpha=alpha,
        test=test, include=include, exclude=exclude, given=given,
        knowledge=knowledge, time_budget=time_budget, **options,
    )  # fmt: skip
    check_progress(progress)
    check_journal(resume)
    threads = count_threads(check_jobs(n_jobs))
    run, [position] = Run.open(data, [target], search)
    with (
        use_threads(threads),
        open_journal(resume, run, position) as journal,
        use_workers(run.data.cluster),
    ):
        return run.find(position, Reporter(progress), journal=journal)


def markov_blankets(
    data: object,
    targets: Iterable[Name] | None = None,
    *,
    progress: Observer | None = None,
    n_jobs: int | None = None,
    **search: Any,
) -> Blankets:
    """Find the Markov blankets of several columns.

    Parameters
    ----------
    data
        As in :func:`markov_blanket`. It is read once.
    targets
        Names of the columns whose blankets to find. If left out, all that are not constant; then
        ``start`` and ``include`` hold for every target but those they name.
    progress
        Called now and then with a :class:`komb.api.progress.Progress`.
    n_jobs
        How many workers search, each for one target at a time, as joblib understands it: -1 is one
        per processor; ``None`` is 1, unless ``joblib.parallel_config`` says otherwise, which can
        also send the work to threads or to a cluster. The result is always the same. Workers share
        the table, but each needs a second or two to start. Without workers large sweeps use all
        processors, unless ``n_jobs`` is 1. If the table has a cluster and fits into memory, the
        workers of the cluster search.
    **search
        The other keywords of :func:`markov_blanket`, but for ``resume``. Each target has a
        ``time_budget`` of its own.

    Returns
    -------
    Blankets
        A mapping from target to :class:`Blanket`, in the order of the targets.

    Raises
    ------
    komb.errors.InputError
        If anything passed in cannot be used; nothing has been counted then.
    komb.errors.Interrupted
        If the search is interrupted; ``finished`` holds the :class:`Blankets` that are complete.
    komb.errors.WorkerError
        If a worker dies or fails; ``finished`` holds the :class:`Blankets` that are complete.

    Examples
    --------
    >>> import komb
    >>> blankets = markov_blankets(komb.boolean_table("and", 500, n_parents=2), ["X1", "Y"])
    >>> blankets["Y"].members
    ('X1', 'X2')
    """
    jobs = check_jobs(n_jobs)
    check_progress(progress)
    asked = Search.of(**search)
    names = None if targets is None else list_names("targets", targets)
    run, positions = Run.open(data, names, asked, "targets")
    reporter = Reporter(progress, n_targets=len(positions))
    client = run.data.cluster
    with use_threads(count_threads(jobs)):
        if client is not None and not run.data.is_in_memory:
            return find_all(run, positions, 1, reporter)  # each is counted by all workers
        with _spread_over(client):
            return find_all(run, positions, count_workers(jobs, len(positions)), reporter)


@contextmanager
def _spread_over(client: Any) -> Iterator[None]:
    """Have searches for several targets done by the workers of a cluster; here, if it is None."""
    if client is None:
        yield
        return
    import joblib

    with joblib.parallel_config(backend="dask", client=client):
        yield
