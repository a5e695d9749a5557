"""One page about a column."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from komb.api.compare import compare, list_methods
from komb.api.find import markov_blanket
from komb.api.options import check_known
from komb.api.progress import Observer
from komb.data.names import Name
from komb.results.blanket import Blanket
from komb.results.comparison import Comparison
from komb.results.explanation import Explanation
from komb.search import algorithms
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
        Why; ``None`` for a model, whose answers are no tests.
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
    explanation: Explanation | None
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
    method: str = "auto",
    methods: Iterable[str] | None = None,
    source: str = "",
    progress: Observer | None = None,
    **search: Any,
) -> Report:
    """Find the Markov blanket of a column, and make a page about it.

    The page shows the blanket with its evidence and a picture, says in words why each member is in
    it and why others are not, describes every column of the data, compares methods, and ends with
    the parameters and how to cite it. It is one file that can be sent to others: it needs no
    network.

    Parameters
    ----------
    data, target, method
        As in :func:`komb.markov_blanket`.
    path
        Name of a file that ends in ``.html``, for the page; an older page is replaced. If left out,
        nothing is written: see :meth:`komb.api.report.Report.save`.
    methods
        Names of the methods to compare; all of :func:`komb.algorithms` if left out, none if empty.
    source
        Where the data come from, for the page to say so.
    progress
        Called now and then with a :class:`komb.api.progress.Progress`.
    **search
        The other keywords of :func:`komb.markov_blanket`, but for ``n_jobs`` and ``resume``;
        methods that are compared get those that they take.

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
    compared = list_methods(methods)
    check_known("method", method, algorithms(), "method")
    comparison: Comparison | None = None
    if compared:
        names = list(dict.fromkeys([*compared, method]))
        comparison = compare(data, target, methods=names, progress=progress, **search)
        blanket = comparison.blankets[method]
    else:
        blanket = markov_blanket(data, target, method=method, progress=progress, **search)
    content = Content(blanket, comparison, source)
    page = Report(blanket, content.explanation, comparison, make_page(content))
    if file is not None:
        write_page(page.html, file)
    return page
