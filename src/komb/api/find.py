"""Markov blankets of a table: of one column, or of several.

>>> import komb
>>> blanket = komb.markov_blanket(komb.boolean_table("parity", 500, n_parents=2), "Y")
>>> blanket.members
('X1', 'X2')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from komb.api.cluster import is_counted_in_parts, place_data, spread_targets, use_cluster
from komb.api.keywords import complete, takes_options
from komb.api.many_targets import find_all
from komb.api.options import (
    DEFAULT_LEVEL,
    SearchKeywords,
    SearchOptions,
    TestOption,
    list_names,
)
from komb.api.parallel import check_jobs, count_threads, count_workers
from komb.api.preparation import prepare
from komb.api.progress import Observer, check_progress
from komb.api.run import Run
from komb.api.search_journal import JournalPath, check_journal, open_journal
from komb.api.truth import find_in_truth, open_truth
from komb.counts.cluster_screens import use_workers
from komb.counts.threads import use_threads
from komb.data.arrange.plan import Groups, Weights
from komb.data.encode.codes import Name
from komb.data.encode.treatment import (
    AUTO,
    DEFAULT_BINS,
    Bins,
    Discretize,
    NaValues,
    TypeOption,
)
from komb.data.knowledge import Knowledge
from komb.results.blanket import Blanket
from komb.results.blankets import Blankets


def markov_blanket(
    data: object,
    target: Name,
    *,
    method: str = "auto",
    order: int | None = None,
    max_separator: int | None = None,
    max_conditioning: int | None = None,
    level: float = DEFAULT_LEVEL,
    alpha: float | None = None,
    test: TestOption = "auto",
    df: str = "observed",
    start: Iterable[Name] | str = (),
    include: Iterable[Name] = (),
    exclude: Iterable[Name] = (),
    given: Iterable[Name] = (),
    groups: Groups = None,
    knowledge: Knowledge | Mapping[str, Any] | None = None,
    weights: Weights = None,
    types: TypeOption = AUTO,
    discretize: Discretize = None,
    bins: Bins = DEFAULT_BINS,
    missing: str | None = None,
    na_values: NaValues = (),
    seed: int = 0,
    time_budget: float | None = None,
    stability: int | None = None,
    memory_limit: int | str | None = None,
    progress: Observer | None = None,
    n_jobs: int | None = None,
    cluster: object = None,
    resume: JournalPath = None,
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
        1, ...), a mapping of names to columns, a dataframe of Dask, or a
        :class:`komb.DiscreteTable`, in memory or on disk (:func:`komb.open_table`). Or a model that
        answers as an oracle, without any test: a :class:`komb.DiscreteNetwork`, a
        :class:`komb.MarkovField` or a networkx graph.
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
    max_conditioning
        Largest set of columns that the classic methods condition on; if left out, the usual bound
        of the method: 3, but none for ``"gs"`` and ``"iamb"``, which condition on the whole set so
        far and stop growing at a bound.
    level
        For ``"auto"``: the family-wise error, the probability that the blanket is not empty
        although nothing depends on the target. Lower it for fewer false members, raise it for
        weaker ones.
    alpha
        Significance level of each test: a dependence counts when its p-value is at most this. If
        left out, ``"auto"`` chooses it by the size of the table, and 0.01 holds for every other
        method.
    test
        Name of a conditional-independence test; :func:`komb.tests` lists them. ``"auto"``: the
        likelihood ratio with its mean and variance given the margins of the table. Or a function of
        your own, called as ``function(x, y, z)`` with integer codes, that returns a p-value; it is
        slower than the others, but works with every method.
    df
        Rule for the degrees of freedom: ``"observed"`` counts every cell of the observed strata,
        ``"adjusted"`` only the levels that occur in each of them. Test ``"auto"`` always takes the
        latter.
    start
        Columns to start the search from; it may drop them again. Or the name of a method, such as
        ``"iamb"``: start from the blanket that one finds.
    include
        Columns that are in the blanket whatever the tests say.
    exclude
        Columns that the search ignores: neither checked nor counted.
    given
        Covariates, such as age, sex or the first principal components: every test holds them fixed,
        and they are never members. Discrete ones are held fixed value by value. Those with more
        than 20 different numbers are taken by their ranks where other columns are; otherwise they
        are cut into fine strata, all of them together.
    groups
        Columns that enter, are tested and are reported as one, by the name of the group: ``{"gene
        A": ["rs1", "rs2"]}``. ``"prefix"`` finds one-hot blocks by the names of their columns:
        ``colour_red`` and ``colour_blue`` become ``colour``.
    knowledge
        What is known beforehand, a :class:`komb.Knowledge`: tiers of columns in the order of time,
        pairs that are no neighbours, and pairs that are.
    weights
        Name of a column of weights. Whole numbers are frequencies: a row stands for that many equal
        ones. Others are the weights of a survey: rows are drawn by them. ``{"w": "survey"}`` and
        ``{"w": "frequency"}`` say which it is.
    types
        ``"auto"``: the type of each column is found from its values (nominal, ordinal, continuous,
        time, identifier, free text), and what was decided is in ``types`` of the result.
        Identifiers and free text are left out. Types of some columns: ``{"zip": "nominal"}``.
        ``"strict"``: every distinct value is a level; columns that look continuous or have missing
        values are errors unless ``discretize`` and ``missing`` provide for them.
    discretize
        How to cut numeric columns into bins. ``None``: those with many values are tested by their
        ranks if the test is ``"auto"``, and by bins of equally many rows otherwise.
        ``"quantile"`` (equally many rows per bin), ``"uniform"`` (bins of equal width),
        ``"kmeans"`` (around clusters) or ``"mdl"`` (where the levels of the target change): all
        numeric columns that look continuous or have more than 20 distinct values. Or a mapping from
        columns to one of those or to ascending cut points, ``{"age": [18, 65]}``; the ``cuts`` of a
        blanket or table are one. More in :meth:`komb.DiscreteTable.from_data`.
    bins
        Number of bins, for all columns or by column.
    missing
        How to treat missing values: ``"error"``, ``"level"`` (they are a level of their own) or
        ``"testwise"`` (each test is made on the rows that are complete for its columns). If left
        out, ``"testwise"``; an error with strict types.
    na_values
        What stands for a missing value, ``[-9, "unknown"]``, or by column, ``{"age": [99]}``,
        besides NaN and null of every library, an empty text, ``NA``, ``N/A``, ``nan``, ``null``,
        ``?`` and ``.``.
    seed
        Seed of a test that draws random numbers; the same seed gives the same answer.
    time_budget
        For ``"auto"``: time limit of the search, in seconds. What it leaves out for lack of time is
        in ``omissions``. No limit if left out.
    stability
        Number of half-samples to search as well, an even number such as 50: how often members and
        groups are found again is in the result (``stability``), with a bound on those that are
        found by chance. Each takes about half the time of the search. The seed and the order
        of the rows determine the halves, and so the shares, but not the blanket. Each half-sample
        has the same time budget as the search itself.
    memory_limit
        For a table on disk (:func:`komb.open_table`): how much memory the search may take, in bytes
        or as text such as ``"2 GB"``. A table that needs more is counted shard by shard, with the
        same answer. If left out, what :func:`komb.open_table` was told, or else the environment
        variable ``KOMB_MEMORY_LIMIT``, or half of what is free.
    progress
        Called now and then with a :class:`komb.api.progress.Progress`.
    n_jobs
        How many threads count large sweeps over pairs and triples of columns: all processors if
        left out, but one inside of a worker; -1 is one per processor. The result is always the
        same.
    cluster
        A Dask cluster that counts for the search: a ``distributed.Client`` or the address of a
        scheduler. A dataframe of Dask, and a table on disk that does not fit into the memory limit,
        are counted by its workers, where they are; for those, the active client of Dask is used if
        this is left out. Other tables are searched here, but for wide sweeps that workers screen
        sooner. The result is always the same.
    resume
        A file in which large sweeps note about every second what they have counted. If it is there,
        the search is taken up where the run that wrote it was interrupted or killed; the result is
        the same. A journal of other data, of another target or of other options is refused.

    Returns
    -------
    Blanket
        The members, each with the columns given which it depends on the target, and the test.

    Raises
    ------
    komb.errors.InputError
        If anything passed in cannot be used; nothing has been counted then.
    komb.errors.Interrupted
        If the search is interrupted; ``finished`` holds the names of the blanket grown so far, or
        the whole :class:`Blanket`, without its stability, if nothing but half-samples was left.

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
    options = SearchOptions(
        method=method, order=order, max_separator=max_separator,
        max_conditioning=max_conditioning, level=level, alpha=alpha, test=test, df=df, start=start,
        include=include, exclude=exclude, given=given, groups=groups, knowledge=knowledge,
        weights=weights, types=types, discretize=discretize, bins=bins, missing=missing,
        na_values=na_values, seed=seed, time_budget=time_budget, stability=stability,
        memory_limit=memory_limit,
    )  # fmt: skip
    check_progress(progress)
    check_journal(resume)
    n_jobs = check_jobs(n_jobs)
    truth = open_truth(data)
    if truth is not None:
        return find_in_truth(truth, target, options, progress)
    with use_cluster(cluster, data) as client, use_threads(count_threads(n_jobs)):
        prepared = prepare(place_data(data, client, options), [target], options)
        [position] = prepared.targets
        run = Run(prepared.table, prepared.settings, progress)
        journal = open_journal(resume, prepared.table, prepared.settings, position)
        with journal as noted, use_workers(client):
            return run.find(position, journal=noted)


@takes_options(
    also={
        "discretize": "As types and test require if left out. Only a single target can say where "
        "'mdl' cuts.",
        "time_budget": "Each target has a budget of its own; none if left out.",
    }
)
def markov_blankets(
    data: object,
    targets: Iterable[Name] | None = None,
    *,
    progress: Observer | None = None,
    n_jobs: int | None = None,
    cluster: object = None,
    **keywords: Unpack[SearchKeywords],
) -> Blankets:
    """Find the Markov blankets of several columns.

    The options are those of :func:`markov_blanket`, which says more about them.

    Parameters
    ----------
    data
        As in :func:`markov_blanket`. It is encoded once.
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
        processors, unless ``n_jobs`` is 1.
    cluster
        As in :func:`markov_blanket`. Where the table fits into memory, the workers of the cluster
        search, each for one target at a time.
    **keywords

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
    n_jobs = check_jobs(n_jobs)
    check_progress(progress)
    options = SearchOptions(**complete(markov_blankets, keywords))
    names = None if targets is None else list_names("targets", targets)
    with use_cluster(cluster, data) as client, use_threads(count_threads(n_jobs)):
        prepared = prepare(place_data(data, client, options), names, options, "targets")
        n_targets = len(prepared.targets)
        run = Run(prepared.table, prepared.settings, progress, n_targets)
        if client is not None and is_counted_in_parts(prepared.table):
            return find_all(run, prepared.targets, n_workers=1)  # each is counted by all
        with spread_targets(client):
            return find_all(run, prepared.targets, count_workers(n_jobs, n_targets))
