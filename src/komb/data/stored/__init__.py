"""Encoded tables on disk and on clusters, and how one is made."""
