"""How good risks are on a table with outcomes: those of a saved model, or a column of them."""
