"""Results as text, as HTML and as pictures."""
