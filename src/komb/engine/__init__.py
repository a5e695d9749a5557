"""Questions about dependence, and who answers them: counts, graphs, distributions, features."""
