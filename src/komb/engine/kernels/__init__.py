"""Compiled functions: from rows to counts, from counts to sums, from sums to evidence.

All of them get the state of one target, a record ``s`` (:mod:`komb.engine.state`). ``rows``,
``bitmaps`` and ``counting`` count a test, ``sums`` and ``strata`` look at the counts, ``memo``
remembers, ``evidence`` decides, ``loops`` are the questions of searches.
"""
