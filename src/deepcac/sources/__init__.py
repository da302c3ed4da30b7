"""Raw files to tidy records: fetching, archives, digests, and one module a source."""
