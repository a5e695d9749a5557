"""Tables and networks from files."""
