"""Lots of tests in one compiled call: counted, measured, decided, remembered.

``hash_table`` is for decisions and sums over sets, keyed by integers. ``counting`` counts the
tables of the present given set with any candidate, and keeps what neighbouring sets share.
``evidence`` turns the sums into the evidence for a dependence. ``lots`` has the loops that searches
need: some tests, the first dependence that no separator removes, the first separator of each
candidate, the weakest dependence of each.
"""
