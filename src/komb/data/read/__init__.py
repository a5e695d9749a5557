"""Tables and networks from files."""

from komb.data.read import parquet as parquet
