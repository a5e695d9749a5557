"""komb: Markov blankets of discrete data, combinations included."""
