"""What the data sets are, and what was planted in generated ones."""
