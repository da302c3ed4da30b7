"""Raw files to tidy records, one module per source."""
