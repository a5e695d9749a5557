"""The page that `komb.report` writes."""
