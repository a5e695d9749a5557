"""From values to codes: arrays, frames and Python objects, discretization, missing values."""
