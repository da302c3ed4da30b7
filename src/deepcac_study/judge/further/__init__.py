"""Where a cluster could tell more than its predictors: elsewhere, short cards, richer labels."""
