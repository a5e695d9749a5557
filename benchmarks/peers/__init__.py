"""Other libraries, measured in environments of their own."""
