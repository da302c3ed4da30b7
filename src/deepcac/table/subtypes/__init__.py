"""`deepcac fit --method subtypes`: a SubtypeClassifier on a table."""
