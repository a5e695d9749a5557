"""What users call: the functions behind ``komb.…``, their options and the scikit-learn selector."""
