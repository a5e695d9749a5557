"""The compiled loops behind contingency tables: arrays in, arrays out, no names, no policy.

A *set* is a set of columns, always seen together with the target ``y``. For each set the kernels
return a few sums over its contingency table with the target (module ``contingency`` says which
sums and what they mean). All of them are sums of fixed-point integers, so they do not depend on the
order in which cells are visited: the ways of counting below give bit-identical results.

Four ways of counting the table of ``given`` u ``{x}`` against ``y``:

popcount (``bitmaps``)
    One bitmap per level, rows grouped by ``y``, so that one AND and one popcount give a whole row
    of the table. The last stratum and the first level of ``x`` follow by subtraction.
histogram (``dense_tables``)
    One pass over the rows into a dense table, for tables too large for popcount.
labelled (``labelled_rows``)
    Every row gets the number of its stratum among those that occur, once per set; then one pass
    over the rows counts ``x`` in a table of the strata that occur only.
grouped (``sorted_rows``)
    Rows sorted by stratum once per set; then each stratum is counted in scratch space of the size
    of ``x`` alone, for when even the strata that occur are too many for a table. Cost and memory
    depend on the rows, never on a product of cardinalities.

``costs`` chooses among them. ``pearson_moments`` has the terms of Pearson's statistic and of its
cumulants, ``buffers`` the arrays that all of them share.

Missing values have the code that follows the last level of their column. ``summaries`` is for
tables without any; ``missing_values`` counts every test on the rows that are complete for it, and
is compiled when a table first needs it. Incomplete rows have no bit in any stratum, or are
counted in cells beside the table, or are not labelled or sorted at all.

Index arithmetic in the hot loops is unsigned: signed indices cost a sign test per access.
"""
