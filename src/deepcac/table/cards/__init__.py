"""Model cards: what a tool can know of a report on a prediction model, and blanks for the rest."""
