"""Description of the data sets, and of the planted subtypes in generated ones."""
