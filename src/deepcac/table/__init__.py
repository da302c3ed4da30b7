"""Your own tables: read, described, tested, turned into a risk model."""
