"""What must not change while the package is rewritten."""
