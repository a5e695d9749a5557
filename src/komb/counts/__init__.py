"""Counting: compiled kernels and the contingency tables that hide them."""
