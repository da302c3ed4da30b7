"""The judge's verdicts and its controls."""
