"""Bytes that are not trusted yet: fetching, archives, digests, delimited files."""
