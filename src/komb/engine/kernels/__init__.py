"""What an engine does row by row or cell by cell, compiled."""
