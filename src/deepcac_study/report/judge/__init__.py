"""The judge's verdicts, its controls, and published divisions."""
