"""One page about a column."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from komb.api.compare import compare
from komb.api.find import OPTION_DEFAULTS, Progress, markov_blanket
from komb.api.settings import check_name, list_names
from komb.data import defaults
from komb.data.encode.codes import Name
from komb.data.encode.treatment import Bins, Discretize
from komb.results.blanket import Blanket
from komb.results.comparison import Comparison
from komb.results.explanation import Explanation
from komb.search import algorithms
from komb.views.report.code_to_repeat import chosen
from komb.views.report.page import Content, make_page
from komb.views.report.page_file import check_page, write_page
from komb.views.text import plural


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """A page about a column, and what is on it.

    Attributes
    ----------
    blanket
        What was found.
    explanation
        Why.
    comparison
        What other methods found; ``None`` if they were not asked.
    html
        The page; it needs no network and no other file.

    Examples
    --------
    >>> import komb
    >>> komb.report(komb.boolean_table("and", 500), "Y", methods=[])
    Report('Y': 3 members)
    """

    blanket: Blanket
    explanation: Explanation
    comparison: Comparison | None
    html: str = field(compare=False)

    def __repr__(self) -> str:
        return f"Report({self.blanket.target!r}: {plural(len(self.blanket), 'member')})"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, in the place of an older one.

        Parameters
        ----------
        path
            Name of a file that ends in ``.html``.

        Returns
        -------
        pathlib.Path
            Where it is.

        Examples
        --------
        >>> import komb, tempfile
        >>> page = komb.report(komb.boolean_table("and", 500), "Y", methods=[])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page.save(f"{folder}/report.html").name
        'report.html'
        """
        file = check_page(path)
        write_page(self.html, file)
        return file


def report(
    data: object,
    target: Name,
    path: str | os.PathLike[str] | None = None,
    *,
    method: str = defaults.METHOD,
    order: int | None = None,
    max_separator: int | None = None,
    max_conditioning: int | None = None,
    level: float = defaults.LEVEL,
    alpha: float | None = None,
    test: str = defaults.TEST,
    df: str = defaults.DF,
    start: Iterable[Name] | str = (),
    include: Iterable[Name] = (),
    exclude: Iterable[Name] = (),
    discretize: Discretize = None,
    bins: Bins = defaults.BINS,
    missing: str = defaults.MISSING,
    seed: int = defaults.SEED,
    time_budget: float | None = None,
    stability: int | None = None,
    methods: Iterable[str] | None = None,
    source: str = "",
    reading: Mapping[str, Any] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Find the Markov blanket of a column, and make a page about it.

    The page shows the blanket with its evidence and a picture, says in words why each member is in
    it and why others are not, describes every column of the data, compares methods, and ends with
    the parameters, how to repeat it and how to cite it. It is one file that can be sent to others:
    it needs no network.

    Parameters
    ----------
    data, target
        As in :func:`komb.markov_blanket`.
    path
        Name of a file that ends in ``.html``, for the page; an older page is replaced. If left out,
        nothing is written: see :meth:`komb.api.report.Report.save`.
    method, order, max_separator, max_conditioning, level, alpha, test, df, start, include, \
exclude, discretize, bins, missing, seed, time_budget, stability
        As in :func:`komb.markov_blanket`. Methods that are compared get those that they take, and
        test at level 0.01 if ``alpha`` is left out; ``stability`` is for the page's own method.
    methods
        Names of the methods to compare; all of :func:`komb.algorithms` if left out, none if empty.
    source, reading
        Name of the file that the data come from, and the options ``delimiter`` and ``has_header``
        that it was read with; for the page to say how to repeat it.
    progress
        Called now and then with a :class:`komb.api.find.Progress`.

    Returns
    -------
    komb.api.report.Report
        The page and what is on it.

    Raises
    ------
    komb.errors.InputError
        If anything passed in cannot be used, ``path`` included; nothing has been counted then.
    komb.errors.Interrupted
        If it is interrupted; no page is written.

    Examples
    --------
    >>> import komb
    >>> page = report(komb.boolean_table("parity", 500, n_parents=2), "Y", methods=["iamb"])
    >>> page.blanket.members, page.comparison.blankets["iamb"].members
    (('X1', 'X2'), ())
    >>> page.html.startswith("<!DOCTYPE html>")
    True
    """
    file = None if path is None else check_page(path)
    options: dict[str, Any] = {
        "order": order, "max_separator": max_separator, "max_conditioning": max_conditioning,
        "level": level, "alpha": alpha, "test": test, "df": df, "start": _keep(start),
        "include": _keep(include), "exclude": _keep(exclude), "discretize": discretize,
        "bins": bins, "missing": missing, "seed": seed, "time_budget": time_budget,
    }  # fmt: skip
    compared = list(algorithms()) if methods is None else list_names("methods", methods)
    for name in (*compared, method):
        check_name("method", name, algorithms())
    comparison: Comparison | None = None
    if compared:
        names = [str(name) for name in dict.fromkeys([*compared, method])]
        rows: dict[str, dict[str, Any]] = {name: {} for name in names}
        rows[method] = {"alpha": alpha, "stability": stability}  # what the page is about
        for_all = options | {"alpha": defaults.FIXED_ALPHA if alpha is None else alpha}
        comparison = compare(data, target, methods=rows, progress=progress, **for_all)
        blanket = comparison.blankets[method]
    else:
        own: dict[str, Any] = {"method": method, "stability": stability}
        blanket = markov_blanket(data, target, progress=progress, **own, **options)
    explanation = blanket.explain()
    assert blanket._table is not None  # fresh from a search
    content = Content(
        table=blanket._table,
        blanket=blanket,
        explanation=explanation,
        comparison=comparison,
        options=chosen({"method": method, "stability": stability, **options}, OPTION_DEFAULTS),
        source=source,
        reading=dict(reading or {}),
        path=str(path or "report.html"),
        methods=None if methods is None else compared,
    )
    page = Report(blanket, explanation, comparison, make_page(content))
    if file is not None:
        write_page(page.html, file)
    return page


def _keep(names: Any) -> Any:
    """Return names that can be read more than once; what is no list of names is left for others."""
    return names if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
