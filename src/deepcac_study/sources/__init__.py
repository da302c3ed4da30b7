"""Raw files to tidy records: one module a source."""
