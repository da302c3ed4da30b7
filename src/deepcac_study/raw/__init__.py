"""Untrusted input: fetching, archives, digests, delimited files."""
