"""Small synthetic cohorts, written in the raw format of each source."""
