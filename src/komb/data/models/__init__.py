"""Models that tables can be drawn from: Bayesian networks, Markov fields, Boolean functions."""
