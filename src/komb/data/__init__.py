"""Tables of discrete columns, and everything a table can come from."""
