"""Encoded tables on disk: a folder of shards and a header, and how one is made."""
